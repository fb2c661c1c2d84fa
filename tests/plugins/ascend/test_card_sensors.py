"""Cards that are there, gone, or not told of."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from supernoded.plugin import Node, Reading, Sensor, State, WireError
from supernoded.testing import Answer, ManualClock, MemoryWires
from supernoded_ascend.card_sensors import TableSensor
from supernoded_ascend.driver import DriverSensor
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.settings import AscendSettings

HEAD = """\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
"""
ROW = """\
| {npu}     Ascend910           | {health}      | {power}       37                0    / 0             |
| {chip}     {phy}              | 0000:9D:00.0  | 0           0    / 0          3150 / 65536         |
+===========================+===============+====================================================+
"""
PROCESSES = "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |\n"
OK = "\tHealth Status : OK\n\tError Code : NA\n\tHBM Single Bit Error Count : 0\n\tHBM Double Bit Error Count : 0\n\tSerial Number : S{}\n"
GAUGES = """\
\tPower Dissipation(W) : 171.5
\tNPU Temperature (C) : 41
\tAicore Usage Rate(%) : 12
\tHBM Capacity(MB) : 1000
\tHBM Usage Rate(%) : 10
"""


def table(*cards: int, chips: int = 1, health: str = "OK") -> str:
    rows = (ROW.format(npu=card // chips, chip=card % chips, phy=card, power="-" if card % chips else 160, health=health) for card in cards)
    return HEAD + "".join(rows) + PROCESSES


def make_sensor(node: Node, name: str, settings: AscendSettings | None = None) -> Sensor:
    return next(sensor for sensor in fit_sensors(settings or AscendSettings(), node) if sensor.name == name)


def say(text: str, code: int = 0) -> Answer:
    return Answer(code, text, "", truncated=False)


def show(wires: MemoryWires, text: str) -> None:
    wires.command(["npu-smi"]).answer = lambda words: say(text)


def present(readings: Sequence[Reading]) -> dict[str, object]:
    found = {one.subject: one for one in readings if one.quantity == "card.present"}
    return {subject: one.value if one.state is State.GOOD else "unknown" for subject, one in found.items()}


async def test_a_card_that_the_topology_has_and_the_table_has_not_is_gone(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    show(supernoded_wires, table(0, 1, 2, 4, 5, 6, 7))
    found = await make_sensor(supernoded_node, "ascend.cards").read()
    assert present(found) == {f"n0/card{card}": float(card != 3) for card in range(8)}
    (note,) = (one.note for one in found if one.subject == "n0/card3")
    assert note == "npu-smi lists 7 others, and not this one"


async def test_a_line_that_is_not_understood_may_be_the_missing_card(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    show(supernoded_wires, table(0, 1, 2, 4, 5, 6, 7).removesuffix(PROCESSES) + "| 3  ?? |\n" + PROCESSES)
    assert present(await make_sensor(supernoded_node, "ascend.cards").read())["n0/card3"] == "unknown"


async def test_chips_that_are_mapped_to_no_card_make_no_card_lost(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    show(supernoded_wires, table(0, 1, 2, 3, chips=2))
    found = present(await make_sensor(supernoded_node, "ascend.cards").read())
    assert found["n0/npu1/chip1"] == 1.0
    assert {found[f"n0/card{card}"] for card in (2, 3, 7)} == {"unknown"}


async def test_two_chips_to_an_npu_are_cards_by_their_physical_number(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    show(supernoded_wires, table(0, 1, 2, 3, 4, 5, 6, chips=2))
    found = await make_sensor(supernoded_node, "ascend.cards", AscendSettings(chips_per_npu=2)).read()
    assert present(found) == {f"n0/card{card}": float(card != 7) for card in range(8)}
    power = {one.subject: one.value for one in found if one.quantity == "card.power"}
    assert [power[f"n0/card{card}"] for card in range(4)] == [160.0, None, 160.0, None]


async def test_a_card_that_was_listed_and_is_not(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    sensor = make_sensor(supernoded_node, "ascend.cards", AscendSettings(chips_per_npu=2))
    show(supernoded_wires, table(*range(8), chips=2))
    assert set(present(await sensor.read()).values()) == {1.0}
    show(supernoded_wires, table(0, chips=2))
    assert list(present(await sensor.read()).values()) == [1.0, *[0.0] * 7]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "printed nothing at all"),
        (HEAD, "printed no card"),
        ("driver not loaded", "printed no card"),
        (HEAD + "| x | y |\n", "not understood: '| x"),
    ],
)
async def test_no_table_is_no_lost_card(text: str, why: str, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, stuck=range(8))
    show(supernoded_wires, text)
    with pytest.raises(WireError, match=why.replace("|", r"\|")):
        await make_sensor(supernoded_node, "ascend.cards").read()


def give(wires: MemoryWires, *, gone: Sequence[int] = (), stuck: Sequence[int] = (), text: str = "Invalid card id.") -> None:
    def play(card: int, words: Sequence[str]) -> Answer:
        if card in stuck:
            raise WireError("did not end and was killed within 4 s")
        return say(f"{text}\n", 255) if card in gone else say(OK.format(card) + GAUGES)

    for card in range(8):
        for chip in ((), ("-c", "0")):
            wires.command(["npu-smi", "info", "-i", f"{card}", *chip]).answer = lambda words, card=card: play(card, words)


async def test_each_card_singly(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires)
    found = await make_sensor(supernoded_node, "ascend.health").read()
    assert {one.quantity for one in found} == {"card.present", "card.health", "card.errors_corrected", "card.errors_uncorrected"}
    assert {one.state for one in found} == {State.GOOD}
    assert supernoded_wires.command(["npu-smi", "info", "-i", "3", "-c", "0"]).runs == [("-t", "health"), ("-t", "ecc")]
    serials = {
        one.subject: one.value for one in await make_sensor(supernoded_node, "ascend.boards").read() if one.quantity == "card.serial"
    }
    assert serials == {f"n0/card{card}": f"S{card}" for card in range(8)}
    assert supernoded_wires.command(["npu-smi", "info", "-i", "3"]).runs == [("-t", "board")]


@pytest.mark.parametrize("text", ["Invalid card id.", "Failed to get the health of NPU 3: the device does not exist. ret is -8010"])
async def test_a_card_that_the_driver_denies_while_others_answer(text: str, supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, gone=[3], text=text)
    found = await make_sensor(supernoded_node, "ascend.health").read()
    assert present(found) == {f"n0/card{card}": float(card != 3) for card in range(8)}
    assert [one.state for one in found if one.subject == "n0/card3" and one.quantity == "card.health"] == [State.UNKNOWN]


async def test_a_driver_that_denies_all_is_itself_the_trouble(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, gone=range(8))
    assert set(present(await make_sensor(supernoded_node, "ascend.health").read()).values()) == {"unknown"}


async def test_a_card_that_hangs_is_not_known_to_be_gone(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, stuck=[3])
    found = present(await make_sensor(supernoded_node, "ascend.health").read())
    assert found == {f"n0/card{card}": "unknown" if card == 3 else 1.0 for card in range(8)}


async def test_a_card_that_answers_one_question_of_two_is_there(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires)
    supernoded_wires.command(["npu-smi", "info", "-i", "3", "-c", "0"]).answer = lambda words: (
        say("This device does not support querying ecc.", 1) if "ecc" in words else say(OK.format(3))
    )
    found = {one.quantity: one for one in await make_sensor(supernoded_node, "ascend.health").read() if one.subject == "n0/card3"}
    assert (found["card.present"].value, found["card.health"].value) == (1.0, frozenset())
    assert found["card.errors_uncorrected"].state is State.UNKNOWN


async def test_an_error_that_is_no_denial(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, gone=[3], text="dcmi module initialize failed. ret is -8005")
    assert present(await make_sensor(supernoded_node, "ascend.health").read())["n0/card3"] == "unknown"


async def test_the_table_waits_for_the_cards_and_they_for_it(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires)
    show(supernoded_wires, table(*range(8)))
    sensors = {sensor.name: sensor for sensor in fit_sensors(AscendSettings(), supernoded_node)}
    running: list[str] = []
    most = 0

    class Slow:
        def __init__(self, name: str) -> None:
            self.name = name

        async def run(self, *words: str, within: float = 10.0) -> Answer:
            nonlocal most
            running.append(self.name)
            most = max(most, len(set(running)))
            await asyncio.sleep(0)
            running.remove(self.name)
            return say(table(*range(8)) if self.name == "all" else OK.format(0))

        async def order(self, scope: str, *words: str, within: float = 10.0) -> Answer:
            raise AssertionError

    cards, health = sensors["ascend.cards"], sensors["ascend.health"]
    assert isinstance(cards, DriverSensor)
    table_sensor = cards.sensor
    assert isinstance(table_sensor, TableSensor)
    table_sensor._npu_smi._whole = Slow("all")
    table_sensor._npu_smi._make = lambda words: Slow("one")
    await asyncio.gather(cards.read(), health.read(), cards.read())
    assert most == 1


async def test_a_table_that_does_not_come_is_made_up_singly(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    give(supernoded_wires, stuck=[3])
    tables = 0

    def hang(words: Sequence[str]) -> Answer:
        nonlocal tables
        tables += 1
        raise WireError("did not end and was killed within 4 s")

    supernoded_wires.command(["npu-smi"]).answer = hang
    sensor = make_sensor(supernoded_node, "ascend.cards")
    for _ in range(3):
        found = await sensor.read()
        assert present(found) == {f"n0/card{card}": "unknown" if card == 3 else 1.0 for card in range(8)}
        degrees = {one.subject: one.value for one in found if one.quantity == "card.temperature" and one.state is State.GOOD}
        assert degrees == {f"n0/card{card}": 41.0 for card in range(8) if card != 3}
    assert tables == 1  # it rests, or every card would wait for the one that hangs
    assert isinstance(supernoded_node.clock, ManualClock)
    await supernoded_node.clock.advance(61.0)
    show(supernoded_wires, table(*range(8)))
    assert set(present(await sensor.read()).values()) == {1.0}
    assert {one.value for one in await sensor.read() if one.quantity == "card.temperature"} == {37.0}


async def test_chips_of_several_to_an_npu_are_found_by_the_driver(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    mapping = "NPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n0   0   0   0   A\n0   1   1   1   A\n0   2   -   -   Mcu\n"
    show(supernoded_wires, mapping)
    for chip in ("0", "1"):
        supernoded_wires.command(["npu-smi", "info", "-i", "0", "-c", chip]).answer = lambda words: say(OK.format(0))
    found = await make_sensor(supernoded_node, "ascend.health", AscendSettings(chips_per_npu=2)).read()
    assert present(found) == {"n0/card0": 1.0, "n0/card1": 1.0}
    assert supernoded_wires.command(["npu-smi", "info", "-i", "0", "-c", "1"]).runs[0] == ("-t", "health")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (say("\tHealth Status : Alarm\n\tError Code : 8C03A000 A4025021\n"), {"8C03A000", "A4025021"}),
        (say("", 1), {"alarm"}),
        (say("garbage"), {"alarm"}),
    ],
)
async def test_a_card_that_complains_in_the_table_is_asked_of_what(
    supernoded_node: Node, supernoded_wires: MemoryWires, answer: Answer, told: set[str]
) -> None:
    show(supernoded_wires, table(*range(8), health="Alarm"))
    for card in range(8):
        supernoded_wires.command(["npu-smi", "info", "-i", f"{card}", "-c", "0"]).answer = lambda words: answer
    found = await make_sensor(supernoded_node, "ascend.cards").read()
    assert [one.value for one in found if one.quantity == "card.health"] == [frozenset(told)] * 8
