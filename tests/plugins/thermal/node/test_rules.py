"""Fans that fail, fans that nobody claims, parts near their limits, cards that throttle or stand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.model import Level, Reading, Severity, Value, Verdict
from supernoded.parts import Rule
from supernoded.testing import judge
from supernoded_thermal.node.air import AirRule
from supernoded_thermal.node.fan_rules import ControlRule, FanRule
from supernoded_thermal.node.settings import NodeSettings
from supernoded_thermal.node.throttled import ThrottleRule
from supernoded_thermal.node.uneven import UnevenRule
from tests.plugins.thermal.node.room import read, series

BMC, LOOP = NodeSettings(), NodeSettings(fans="loop")
CARDS = tuple(f"n0/card{slot}" for slot in range(4))


def last(rule: Rule[Any], readings: Sequence[Reading]) -> dict[str, Verdict]:
    """The last word on each subject."""
    return {verdict.subject: verdict for verdict in judge(rule, readings)}


def fans(
    rpm: dict[int, Sequence[Value]], duty: float | None = 50.0, flow: dict[int, Sequence[Value]] | None = None, looks: int = 20
) -> list[Reading]:
    """Eight fans at 6000 rpm with 45 m3/h behind each, but for these; a look every 2 s."""
    found = []
    for fan in range(8):
        found += series(f"n0/fan{fan}", "fan.speed", rpm.get(fan, [6000.0] * looks), 2.0)
        found += series(f"n0/fan{fan}", "fan.duty", [duty] * looks, 2.0) if duty is not None else []
        found += series(f"n0/air{fan}", "air.flow", (flow or {}).get(fan, [45.0] * looks), 2.0)
    return found


STOPPED = [6000.0] * 4 + [0.0] * 16


@pytest.mark.parametrize(
    ("readings", "level", "says"),
    [
        (fans({}), Level.CLEAR, "n0/fan2 turns at 6000 rpm at a duty of 50 %"),
        (fans({2: STOPPED}), Level.RAISED, "n0/fan2 stands (0 rpm) at a duty of 50 %, while the others turn at 6000 rpm: replace it"),
        (fans({2: STOPPED}, duty=None), Level.RAISED, "n0/fan2 stands (0 rpm), while the others"),
        (fans({2: [0.0] * 20}), Level.RAISED, "stands"),
        (fans({2: [6000.0] * 17 + [0.0] * 3}), Level.UNSURE, "too early"),
        (fans({2: [0.0, 6000.0] * 10}), Level.CLEAR, "turns"),
        (fans({2: [0.0] * 20}, duty=10.0), Level.CLEAR, "n0/fan2 stands at a duty of 10 %"),
        (fans({2: [None] * 20}), Level.UNSURE, "fan.speed of n0/fan2"),
        (fans({}, flow={2: [12.0] * 20}), Level.RAISED, "12 m3/h come through where the others move 45"),
        (fans({}, flow={2: [45.0] * 17 + [12.0] * 3}), Level.CLEAR, "turns"),
        (fans({}, flow={2: [None] * 20}), Level.CLEAR, "turns"),
        (fans({}, flow={fan: [3.0] * 20 for fan in range(8)}), Level.CLEAR, "turns"),
    ],
)
def test_a_fan(readings: list[Reading], level: Level, says: str) -> None:
    found = last(FanRule("n0", BMC), readings)
    assert (found["n0/fan2"].level, says in found["n0/fan2"].text) == (level, True)
    assert found["n0"].level is Level.CLEAR
    assert {found[f"n0/fan{fan}"].level for fan in range(8) if fan != 2} == {Level.CLEAR}


def test_all_that_stand_are_a_shed_and_later_a_loss_of_their_power() -> None:
    shed = last(FanRule("n0", BMC), fans({fan: [6000.0] * 12 + [0.0] * 8 for fan in range(8)}))
    assert shed["n0"].level is Level.UNSURE
    assert {verdict.level for name, verdict in shed.items() if name != "n0"} == {Level.UNSURE}
    lost = last(FanRule("n0", BMC), fans({fan: [6000.0] * 4 + [0.0] * 16 for fan in range(8)}))
    assert (lost["n0"].level, lost["n0"].severity) == (Level.RAISED, Severity.CRITICAL)
    assert "all 8 fans of n0 stand for 30 s though they were told to turn: see to their power" in lost["n0"].text
    assert last(FanRule("n0", BMC), fans({fan: [0.0] * 20 for fan in range(8)}, duty=0.0))["n0"].level is Level.CLEAR


def test_a_node_without_fans_has_nothing_to_say() -> None:
    assert judge(FanRule("n0", BMC), [read("n0", "fan.duty", 50.0, 1.0), read("n1/fan0", "fan.speed", 0.0, 1.0)]) == []


@pytest.mark.parametrize(
    ("settings", "words", "level", "severity"),
    [
        (BMC, ["auto"] * 30, Level.CLEAR, None),
        (BMC, ["full"] * 30, Level.CLEAR, None),
        (BMC, ["auto"] * 10 + ["manual"] * 5, Level.CLEAR, None),
        (BMC, ["auto"] * 10 + ["manual"] * 20, Level.RAISED, Severity.WARNING),
        (BMC, ["manual"] * 20 + ["auto"], Level.CLEAR, None),
        (LOOP, ["manual"] * 30, Level.CLEAR, None),
        (LOOP, ["auto"] * 30, Level.CLEAR, None),
        (LOOP, ["manual"] * 10 + ["auto"] * 4, Level.RAISED, Severity.INFO),
        (LOOP, ["manual"] * 10 + ["full"] * 4, Level.RAISED, Severity.INFO),
        (LOOP, ["manual"] * 10 + ["auto"] * 140, Level.CLEAR, None),
        (LOOP, ["manual"] * 10 + ["auto"] * 4 + ["manual"], Level.CLEAR, None),
    ],
)
def test_who_has_the_fans(settings: NodeSettings, words: Sequence[str], level: Level, severity: Severity | None) -> None:
    verdict = last(ControlRule("n0", settings), series("n0", "fan.control", words))["n0"]
    assert verdict.level is level
    assert severity is None or verdict.severity is severity


def test_a_control_that_cannot_be_read_is_unsure() -> None:
    verdict = last(ControlRule("n0", BMC), [read("n0", "fan.control", None, 1.0, "EIO")])["n0"]
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("fan.control of n0: EIO",))


PART = "n0/sensor/board/DIMM A1"


@pytest.mark.parametrize(
    ("celsius", "level", "severity"),
    [
        ([60.0] * 10, Level.CLEAR, Severity.WARNING),
        ([80.0] * 10, Level.RAISED, Severity.WARNING),
        ([85.0] * 10, Level.RAISED, Severity.CRITICAL),
        ([81.0, 78.0, 77.0], Level.RAISED, Severity.WARNING),
        ([81.0, 78.0, 75.0], Level.CLEAR, Severity.WARNING),
        ([60.0 + look for look in range(18)], Level.RAISED, Severity.WARNING),  # 0.2 K/s: at its limit in 40 s
        ([24.0, 58.0, 58.0, 58.0], Level.CLEAR, Severity.WARNING),  # it has become warm, and does so no longer
        ([20.0 + look for look in range(18)], Level.CLEAR, Severity.WARNING),  # it rises, far from any limit
    ],
)
def test_a_part(celsius: Sequence[float], level: Level, severity: Severity) -> None:
    verdict = last(AirRule("n0", BMC), series(PART, "host.temperature", celsius))[PART]
    assert (verdict.level, verdict.severity) == (level, severity)
    assert f"is at {celsius[-1]:.1f} C, and 85 C is its limit" in verdict.text
    assert level is Level.CLEAR or "see whether its fans turn" in verdict.text


@pytest.mark.parametrize(
    ("subject", "quantity", "told", "limit"),
    [
        ("n0/sensor/simfan/optics", "host.temperature", None, 70.0),
        ("n0/sensor/simfan/optics", "host.temperature", 90.0, 70.0),
        ("n0/sensor/b/VRM CPU", "host.temperature", None, 110.0),
        ("n0/sensor/b/VRM CPU", "host.temperature", 125.0, 110.0),
        ("n0/sensor/coretemp/Core 0", "host.temperature", 100.0, 100.0),
        ("n0/sensor/coretemp/Core 0", "host.temperature", 0.0, 85.0),
        ("n0/card0/port0", "link.temperature", None, 70.0),
        ("n0/card0/port0", "link.temperature", 65.0, 65.0),
    ],
)
def test_whose_limit_counts(subject: str, quantity: str, told: float | None, limit: float) -> None:
    readings = [read(subject, quantity, 50.0, 1.0), *([read(subject, f"{quantity}.high", told, 1.0)] if told is not None else [])]
    assert f"and {limit:g} C is its limit" in last(AirRule("n0", BMC), readings)[subject].text


def test_a_part_that_is_lost_is_unsure_and_one_that_was_pulled_is_not_missed() -> None:
    port = "n0/card0/port0"
    lost = last(AirRule("n0", BMC), [read(port, "link.temperature", 66.0, 1.0), read(port, "link.temperature", None, 90.0, "time-out")])[
        port
    ]
    assert (lost.level, "time-out" in lost.text) == (Level.UNSURE, True)
    pulled = [read(port, "link.temperature", 66.0, 1.0), read(port, "link.present", 0.0, 90.0), read(port, "link.temperature", None, 90.0)]
    assert last(AirRule("n0", BMC), pulled)[port].level is Level.CLEAR
    assert judge(AirRule("n0", BMC), [read(port, "link.temperature", None, 1.0, "no module")]) == []


def cards(hot: Sequence[Value], watts: Sequence[Value], throttled: Sequence[Value] | None = None) -> list[Reading]:
    """The first of four cards; the others are at 58 C and 550 W. A look every 10 s."""
    found = [*series(CARDS[0], "card.temperature", hot, 10.0), *series(CARDS[0], "card.power", watts, 10.0)]
    for card in CARDS[1:]:
        found += [*series(card, "card.temperature", [58.0] * len(hot), 10.0), *series(card, "card.power", [550.0] * len(hot), 10.0)]
    return [*found, *(series(CARDS[0], "card.throttled", throttled, 10.0) if throttled is not None else [])]


@pytest.mark.parametrize(
    ("readings", "level", "says"),
    [
        (cards([60.0] * 4, [550.0] * 4, [0.0] * 4), Level.CLEAR, "n0/card0 does not throttle, at 60 C"),
        (cards([96.0] * 4, [250.0] * 4, [1.0] * 4), Level.RAISED, "n0/card0 says that it throttles, at 96 C"),
        (cards([60.0] * 4, [550.0] * 4, [0.0, 0.0, 0.0, None]), Level.UNSURE, "cannot be seen"),
        (cards([90.0] * 4, [500.0] * 4, [0.0, 1.0, 0.0, 0.0]), Level.RAISED, "n0/card0 throttled within the last 60 s, at 90 C"),
        (cards([90.0] * 9, [500.0] * 9, [0.0, 1.0, *[0.0] * 7]), Level.CLEAR, "does not throttle"),
        (cards([96.0, 91.0, 93.0], [250.0, 550.0, 550.0]), Level.RAISED, "it did, and has not cooled down since"),
        (cards([96.0], [250.0]), Level.RAISED, "it draws 250 W where its neighbours draw 550 W"),
        (cards([95.0] * 4, [545.0] * 4), Level.CLEAR, "as its neighbours do"),
        (cards([96.0, 90.0], [250.0] * 2), Level.RAISED, "n0/card0 is at 90 C"),
        (cards([96.0, 90.0, 87.0], [250.0] * 3), Level.CLEAR, ""),
        (cards([90.0] * 4, [250.0] * 4), Level.CLEAR, ""),
        (cards([96.0] * 4, [None] * 4), Level.UNSURE, "powers are not read"),
        (cards([None] * 4, [250.0] * 4), Level.UNSURE, "cannot be seen"),
    ],
)
def test_a_card_that_throttles(readings: list[Reading], level: Level, says: str) -> None:
    verdict = last(ThrottleRule("n0", CARDS, BMC), readings)[CARDS[0]]
    assert (verdict.level, says in verdict.text) == (level, True)
    assert level is not Level.RAISED or "blame no link for what times out" in verdict.text


@pytest.mark.parametrize(
    ("hot", "watts", "level"),
    [
        ([58.0] * 6, [550.0] * 6, Level.CLEAR),
        ([75.0] * 6, [550.0] * 6, Level.RAISED),
        ([75.0] * 2, [550.0] * 2, Level.CLEAR),
        ([40.0] * 6, [100.0] * 6, Level.CLEAR),
        ([58.0] * 6, [250.0] * 6, Level.RAISED),  # as hot as the others, at half their power
        ([75.0] * 6 + [70.0], [550.0] * 7, Level.RAISED),
        ([75.0] * 6 + [68.0], [550.0] * 7, Level.CLEAR),
    ],
)
def test_a_card_that_stands_out(hot: Sequence[Value], watts: Sequence[Value], level: Level) -> None:
    found = last(UnevenRule("n0", CARDS, BMC), cards(hot, watts))
    assert found[CARDS[0]].level is level
    assert {found[card].level for card in CARDS[1:]} == {Level.CLEAR}


RULES: tuple[Rule[Any], ...] = (
    FanRule("n0", BMC),
    AirRule("n0", BMC),
    ControlRule("n0", BMC),
    ControlRule("n0", LOOP),
    ThrottleRule("n0", CARDS, BMC),
    UnevenRule("n0", CARDS, BMC),
)
subjects = st.sampled_from(
    ["n0", "n0/fan0", "n0/fan1", "n0/fan2", "n0/air0", "n0/air1", "n0/air2", "n0/card0/port0", PART, *CARDS, "n1/card0"]
)


@settings(max_examples=60)
@given(data=st.data())
@pytest.mark.parametrize("rule", RULES)
def test_whatever_is_read_there_is_one_word_on_each_subject(rule: Rule[Any], data: st.DataObject) -> None:
    words: st.SearchStrategy[Value] = st.sampled_from(["auto", "manual", "full"])
    numbers: st.SearchStrategy[Value] = st.floats(-300.0, 20_000.0) | st.none()
    readings = []
    for number in range(data.draw(st.integers(0, 12))):
        quantity = data.draw(st.sampled_from(sorted(rule.watches)))
        value = data.draw(words if quantity == "fan.control" else numbers)
        readings.append(read(data.draw(subjects), quantity, value, float(number * 4)))
    for verdict in judge(rule, readings):
        assert verdict.kind == rule.kind
        assert not verdict.subject.startswith("n1")
        assert len(verdict.text) > 10
        assert verdict.level is not Level.UNSURE or verdict.unseen or "shed" in verdict.text
    memory = rule.start()
    assert msgspec.json.decode(msgspec.json.encode(memory), type=type(memory)) == memory
