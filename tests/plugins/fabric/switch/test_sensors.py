"""The sensor of a switch: two questions, each with its own failure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from supernoded.plugin import NODE, Node, PluginError, Reading, State, WireError
from supernoded.testing import Answer, MemoryWires
from supernoded_fabric.switch import SwitchSettings, make_sensors

S1 = SwitchSettings(argv=("ssh", "admin@s1"))
ANSWERS: dict[tuple[str, ...], str] = {
    ("display", "congestion"): "pfc priority 4 buffer-size 120000\necn enable\necn threshold 110000\n",
    ("display", "counters"): "drops 1\nmarks 2\npauses 3\n",
}


def answer(words: Sequence[str]) -> Answer:
    return Answer(0, ANSWERS[tuple(words)], "", truncated=False)


def by_quantity(readings: Sequence[Reading]) -> dict[str, Reading]:
    return {reading.quantity: reading for reading in readings}


async def test_both_questions_are_asked_of_one_program(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    command = supernoded_wires.command(S1.argv)
    command.answer = answer
    (sensor,) = make_sensors({"s1": S1}, supernoded_node)
    found = await sensor.read()
    assert command.runs == list(ANSWERS)
    assert {reading.subject for reading in found} == {"switch/s1"}
    assert [reading.value for reading in found] == [120_000.0, 110_000.0, 1.0, 1.0, 2.0, 3.0]
    assert (sensor.name, sensor.scope, sensor.period, sensor.timeout) == ("fabric.switch.s1", NODE, 30.0, 17.0)


async def test_what_fails_leaves_the_other_alone(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    def fail(words: Sequence[str]) -> Answer:
        return Answer(255, "", "no route to host", truncated=False) if "counters" in words else answer(words)

    supernoded_wires.command(S1.argv).answer = fail
    (sensor,) = make_sensors({"s1": S1}, supernoded_node)
    found = by_quantity(await sensor.read())
    assert found["switch.ecn"].value == 1.0
    assert (found["switch.drops"].state, found["switch.drops"].note) == (State.UNKNOWN, "ended with 255: 'no route to host'")


async def test_a_program_that_hangs_or_floods_says_nothing(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    def fail(words: Sequence[str]) -> Answer:
        if "counters" in words:
            raise WireError("ssh: did not end and was killed within 8 s")
        return Answer(0, ANSWERS[tuple(words)], "", truncated=True)

    supernoded_wires.command(S1.argv).answer = fail
    (sensor,) = make_sensors({"s1": S1}, supernoded_node)
    found = by_quantity(await sensor.read())
    assert all(reading.value is None for reading in found.values())
    assert "was cut" in found["switch.ecn"].note
    assert "was killed" in found["switch.marks"].note


async def test_a_question_without_words_is_not_asked(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    command = supernoded_wires.command(S1.argv)
    command.answer = answer
    (sensor,) = make_sensors({"s1": msgspec.structs.replace(S1, settings=())}, supernoded_node)
    assert by_quantity(await sensor.read()).keys() == {"switch.drops", "switch.marks", "switch.pauses"}


def test_one_sensor_a_switch_in_order_and_bad_patterns_are_refused(supernoded_node: Node) -> None:
    assert [one.name for one in make_sensors({"s2": S1, "s1": S1}, supernoded_node)] == ["fabric.switch.s1", "fabric.switch.s2"]
    assert make_sensors({}, supernoded_node) == []
    with pytest.raises(PluginError, match=r"switches\.s1"):
        make_sensors({"s1": msgspec.structs.replace(S1, patterns={"switch.ecn": "["})}, supernoded_node)


@pytest.mark.parametrize("table", ["{}", '{"argv": []}', '{"argv": ["x"], "colour": 1}', '{"argv": ["x"], "period_s": 0}'])
def test_settings_that_cannot_be(table: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(table, type=SwitchSettings)
