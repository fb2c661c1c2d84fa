"""The reference plant against the figures that controllers are measured on, and its PLC on every plant."""

import math

import pytest

from sim_hardware.plant.cooling import State, list_designs
from sim_hardware.plant.cooling.orders import SetControl, SetPressure, SetValve, SetWatchdog
from sim_hardware.plant.cooling.state import Inputs
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def _heat(state: State, megawatts: float) -> Inputs:
    """As much heat into the coolant, for the scaled loop, as so many MW on 1.6 MW of nodes."""
    rated = 8 * 600.0 + 600.0
    return Inputs((rated / 8 * megawatts / 1.6,) * 8, (600.0,), frozenset())


def _swing(state: State, until: float, inputs: Inputs) -> tuple[State, float, float, float]:
    """The state, the deviation's ends, and the seconds outside of 0.3 K."""
    off: list[float] = []
    state, _ = run(state, until, inputs, lambda now: off.append(read(now, "cdu/0", "coolant.true_supply_temperature") - 22.0))
    return state, min(off), max(off), sum(0.5 for one in off if abs(one) > 0.3)


def test_pi_alone_misses_as_it_should_so_that_better_can_be_seen() -> None:
    state, low, high, _ = _swing(start_site(), 100.0, _heat(start_site(), 0.8))
    assert (low, high) == pytest.approx((0.0, 0.0), abs=0.001)
    state, _, high, outside = _swing(state, 600.0, _heat(state, 1.6))
    assert high == pytest.approx(0.54, abs=0.05)
    assert 20.0 < outside < 40.0
    state, low, _, outside = _swing(state, 1200.0, _heat(state, 0.4))
    assert low == pytest.approx(-0.77, abs=0.05)
    assert 40.0 < outside < 60.0


@pytest.mark.parametrize("plant", list_designs())
def test_the_plc_holds_every_plant_without_a_limit_cycle(plant: str) -> None:
    state = start_site(plant)
    state, _, _, _ = _swing(state, 10.0, load(state, 0.5))
    state, _, _, _ = _swing(state, 1010.0, load(state, 0.8))
    state, low, high, _ = _swing(state, 1810.0, load(state, 0.8))
    assert -0.2 < low <= high < 0.2
    assert high - low < (0.3 if plant == "swaying-primary" else 0.1)
    if plant == "reference":
        assert max(-low, high) < 0.15  # T7


def test_nothing_happens_at_constant_load() -> None:
    state = start_site(nodes=2)
    _, happened = run(state, 1800.0, load(state, 0.7))
    assert happened == []


def test_a_step_of_load_is_told_as_band_and_swing() -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state, 0.3))
    state, happened = run(state, 300.0, load(state, 1.0))
    assert list_kinds(happened, "cdu/0") == ["coolant.out_of_band", "coolant.swing", "coolant.in_band", "coolant.steady"]
    assert 0.3 < abs(read(state, "cdu/0", "coolant.setpoint") - next(h.value for h in happened if h.value is not None)) < 0.4


def test_a_worn_gauge_shows_steps_and_old_values() -> None:
    state = start_site("worn-valve")
    state, _ = run(state, 10.0, load(state, 0.3))
    shown: list[float] = []
    run(state, 40.0, load(state, 1.0), lambda now: shown.append(read(now, "cdu/0", "coolant.return_temperature")))
    assert all(abs(celsius * 10 - round(celsius * 10)) < 1e-6 for celsius in shown)
    assert 2 <= len(set(shown)) <= 7


def _find_delay(kilopascals: float) -> float:
    """Seconds from a step of load until the return has warmed by a tenth of a kelvin."""
    state, _ = run(start_site(), 1.0, load(start_site(), 0.5))
    state, _ = run(give(state, SetPressure("cdu/0", kilopascals)), 900.0, load(state, 0.5))
    seen: list[float] = []
    run(state, 1000.0, load(state, 1.0), lambda now: seen.append(read(now, "cdu/0", "coolant.true_return_temperature")))
    return 0.5 * next(at for at, celsius in enumerate(seen, start=1) if celsius > seen[0] + 0.1)


def test_half_the_flow_is_twice_as_long_under_way() -> None:
    assert 20.0 < _find_delay(100.0) < 23.0
    assert 40.0 < _find_delay(25.0) < 44.0


def test_far_rows_give_later() -> None:
    state = start_site("uneven-rows", nodes=4)
    state, _ = run(state, 10.0, load(state, 0.5))
    seen: list[float] = []
    run(state, 120.0, load(state, 1.0), lambda now: seen.append(read(now, "cdu/0", "coolant.true_return_temperature")))
    first = next(at for at, celsius in enumerate(seen) if celsius > seen[0] + 0.1)
    half = next(at for at, celsius in enumerate(seen) if celsius > (seen[0] + max(seen)) / 2)
    assert first < 2 * 16
    assert half > first + 2 * 10


def _find_valve(megawatts: float) -> float:
    """The valve's position that holds so much heat, %."""
    return read(run(start_site(), 1.0, _heat(start_site(), megawatts))[0], "cdu/0", "coolant.valve")


@pytest.mark.parametrize(
    ("lead_s", "low", "high"), [(1.0, -0.05, 0.05), (7.0, -0.8, 0.05), (21.0, -2.0, 0.05)], ids=["right", "early", "at once"]
)
def test_a_valve_moved_when_the_heat_arrives_holds_and_one_moved_at_once_does_not(lead_s: float, low: float, high: float) -> None:
    """Feed-forward alone: the valve for the heat, 20 s of transport and 12 s of rack lag after the step at 10 s, so much earlier."""
    state, _ = run(start_site(), 10.0, _heat(start_site(), 0.8))
    state = give(state, SetControl("cdu/0", "direct"), SetWatchdog("cdu/0", 600.0))
    off: list[float] = []
    while state.at < 120.0:
        since = max(0.0, state.at - 30.0 + lead_s)
        state = give(state, SetValve("cdu/0", _find_valve(1.6 - 0.8 * math.exp(-since / 12.0))))
        state, _ = run(
            state, state.at + 1.0, _heat(state, 1.6), lambda now: off.append(read(now, "cdu/0", "coolant.true_supply_temperature"))
        )
    assert low < min(off) - 22.0 <= max(off) - 22.0 < high
    assert (min(off) - 22.0 > -0.3) == (lead_s < 5.0)
