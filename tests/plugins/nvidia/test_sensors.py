"""The tool as it is on a bad day: absent, slow, cut short, or with a card that takes the whole table with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

import supernoded_nvidia
from supernoded.plugin import Node, Reading, Sensor, WireError
from supernoded.testing import Answer, ManualClock, MemoryHost, MemoryWires
from supernoded_nvidia.losses import find_losses, find_reason
from supernoded_nvidia.nvlink import LINKS_UP
from supernoded_nvidia.sensors import UNMAPPED
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.smi import Smi

BUSES = [f"0000:{slot:02x}:00.0" for slot in range(8)]
DRIVER = "/proc/driver/nvidia/gpus"
Found = dict[tuple[str, str], Reading]


def card(slot: int) -> str:
    facts = f"<uuid>GPU-{slot}</uuid><serial>S{slot}</serial><temperature><gpu_temp>4{slot} C</gpu_temp></temperature>"
    return f'<gpu id="0000{BUSES[slot].upper()}">{facts}</gpu>'


def show(slots: Sequence[int]) -> Answer:
    return Answer(0, f"<nvidia_smi_log>{''.join(map(card, slots))}</nvidia_smi_log>", "", truncated=False)


def fail(text: str, code: int = 9) -> Callable[[Sequence[str]], Answer]:
    return lambda _: Answer(code, text, "", truncated=False)


class Machine:
    """A node with eight cards, its sensors, and the runs of its tool."""

    def __init__(self, node: Node, wires: MemoryWires, settings: NvidiaSettings | None = None) -> None:
        wires.tree(DRIVER).files = {f"{bus}/information": "" for bus in BUSES}
        self.wires = wires
        sensors = supernoded_nvidia.supernoded_sensors(settings or NvidiaSettings(), node)
        self.sensors: dict[str, Sensor] = {sensor.name: sensor for sensor in sensors}
        wires.command(["nvidia-smi"]).answer = self.answer
        for slot, bus in enumerate(BUSES):
            wires.command(["nvidia-smi", "-i", bus]).answer = lambda _, slot=slot: show([slot])
        self.whole: Callable[[Sequence[str]], Answer] = lambda _: show(range(8))

    def answer(self, arguments: Sequence[str]) -> Answer:
        return self.whole(arguments)

    async def read(self, name: str = "nvidia.smi") -> Found:
        readings = await self.sensors[name].read()
        found = {(reading.subject, reading.quantity): reading for reading in readings}
        assert len(found) == len(readings)
        return found

    async def read_presence(self) -> list[float | None]:
        found = await self.read()
        values = [found[f"n0/card{slot}", "card.present"].value for slot in range(8)]
        assert all(value is None or isinstance(value, float) for value in values)
        return [value for value in values if value is None or isinstance(value, float)]


@pytest.fixture
def machine(supernoded_node: Node, supernoded_wires: MemoryWires) -> Machine:
    return Machine(supernoded_node, supernoded_wires)


async def test_one_run_for_all_cards(machine: Machine) -> None:
    found = await machine.read()
    assert found["n0/card7", "card.temperature"].value == 47.0
    assert machine.wires.command(["nvidia-smi"]).runs == [("-q", "-x")]
    assert machine.wires.command(["nvidia-smi", "-i", BUSES[0]]).runs == []


LOST_LINES = [
    "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error",
    "Unable to determine the device handle for GPU 0000:03:00.0: GPU is lost.  Reboot the system to recover this GPU",
    "Unable to determine the device handle for GPU3: 0000:03:00.0: Unknown Error",
    "Unable to determine the device handle for gpu 00000000:03:00.0: GPU is lost.\r",
]


@pytest.mark.parametrize("line", LOST_LINES)
@pytest.mark.parametrize("code", [0, 15])
@pytest.mark.parametrize("is_out", [True, False])
async def test_exactly_the_named_card_is_lost(line: str, code: int, is_out: bool, machine: Machine) -> None:
    machine.whole = lambda _: Answer(code, line if is_out else "", "" if is_out else line, truncated=False)
    found = await machine.read()
    presences = {slot: found[f"n0/card{slot}", "card.present"].value for slot in range(8)}
    assert presences == {slot: 0.0 if slot == 3 else 1.0 for slot in range(8)}
    assert found["n0/card3", "card.health"].value == frozenset({"lost"})
    assert found["n0/card2", "card.temperature"].value == 42.0
    assert machine.wires.command(["nvidia-smi", "-i", BUSES[3]]).runs == []


async def test_until_a_card_is_asked_singly_it_is_unknown(machine: Machine) -> None:
    machine.whole = fail(LOST_LINES[0], 15)
    machine.wires.command(["nvidia-smi", "-i", BUSES[5]]).answer = fail("Insufficient Permissions", 4)
    found = await machine.read()
    assert (found["n0/card5", "card.present"].value, found["n0/card3", "card.present"].value) == (None, 0.0)
    assert found["n0/card5", "card.present"].note == "nvidia-smi ends with code 4: 'Insufficient Permissions'"


def refuse(arguments: Sequence[str]) -> Answer:
    raise WireError(f"nvidia-smi {' '.join(arguments)}: did not end and was killed within 8 s")


async def test_a_card_that_hangs_costs_only_itself(machine: Machine) -> None:
    machine.whole = refuse
    machine.wires.command(["nvidia-smi", "-i", BUSES[5]]).answer = refuse
    assert await machine.read_presence() == [1.0] * 5 + [None] + [1.0] * 2


async def test_a_single_answer_may_say_that_it_is_lost(machine: Machine) -> None:
    machine.whole = refuse
    machine.wires.command(["nvidia-smi", "-i", BUSES[6]]).answer = fail(LOST_LINES[1].replace(":03:", ":06:"), 15)
    assert await machine.read_presence() == [1.0] * 6 + [0.0, 1.0]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(0, show(range(8)).out[:900], "", truncated=False),
        Answer(0, show(range(8)).out, "", truncated=True),
        Answer(0, "", "", truncated=False),
    ],
)
async def test_an_answer_that_is_not_whole_is_asked_again_card_by_card(answer: Answer, machine: Machine) -> None:
    machine.whole = lambda _: answer
    assert await machine.read_presence() == [1.0] * 8
    assert machine.wires.command(["nvidia-smi", "-i", BUSES[7]]).runs == [("-q", "-x")]


async def test_a_card_missing_from_the_table_is_unknown(machine: Machine) -> None:
    machine.whole = lambda _: show([0, 1, 2, 4, 5, 6, 7])
    found = await machine.read()
    assert found["n0/card3", "card.present"].value is None
    assert found["n0/card3", "card.present"].note == "not among the 7 cards that the tool shows"


async def test_an_answer_from_a_card_takes_back_what_the_kernel_said_before(
    machine: Machine, supernoded_host: MemoryHost, supernoded_clock: ManualClock
) -> None:
    await machine.read("nvidia.kernel")
    supernoded_host.kernel.append("<4>NVRM: GPU 0000:03:00.0: GPU has fallen off the bus.")
    assert (await machine.read("nvidia.kernel"))["n0/card3", "card.present"].value == 0.0
    await supernoded_clock.advance(10.0)
    machine.whole = fail(LOST_LINES[0], 15)
    await machine.read()
    assert (await machine.read("nvidia.kernel"))["n0/card3", "card.present"].value == 0.0
    machine.whole = lambda _: show(range(8))
    await machine.read()
    assert ("n0/card3", "card.present") not in await machine.read("nvidia.kernel")


async def test_a_card_in_no_slot_says_so(machine: Machine) -> None:
    machine.wires.tree(DRIVER).files = {f"{bus}/information": "" for bus in BUSES[1:]}
    machine.whole = lambda _: show(range(1, 8))
    found = await machine.read()
    assert {subject for subject, _ in found} == {f"n0/gpu/{bus}" for bus in BUSES[1:]}
    assert found[f"n0/gpu/{BUSES[1]}", "card.present"].note == UNMAPPED
    machine.whole = lambda _: show(range(8))
    await machine.read()
    assert (await machine.read())["n0/card1", "card.present"].note == ""


async def test_a_tool_that_is_not_there_is_one_reason_for_each_card(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    machine = Machine(supernoded_node, supernoded_wires, NvidiaSettings(nvidia_smi=("none",)))
    found = await machine.read()
    assert len(found) == 8
    assert {reading.value for reading in found.values()} == {None}
    assert "no such program" in found["n0/card0", "card.present"].note


async def test_a_machine_without_such_cards_is_quiet(machine: Machine) -> None:
    machine.wires.tree(DRIVER).files = {}
    for name in machine.sensors:
        assert await machine.read(name) == {}
    assert machine.wires.command(["nvidia-smi"]).runs == []


async def test_cards_of_the_settings_are_asked_without_a_driver(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    machine = Machine(supernoded_node, supernoded_wires, NvidiaSettings(cards={"00000000:03:00.0": "n0/card0"}))
    supernoded_wires.tree(DRIVER).files = {}
    machine.whole = fail("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9)
    supernoded_wires.command(["nvidia-smi", "-i", BUSES[3]]).answer = machine.whole
    found = await machine.read()
    assert list(found) == [("n0/card0", "card.present")]
    assert "couldn't communicate" in found["n0/card0", "card.present"].note


def link(arguments: Sequence[str]) -> Answer:
    line = "Link 0: 25 GB/s" if arguments == ("nvlink", "-s") else "Link 0: CRC Errors: 3"
    return Answer(0, "".join(f"GPU {slot}: A9 (UUID: GPU-{slot})\n\t {line}\n" for slot in range(8)), "", truncated=False)


async def test_links_are_those_of_the_card_with_the_uuid(machine: Machine) -> None:
    machine.whole = lambda arguments: link(arguments) if "nvlink" in arguments else show(range(8))
    await machine.read()
    found = await machine.read("nvidia.nvlink")
    assert found["n0/card7/nvlink0", "link.state"].value == 1.0
    assert found["n0/card7/nvlink0", "link.receive_errors"].value == 3.0


@pytest.mark.parametrize("code", [0, 15])
async def test_links_of_a_lost_card_are_unknown_and_the_others_are_read(code: int, machine: Machine) -> None:
    machine.whole = fail(LOST_LINES[0], code)
    for slot, bus in enumerate(BUSES):
        machine.wires.command(["nvidia-smi", "nvlink", "-i", bus]).answer = lambda flag, slot=slot: Answer(
            0, f"GPU {slot}: A9 (UUID: GPU-{slot})\n\t Link 0: {'25 GB/s' if flag == ('-s',) else 'CRC Errors: 1'}\n", "", truncated=False
        )
    found = await machine.read("nvidia.nvlink")
    assert (found["n0/card3", LINKS_UP].value, found["n0/card3", LINKS_UP].note) == (None, "the tool says: Unknown Error")
    assert found["n0/card4", LINKS_UP].value == 1.0
    assert ("n0/card3/nvlink0", "link.state") not in found


async def test_a_question_that_the_tool_does_not_know_is_asked_once(machine: Machine) -> None:
    machine.whole = lambda arguments: (
        Answer(2, "Invalid combination of input arguments", "", truncated=False) if "-e" in arguments else link(arguments)
    )
    found = await machine.read("nvidia.nvlink")
    assert {quantity for _, quantity in found} == {"link.state", "link.speed", LINKS_UP}
    machine.whole = fail("Invalid combination of input arguments", 2)
    assert await machine.read("nvidia.nvlink") == {}
    assert {reading.note for reading in (await machine.read()).values()} == {
        "nvidia-smi ends with code 2: 'Invalid combination of input arguments'"
    }
    assert machine.wires.command(["nvidia-smi", "nvlink", "-i", BUSES[0]]).runs == []


async def test_the_tool_is_reserved_by_one_at_a_time(supernoded_wires: MemoryWires) -> None:
    smi, order = Smi(supernoded_wires, ("nvidia-smi",), 8.0), list[str]()

    async def use(name: str) -> None:
        async with smi.reserved():
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(use("a"), use("b"))
    assert order == ["a begins", "a ends", "b begins", "b ends"]


def test_losses_name_cards_and_nothing_else() -> None:
    text = "\n".join([LOST_LINES[0], "GPU 0000:04:00.0: is fine", "Unable to determine the device handle for GPU slot 5: Unknown Error"])
    assert find_losses(text) == {"0000:03:00.0": "the tool says: Unknown Error"}
    assert find_reason(6, "\n No devices were found \n", "") == "nvidia-smi ends with code 6: 'No devices were found'"
    assert find_reason(1, "", "") == "nvidia-smi ends with code 1 and prints nothing"


def test_the_hooks(supernoded_node: Node) -> None:
    assert supernoded_nvidia.supernoded_settings() is NvidiaSettings
    names = [sensor.name for sensor in supernoded_nvidia.supernoded_sensors(NvidiaSettings(), supernoded_node)]
    assert names == ["nvidia.smi", "nvidia.nvlink", "nvidia.kernel"]
    assert supernoded_nvidia.supernoded_sensors(NvidiaSettings(nvidia_smi=(), kernel_log=False), supernoded_node) == []
    assert sorted(supernoded_nvidia.supernoded_formats()) == ["kernel-log", "nvidia-smi"]
