"""Asking all cards: what one does not answer costs no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest

from supernoded.plugin import Node, Reading, Sensor, State, WireError
from supernoded.testing import Answer, MemoryWires
from supernoded.topology import Supernode, Topology
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.settings import AscendSettings

TOOL = "/usr/local/Ascend/driver/tools/hccn_tool"
ANSWERS = {
    "-link": "link status: UP\n",
    "-stat": "packet statistics:\nmac_rx_total_oct_num:10\nmac_rx_bad_pkt_num:0\n",
    "-fec": "fec mode: rs FEC mode\n",
    "-lldp": "Port ID TLV\n\tIfname: n0/card1/port1\n",
    "-speed": "Speed: 200000 Mb/s\n",
    "-net_health": "net health status: Success\n",
}

Play = Callable[[Sequence[str]], Answer]


def answer(words: Sequence[str]) -> Answer:
    return Answer(0, ANSWERS[words[0]], "", truncated=False)


def fail(error: WireError) -> Play:
    def play(words: Sequence[str]) -> Answer:
        raise error

    return play


def absent(name: str) -> WireError:
    error = WireError(f"{name}: cannot be started: No such file or directory; is {name} installed and in PATH?")
    error.__cause__ = FileNotFoundError(2, "No such file or directory")
    return error


def make_sensor(node: Node, name: str, settings: AscendSettings | None = None) -> Sensor:
    return next(sensor for sensor in fit_sensors(settings or AscendSettings(), node) if sensor.name == name)


def give(wires: MemoryWires, play: Play, *cards: int) -> None:
    for card in cards:
        wires.command([TOOL, "-i", f"{card}"]).answer = play


def index(readings: Sequence[Reading]) -> dict[tuple[str, str], Reading]:
    found = {(reading.subject, reading.quantity): reading for reading in readings}
    assert len(found) == len(readings)
    return found


async def test_one_command_a_card(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(8))
    found = index(await make_sensor(supernoded_node, "ascend.link").read())
    assert {subject for subject, _ in found} == {f"n0/card{card}/port0" for card in range(8)}
    assert {quantity for _, quantity in found} == {"link.state", "link.bits", "link.receive_errors"}
    assert {reading.state for reading in found.values()} == {State.GOOD}
    assert supernoded_wires.command([TOOL, "-i", "3"]).runs == [("-link", "-g"), ("-stat", "-g")]


async def test_sensors_share_the_command_of_a_card(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(8))
    sensors = {sensor.name: sensor for sensor in fit_sensors(AscendSettings(), supernoded_node)}
    for name in ("ascend.link", "ascend.facts", "ascend.probe"):
        await sensors[name].read()
    runs = supernoded_wires.command([TOOL, "-i", "0"]).runs
    assert [words[0] for words in runs] == ["-link", "-stat", "-fec", "-speed", "-net_health"]


@pytest.mark.parametrize(
    ("play", "why"),
    [
        (fail(WireError("hccn_tool -i 3: did not end and was killed within 4 s")), "hccn_tool -i 3: did not end and was killed within 4 s"),
        (
            lambda words: Answer(1, "", "device 3 is not ready, ret 19\n", truncated=False),
            "ended with code 1 and said 'device 3 is not ready, ret 19'",
        ),
        (lambda words: Answer(1, "", "", truncated=False), "ended with code 1 and said nothing"),
        (lambda words: Answer(0, "link status: UP\n" * 9, "", truncated=True), "printed more than is taken"),
    ],
)
async def test_a_card_that_fails_costs_itself(play: Play, why: str, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(8))
    sensor = make_sensor(supernoded_node, "ascend.link")
    before = index(await sensor.read())
    give(supernoded_wires, play, 3)
    after = index(await sensor.read())
    mine = {key for key in before if key[0] == "n0/card3/port0"}
    assert mine <= after.keys()
    for key, reading in after.items():
        assert (reading.state is State.UNKNOWN) == (key[0] == "n0/card3/port0")
    assert why in after["n0/card3/port0", "link.state"].note


async def test_what_is_said_of_another_card_is_nothing(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, lambda words: Answer(0, "[devid 4]link status: UP\n", "", truncated=False), *range(8))
    found = index(await make_sensor(supernoded_node, "ascend.link").read())
    assert [found[f"n0/card{card}/port0", "link.state"].value for card in range(8)] == [1.0 if card == 4 else None for card in range(8)]
    assert found["n0/card3/port0", "link.state"].note == "the tool printed nothing about it"


async def test_a_card_that_never_answered_is_unknown_too(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(7))
    give(supernoded_wires, fail(WireError("stuck")), 7)
    found = index(await make_sensor(supernoded_node, "ascend.link").read())
    assert {key[1]: reading.note for key, reading in found.items() if key[0] == "n0/card7/port0"} == {
        "link.state": "stuck",
        "link.receive_errors": "stuck",
    }


async def test_what_a_card_refuses_costs_that_question(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(8))
    give(supernoded_wires, lambda words: Answer(1, "", "no code", truncated=False) if words[0] == "-fec" else answer(words), 3)
    found = index(await make_sensor(supernoded_node, "ascend.facts").read())
    assert found["n0/card3/port0", "link.fec"].note == "-fec -g: ended with code 1 and said 'no code'"
    assert found["n0/card3/port0", "link.speed"].value == 200.0


async def test_a_missing_program_is_looked_for_once_a_card(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, fail(absent(TOOL)), *range(8))
    assert await make_sensor(supernoded_node, "ascend.facts").read() == ()
    assert supernoded_wires.command([TOOL, "-i", "0"]).runs == [("-fec", "-g")]


@pytest.mark.parametrize(("devices", "driver"), [((3,), False), ((), True)])
async def test_without_the_program_there_is_one_reason(
    devices: tuple[int, ...], driver: bool, supernoded_node: Node, supernoded_wires: MemoryWires
) -> None:
    give(supernoded_wires, fail(absent(TOOL)), *range(8))
    supernoded_wires.tree("/dev").files["davinci_manager" if driver else "null"] = ""
    with pytest.raises(WireError, match=r"hccn_tool: cannot be started.*installed and in PATH"):
        await make_sensor(supernoded_node, "ascend.link", AscendSettings(devices=devices)).read()


async def test_on_another_machine_nothing_is_missed(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, fail(absent(TOOL)), *range(8))
    supernoded_wires.command(["npu-smi"]).answer = fail(absent("npu-smi"))
    for card in range(8):
        for chip in ((), ("-c", "0")):
            supernoded_wires.command(["npu-smi", "info", "-i", f"{card}", *chip]).answer = fail(absent("npu-smi"))
    supernoded_wires.tree("/var/log/hccl").files["hccl.log"] = absent("hccl.log")
    for sensor in fit_sensors(AscendSettings(), supernoded_node):
        assert await sensor.read() == ()


async def test_any_other_trouble_is_told_on_any_machine(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    node = with_topology(supernoded_node, Topology())
    supernoded_wires.command(["npu-smi"]).answer = fail(WireError("killed"))
    with pytest.raises(WireError, match="killed"):
        await make_sensor(node, "ascend.health").read()


async def test_a_second_port_is_asked_with_further_words(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, answer, *range(8))
    settings = AscendSettings(second_port=("-port", "1"))
    found = index(await make_sensor(supernoded_node, "ascend.probe", settings).read())
    assert {subject for subject, _ in found} == {f"n0/card{card}/port{port}" for card in range(8) for port in (0, 1)}
    assert supernoded_wires.command([TOOL, "-i", "0"]).runs == [("-net_health", "-g"), ("-net_health", "-g", "-port", "1")]


async def test_devices_of_the_settings(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    supernoded_wires.command(["other", "-i", "5"]).answer = answer
    settings = AscendSettings(devices=(5,), hccn_tool=("other",), neighbours={"n0/card1/port1": "elsewhere"})
    found = index(await make_sensor(supernoded_node, "ascend.neighbours", settings).read())
    assert found["n0/card5/port0", "link.neighbour"].value == "elsewhere"
    assert {subject for subject, _ in found} == {"n0/card5/port0"}


async def test_devices_that_only_the_driver_knows(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    node = with_topology(supernoded_node, Topology(nodes=(Supernode(name="elsewhere", cards=3),)))
    mapping = "NPU ID   Chip ID   Chip Logic ID   Chip Name\n0   0   0   Ascend\n2   0   1   Ascend\n"
    npu_smi = supernoded_wires.command(["npu-smi"])
    npu_smi.answer = lambda words: Answer(0, mapping, "", truncated=False)
    give(supernoded_wires, answer, 0, 1)
    sensor = make_sensor(node, "ascend.probe")
    for _ in range(2):
        assert {reading.subject for reading in await sensor.read()} == {"n0/card0/port0", "n0/card1/port0"}
    assert npu_smi.runs == [("info", "-m")]


async def test_a_driver_that_knows_none(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    node = with_topology(supernoded_node, Topology())
    supernoded_wires.command(["npu-smi"]).answer = lambda words: Answer(0, "", "", truncated=False)
    with pytest.raises(WireError, match="lists no chip: name the cards under `devices`"):
        await make_sensor(node, "ascend.probe").read()


def with_topology(node: Node, topology: Topology) -> Node:
    return Node(name=node.name, topology=topology, limits=node.limits, wires=node.wires, clock=node.clock, host=node.host, state=node.state)


def test_periods_and_times(supernoded_node: Node) -> None:
    settings = AscendSettings(ring_check=("check", "{ring}"))
    for sensor in fit_sensors(settings, supernoded_node):
        assert sensor.period > 0
        assert sensor.timeout >= settings.timeout_s
    assert make_sensor(supernoded_node, "ascend.link").period == supernoded_node.limits.link.poll_s
    assert make_sensor(supernoded_node, "ascend.link", msgspec.structs.replace(settings, link_s=2.0)).period == 2.0


def test_without_a_program_for_ports_no_port_is_asked(supernoded_node: Node) -> None:
    names = {sensor.name for sensor in fit_sensors(AscendSettings(hccn_tool=()), supernoded_node)}
    assert {"ascend.link", "ascend.records", "ascend.optical", "ascend.probe", "ascend.neighbours", "ascend.facts"}.isdisjoint(names)
    assert "ascend.cards" in names
