from __future__ import annotations

from collections.abc import Sequence

import pytest

from supernoded.admin.heating import Site, find_told, is_thermal, list_heat
from supernoded.messages import CoolingUnit, LoopRow, Thermal
from supernoded.model import Level, Reading, Severity, State, Value, Verdict
from supernoded.topology import Authority, CoolantLoop, Supernode, Topology

TOPOLOGY = Topology(
    nodes=(Supernode(name="n9", cards=1), Supernode(name="n1", cards=2, loop="west"), Supernode(name="n0", cards=2, loop="cdu0")),
    loops=(CoolantLoop(name="cdu0", authority=Authority.DIRECT), CoolantLoop(name="west")),
)


def read(subject: str, quantity: str, value: Value, source: str = "") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit="1", at=1.0, state=state, source=source)


def tell(
    *readings: Reading, verdicts: Sequence[Verdict] = (), loops: Sequence[LoopRow] = (), aims: dict[str, float] | None = None
) -> Thermal:
    site = Site(TOPOLOGY, 22.0, 0.3, 2.0, {"cdu/0": "n0"}, aims or {})
    return list_heat(readings, verdicts, loops, site, 5.0)


def unit_of(*readings: Reading, aims: dict[str, float] | None = None) -> CoolingUnit:
    return tell(*readings, aims=aims).units[0]


def test_what_is_described_is_shown_though_nothing_is_read_of_it_and_nothing_is_taken_for_cold() -> None:
    told = tell()
    assert [(unit.subject, unit.name, unit.authority, unit.judged_by) for unit in told.units] == [
        ("cdu/0", "cdu0", "direct", "n0"),
        ("cdu/west", "west", "setpoint", ""),
    ]
    unit = told.units[0]
    assert (unit.supply, unit.setpoint, unit.band_margin, unit.dew_margin, unit.valve_room, unit.leak) == (None,) * 6
    assert unit.text == "no rule of this daemon has judged it"
    assert [(node.node, node.loop, node.hottest) for node in told.nodes] == [
        ("n0", "cdu/0", None),
        ("n1", "cdu/west", None),
        ("n9", "", None),
    ]
    assert [(card.temperature, card.power, card.throttled) for card in told.nodes[0].cards] == [(None, None, None)] * 2


def test_the_band_goes_by_the_warmer_transmitter_and_the_dew_point_by_the_colder() -> None:
    unit = unit_of(
        read("cdu/0", "coolant.supply_temperature", 22.1),
        read("cdu/0", "coolant.supply_temperature.2", 22.5),
        read("cdu/0", "coolant.setpoint", 22.0),
        read("cdu/0", "coolant.control", "setpoint"),
        read("cdu/0", "air.dew_point", 15.0),
        read("cdu/0", "coolant.valve", 70.0),
    )
    assert (unit.supply, unit.supply_colder, unit.setpoint) == (22.5, 22.1, 22.0)
    assert unit.band_margin == pytest.approx(-0.2)
    assert unit.dew_margin == pytest.approx(5.1)
    assert unit.valve_room == 30.0


@pytest.mark.parametrize(
    ("control", "aims", "dew_point", "held"),
    [
        ("auto", {}, 10.0, 18.0),  # its own controller's, whatever we would hold
        ("setpoint", {"cdu/0": 25.0}, 10.0, 18.0),
        ("direct", {"cdu/0": 24.5}, 10.0, 24.5),  # as our loop tells
        ("direct", {}, 10.0, 22.0),  # as it should (T5)
        ("direct", {}, 21.0, 23.0),  # at least the dew point and its margin (safety 18)
        ("direct", {}, None, 22.0),
        (None, {}, None, 18.0),
    ],
)
def test_the_setpoint_is_that_of_whoever_turns_it(
    control: str | None, aims: dict[str, float], dew_point: float | None, held: float
) -> None:
    readings = (
        read("cdu/0", "coolant.control", control),
        read("cdu/0", "coolant.setpoint", 18.0),
        read("cdu/0", "air.dew_point", dew_point),
    )
    assert unit_of(*readings, aims=aims).setpoint == held


def test_pumps_leaks_and_alarms_are_told_and_what_is_not_good_is_not() -> None:
    unit = unit_of(
        read("cdu/0/pump10", "pump.state", "off"),
        read("cdu/0/pump2", "pump.state", "running"),
        read("cdu/0/pump2", "pump.speed", 60.0),
        read("cdu/0", "coolant.leak", 0.0),
        read("cdu/0", "coolant.leak_sticky", 1.0),
        read("cdu/0", "coolant.flow", None, source="a"),
        read("cdu/0", "coolant.flow", 810.0, source="b"),
        read("cdu/0", "coolant.level", None),
        read("cdu/0", "coolant.alarm", frozenset({"sensor-fault-3", "low-level"})),
    )
    assert [(pump.subject, pump.state, pump.speed) for pump in unit.pumps] == [
        ("cdu/0/pump2", "running", 60.0),
        ("cdu/0/pump10", "off", None),
    ]
    assert (unit.leak, unit.leak_sticky, unit.flow, unit.level_percent) == (False, True, 810.0, None)
    assert unit.alarms == ("low-level", "sensor-fault-3")


def test_a_unit_that_is_read_but_not_described_is_shown_too() -> None:
    told = tell(read("cdu/7", "coolant.flow", 1.0), read("cdu/7/pump1", "pump.state", "off"))
    assert [unit.subject for unit in told.units] == ["cdu/0", "cdu/7", "cdu/west"]
    assert told.units[1].authority == ""


def test_the_heat_map_has_every_card_by_its_slot_and_the_hottest_that_is_known() -> None:
    node = tell(
        read("n0/card1", "card.temperature", 71.5),
        read("n0/card1", "card.power", 590.0),
        read("n0/card1", "card.throttled", 1.0),
        read("n0/card0", "card.temperature", None),
        read("n0/fan10", "fan.speed", 5000.0),
        read("n0/fan9", "fan.duty", 40.0),
        read("n0", "fan.control", "auto"),
        read("n0", "coolant.flow", 31.0),
        read("n0", "coolant.branch", 0.0),
    ).nodes[0]
    assert [(card.temperature, card.power, card.throttled) for card in node.cards] == [(None, None, None), (71.5, 590.0, True)]
    assert (node.hottest, node.hottest_card) == (71.5, "n0/card1")
    assert [(fan.name, fan.speed, fan.duty) for fan in node.fans] == [("fan9", None, 40.0), ("fan10", 5000.0, None)]
    assert (node.fan_control, node.flow, node.branch_open) == ("auto", 31.0, False)


def say(kind: str, subject: str, level: Level = Level.RAISED, severity: Severity = Severity.WARNING) -> Verdict:
    return Verdict(kind=kind, subject=subject, level=level, text=f"{kind} of {subject}", at=1.0, severity=severity)


def test_the_worst_word_on_a_unit_or_its_pumps_stands_beside_it_and_words_on_other_things_are_left_out() -> None:
    verdicts = [
        say("coolant.band", "cdu/0"),
        say("coolant.pump", "cdu/0/pump1", severity=Severity.CRITICAL),
        say("coolant.leak", "cdu/01", severity=Severity.CRITICAL),
        say("heat", "n0/card3", Level.CLEAR),
        say("power.outage", "power/site"),
    ]
    told = tell(verdicts=verdicts)
    assert told.units[0].text == "coolant.pump of cdu/0/pump1"
    assert told.units[1].level is Level.UNSURE
    assert [verdict.kind for verdict in told.verdicts] == ["coolant.leak", "coolant.pump", "coolant.band", "heat"]


@pytest.mark.parametrize(
    ("kind", "thermal"), [("heat", True), ("card.throttled", True), ("fan.failed", True), ("air.hot", True), ("card.gone", False)]
)
def test_which_verdicts_are_thermal(kind: str, thermal: bool) -> None:
    assert is_thermal(kind) is thermal


def test_setpoint_and_dew_margin_are_those_of_the_policys_table() -> None:
    plugins: dict[str, dict[str, object]] = {"nut": {"wires": ["x"]}, "thermal": {"control": {"dew_margin_k": 3}}, "odd": {"control": "x"}}
    assert find_told(plugins, "dew_margin_k", 2.0) == 3.0
    assert find_told(plugins, "setpoint_c", 22.0) == 22.0
