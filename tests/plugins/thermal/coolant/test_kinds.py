"""Each kind of trouble of a loop: raised by what it is about, by nothing else, and after its time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.model import Level, Reading, Severity, State, Value
from supernoded.quantities import VOCABULARY
from supernoded.testing import judge
from supernoded_thermal.coolant import KINDS, make_rules
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, START, Bench, Change, find_rule, levels, make_node

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
Changes = Mapping[tuple[str, str], Change]
FIRST = {f"cdu/0/pump{n}": None for n in (0, 1)}


def of_cdu(**values: Change) -> Changes:
    return {(CDU, f"coolant.{name.replace('__', '.')}"): value for name, value in values.items()}


def of_pumps(**values: Change) -> Changes:
    return {(pump, f"pump.{name}"): value for pump in FIRST for name, value in values.items()}


NO_PRIMARY = of_cdu(primary_pressure=0.0, supply_temperature=24.0, supply_temperature__2=24.0, valve=100.0, valve_command=100.0)
STOPPED = {**of_pumps(speed=0.0, rpm=0.0, state="tripped"), **of_cdu(flow=0.0, pressure_difference=0.0)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_that_is_well_has_no_trouble(kind: str) -> None:
    said = Bench(kind).run(200)
    assert said
    expected = {CLEAR, UNSURE} if kind == "coolant.frozen" else {CLEAR}  # a return that stands still while nothing moves proves nothing
    assert set(levels(said).values()) <= expected
    assert all(verdict.text for verdict in said.values())


@pytest.mark.parametrize(
    ("kind", "changes", "after", "words", "severity"),
    [
        ("coolant.band", of_cdu(supply_temperature=22.4), 7, ("22.40 C", "+0.40 K", "0.3 K"), Severity.WARNING),
        ("coolant.band", of_cdu(supply_temperature=21.6), 7, ("21.60 C", "-0.40 K"), Severity.WARNING),
        ("coolant.primary", of_cdu(primary_pressure=10.0), 4, ("10 kPa", "50"), Severity.CRITICAL),
        ("coolant.primary", of_cdu(primary_temperature=21.5), 7, ("21.5 C", "21.0"), Severity.WARNING),
        ("coolant.flow", of_cdu(flow=0.0), 2, ("0 L/min", "30 is usual", "gone"), Severity.CRITICAL),
        ("coolant.flow", of_cdu(flow=-3.0), 2, ("-3 L/min", "backwards"), Severity.CRITICAL),
        ("coolant.flow", of_cdu(flow=18.0), 7, ("18 L/min", "70 %", "closed or blocked"), Severity.WARNING),
        ("coolant.flow", of_cdu(flow=18.0, pressure_difference=36.0), 7, ("60 %", "runs back through a pump"), Severity.WARNING),
        ("coolant.pump", STOPPED, 2, ("pump0 has tripped", "no pump runs", "gone"), Severity.WARNING),  # there is a standby
        (
            "coolant.pump",
            {
                ("cdu/0/pump0", "pump.state"): "starting",
                ("cdu/0/pump0", "pump.speed"): 0.0,
                ("cdu/0/pump0", "pump.rpm"): 0.0,
                **of_cdu(flow=15.0, pressure_difference=25.0),
            },
            7,
            ("pump0 says 'starting' and does not turn", "run signal is missing", "flow is 15 of 30"),
            Severity.WARNING,
        ),
        ("coolant.level", of_cdu(level=15.0), 7, ("15 %", "25"), Severity.CRITICAL),
        ("coolant.level", of_pumps(speed=66.0), 7, ("there is air", "90"), Severity.WARNING),
        (
            "coolant.capacity",
            of_cdu(supply_temperature=23.0, supply_temperature__2=23.0, valve=100.0, valve_command=100.0),
            63,
            ("100 %", "23.00 C"),
            Severity.CRITICAL,
        ),
        ("coolant.valve", of_cdu(valve_command=80.0, supply_temperature=21.0), 18, ("50 %", "80 %", "stuck"), Severity.CRITICAL),
        ("coolant.valve", of_cdu(valve_command=80.0), 18, ("held at 22.05 C", "feedback is frozen"), Severity.WARNING),
        ("coolant.dew", {(CDU, "air.dew_point"): 20.5}, 33, ("22.00 C", "22.5"), Severity.WARNING),
        ("coolant.dew", {(CDU, "air.dew_point"): 23.0}, 7, ("25.0",), Severity.CRITICAL),
        ("coolant.sensor", of_cdu(supply_temperature=22.5), 37, ("22.05 and 22.50", "0.45 K", "0.3"), Severity.WARNING),
        ("coolant.sensor", of_cdu(alarm={"supply-sensor"}), 11, ("supply-sensor", "no good"), Severity.WARNING),
        ("coolant.sensor", of_cdu(return_temperature=45.0), 190, ("10.4 kW", "one of these sensors is wrong"), Severity.WARNING),
        ("coolant.leak", of_cdu(leak=1.0), 1, ("cdu/0 is wet", "small"), Severity.WARNING),
        ("coolant.leak_sensor", of_cdu(leak=None), 18, ("tells nothing",), Severity.WARNING),
        ("coolant.leak_sensor", of_cdu(alarm={"leak-sensor-fault"}), 18, ("leak-sensor-fault",), Severity.WARNING),
    ],
)
def test_what_raises_it(kind: str, changes: Changes, after: float, words: tuple[str, ...], severity: Severity) -> None:
    bench = Bench(kind)
    bench.run(60)
    if after > 2:
        assert bench.run(after / 2, changes)[CDU].level is not RAISED
        after = after - after / 2
    verdict = bench.run(after, changes)[CDU]
    assert (verdict.level, verdict.severity) == (RAISED, severity), verdict.text
    assert [word for word in words if word not in verdict.text] == []
    assert bench.rule.advice in verdict.text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"coolant.masters", "coolant.swing", "coolant.frozen"}])
def test_what_cannot_be_seen_is_unsure_and_says_so(kind: str) -> None:
    bench = Bench(kind)
    bench.run(30)
    blind = {(CDU, quantity): None for quantity in VOCABULARY if quantity.startswith("coolant.") and quantity != "coolant.alarm"}
    blind |= {(f"cdu/0/pump{n}", f"pump.{what}"): None for n in (0, 1, 2) for what in ("speed", "rpm", "state", "command")}
    blind |= {(CDU, "air.dew_point"): None}
    verdict = bench.run(12, blind)[CDU]
    assert verdict.level is UNSURE
    assert verdict.unseen


@pytest.mark.parametrize(
    ("cause", "name"), [(NO_PRIMARY, "coolant.primary"), ({**STOPPED, **of_cdu(supply_temperature=23.0)}, "coolant.pump")]
)
@pytest.mark.parametrize("kind", ["coolant.band", "coolant.capacity", "coolant.flow", "coolant.level"])
def test_one_trouble_is_one_incident(cause: Changes, name: str, kind: str) -> None:
    """What is explained by another trouble stays out of its way, however long that lasts."""
    bench = Bench(kind)
    bench.run(60)
    levels_seen = {bench.run(1, cause)[CDU].level for _ in range(90)}
    assert RAISED not in levels_seen
    if kind == "coolant.band":
        assert bench.run(1, cause)[CDU].text.startswith(f"explained by {name}")


def test_people_at_work_have_their_troubles_to_themselves() -> None:
    bench = Bench("coolant.band", maintenance=(CDU,))
    bench.run(10)
    verdict = bench.run(20, of_cdu(supply_temperature=23.0))[CDU]
    assert verdict.level is UNSURE
    assert "under maintenance" in verdict.text


def test_each_kind_has_its_rule_and_watches_the_vocabulary() -> None:
    rules = make_rules(ThermalSettings(), make_node())
    assert len({rule.kind for rule in rules}) == len(rules) == 15
    assert {rule.scope for rule in rules} == {CDU}
    assert {quantity for rule in rules for quantity in rule.watches} <= set(VOCABULARY)


QUANTITIES = sorted({quantity for kind in KINDS for quantity in find_rule(kind).watches})
SUBJECTS = [CDU, "cdu/0/pump0", "cdu/0/pump1", "cdu/1", "n0", "n1", "n0/card0", "n9"]
WORDS = st.sampled_from(["running", "tripped", "starting", "auto", "direct", "", "x"])
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.floats(allow_nan=True),
    st.sampled_from([0.0, 1.0, -5.0, 1e300]),
    WORDS,
    st.frozensets(st.sampled_from(["leak-fault", "supply-sensor"])),
)


@st.composite
def anything(draw: st.DrawFn) -> Reading:
    value = draw(VALUES)
    quantity = draw(st.sampled_from(QUANTITIES))
    return Reading(
        subject=draw(st.sampled_from(SUBJECTS)),
        quantity=quantity,
        value=value,
        unit=VOCABULARY[quantity].unit,
        at=START + draw(st.floats(0, 300)),
        state=State.UNKNOWN if value is None else State.GOOD,
        source=draw(st.sampled_from(["a", "b"])),
    )


@settings(max_examples=40)
@given(st.lists(anything(), max_size=40))
def test_no_reading_breaks_a_rule(readings: list[Reading]) -> None:
    for rule in make_rules(ThermalSettings(), make_node()):
        watched = [one for one in readings if one.quantity in rule.watches]
        verdicts = judge(rule, watched)
        assert all(verdict.kind == rule.kind and verdict.text for verdict in verdicts)
        assert all(verdict.unseen for verdict in verdicts if verdict.level is UNSURE and "cannot be seen" in verdict.text)
