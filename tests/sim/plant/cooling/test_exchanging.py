import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.cooling.design import Design, load_design
from sim_hardware.plant.cooling.exchanging import exchange, find_effectiveness, find_primary, find_primary_flow, open_valve

_FLOW = st.floats(0.0, 200.0)


def test_effectiveness_is_the_text_books() -> None:
    assert find_effectiveness(1.0, 1.0) == pytest.approx(0.5)
    assert find_effectiveness(2.0, 0.5) == pytest.approx((1 - math.exp(-1)) / (1 - 0.5 * math.exp(-1)))
    assert find_effectiveness(2.0, 0.0) == pytest.approx(1 - math.exp(-2))
    assert find_effectiveness(math.inf, 1.0) == 1.0


@given(st.floats(0.0, 90.0), st.floats(0.0, 90.0), _FLOW, _FLOW, st.floats(0.0, 1e6))
def test_no_water_passes_the_other(hot: float, cold: float, hot_flow: float, cold_flow: float, passes: float) -> None:
    watts = exchange(hot, cold, hot_flow, cold_flow, passes)
    assert math.isfinite(watts)
    assert watts * (hot - cold) >= 0.0
    assert abs(watts) <= min(hot_flow, cold_flow) * 4180.0 * abs(hot - cold) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["reference", "worn-valve"])
def test_a_valve_lets_nothing_through_closed_and_everything_open(name: str) -> None:
    design = load_design(name)
    flows = [open_valve(design, share / 20) for share in range(21)]
    assert flows[0] == 0.0
    assert flows[-1] == pytest.approx(1.0)
    assert flows == sorted(flows)


def test_an_equal_percentage_valve_does_little_at_first() -> None:
    assert open_valve(load_design("worn-valve"), 0.5) < 0.2
    assert open_valve(load_design("reference"), 0.5) == 0.5


def _sway(design: Design) -> tuple[float, float]:
    waters = [find_primary(design, float(at), 0.0, 0.0) for at in range(1800)]
    return max(c for c, _ in waters) - min(c for c, _ in waters), max(p for _, p in waters) - min(p for _, p in waters)


def test_primary_water_sways_only_where_it_is_built_to() -> None:
    assert _sway(load_design("reference")) == (0.0, 0.0)
    assert _sway(load_design("swaying-primary")) == pytest.approx((3.0, 60.0), rel=0.01)


def test_without_pressure_nothing_flows() -> None:
    design = load_design("reference")
    assert find_primary(design, 0.0, 0.0, -999.0)[1] == 0.0
    assert find_primary_flow(design, 1.0, 0.0) == 0.0
    assert find_primary_flow(design, 1.0, design.primary.kilopascals) == design.primary.litres_per_second
