"""One trouble, one incident: faults of a simulated loop under its own controller, and all that is raised of them."""

from __future__ import annotations

import pytest

from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order
from supernoded.model import Severity
from tests.plugins.thermal.coolant.bench import CDU, START, read
from tests.plugins.thermal.coolant.plant import Hall

WELL_S, WATCHED_S = 60.0, 110.0


@pytest.fixture
def hall() -> Hall:
    hall = Hall()
    assert hall.run(WELL_S) == set()
    return hall


@pytest.mark.parametrize(
    ("fault", "expected", "within"),
    [
        ((), {}, 0.0),
        ((orders.LosePrimary(CDU, lost=True),), {"coolant.primary": CDU}, 4.0),
        ((orders.ShiftPrimary(CDU, 6.0),), {"coolant.primary": CDU}, 8.0),
        ((orders.FailPump(CDU, 0, failed=True),), {"coolant.pump": CDU}, 3.0),
        (tuple(orders.FailPump(CDU, pump, failed=True) for pump in (0, 1)), {"coolant.pump": CDU}, 3.0),
        ((orders.LoseRunSignal(CDU, 0, lost=True),), {"coolant.pump": CDU}, 10.0),
        ((orders.Leak("n1", 0.5),), {"coolant.leak": "n1"}, 2.0),
        ((orders.Leak("n1", 5.0),), {"coolant.leak": "n1"}, 2.0),
        ((orders.Leak(CDU, 5.0),), {"coolant.leak": CDU}, 2.0),
        ((orders.DrainLevel(CDU, 10.0),), {"coolant.level": CDU}, 7.0),
        ((orders.AdmitAir(CDU, 0.1),), {"coolant.level": CDU}, 7.0),
        ((orders.Humidify(20.5),), {}, 0.0),  # the setpoint goes with it
        ((orders.CloseBranch("n1", closed=True),), {}, 0.0),  # which is told where it was ordered
    ],
)
def test_one_trouble_is_one_incident(hall: Hall, fault: tuple[Order, ...], expected: dict[str, str], within: float) -> None:
    hall.order(*fault)
    hall.run(WATCHED_S)
    first = {kind: subject for (kind, subject), verdict in hall.raised.items() if verdict.at - START - WELL_S <= within}
    assert first == expected, list(hall.raised)
    emptied = hall.sense("coolant.level") == 0.0  # then nothing flows, for which nodes that do not leak are capped
    assert {kind for kind, _ in hall.raised} - ({"coolant.flow"} if emptied else set()) == set(expected)
    assert len({kind for kind, _ in hall.now_raised} - ({"coolant.flow"} if emptied else set())) == len(expected)


def test_a_pump_that_was_taken_over_is_no_emergency_any_more(hall: Hall) -> None:
    hall.order(orders.FailPump(CDU, 0, failed=True))
    hall.run(60.0)
    assert hall.now_raised == {("coolant.pump", "cdu/0/pump0")}
    assert hall.last["coolant.pump", "cdu/0/pump0"].severity is Severity.WARNING


@pytest.mark.parametrize("place", ["n1", CDU])
def test_a_large_leak_becomes_critical_by_its_second_sign(hall: Hall, place: str) -> None:
    hall.order(orders.Leak(place, 5.0))
    hall.run(40.0)
    assert {one for one in hall.now_raised if one[0] != "coolant.flow"} == {("coolant.leak", place)}
    assert hall.last["coolant.leak", place].severity is Severity.CRITICAL


def test_a_valve_that_sticks_is_blamed_for_what_follows(hall: Hall) -> None:
    hall.order(orders.StickValve(CDU, 10.0))
    hall.run(WATCHED_S)
    assert set(hall.raised) == {("coolant.valve", CDU)}
    assert "it is stuck" in hall.last["coolant.valve", CDU].text


def test_feedback_that_is_frozen_is_no_stuck_valve(hall: Hall) -> None:
    frozen = hall.sense("coolant.valve")
    hall.spoil = lambda one: read(CDU, one.quantity, frozen, one.at - START) if one.quantity == "coolant.valve" else one
    for step in range(60):  # load that grows slowly enough to be held
        hall.watts = 500.0 - 4.0 * step
        hall.run(5.0)
    assert set(hall.raised) == {("coolant.valve", CDU)}
    assert "its feedback is frozen" in hall.raised["coolant.valve", CDU].text


def test_two_masters_are_told_whoever_is_read_last(hall: Hall) -> None:
    hall.order(orders.SetControl(CDU, "setpoint"), orders.AddMaster(CDU, 27.5))
    for second in range(120):
        hall.order(orders.Beat(CDU), *([orders.SetTemperature(CDU, 22.0)] if second % 2 else []))
        hall.run(1.0)
    assert ("coolant.masters", CDU) in hall.raised


def test_a_megawatt_step_is_judged_as_what_it_is(hall: Hall) -> None:
    """PI alone leaves the band: that is a swing, and nothing else is blamed."""
    hall.watts = 150.0
    hall.run(WATCHED_S)
    assert {kind for kind, _ in hall.raised} <= {"coolant.swing", "coolant.band"}
    assert ("coolant.swing", CDU) in hall.raised
    hall.run(240.0)
    assert hall.now_raised == set()


def test_fouling_ends_as_a_lack_of_capacity(hall: Hall) -> None:
    hall.order(orders.Foul(CDU, 0.8))
    hall.run(WATCHED_S)
    assert ("coolant.capacity", CDU) in hall.raised
    assert ("coolant.band", CDU) not in hall.raised
