from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.cooling.design import Pumping
from sim_hardware.plant.cooling.hydraulics import find_flow, find_pressure, find_shut_off, find_speed

_CHECKED, _OPEN = Pumping(), Pumping(check_valves=False)


def test_the_speed_that_holds_the_rated_pressure_gives_the_rated_flow() -> None:
    speed = find_speed(_CHECKED, 1.0)
    flow = find_flow(_CHECKED, [speed, 0.0], 1.0)
    assert flow == pytest.approx(1.0)
    assert find_pressure(flow, 1.0) == pytest.approx(1.0)
    assert 0.6 < speed < 0.95


def test_flow_follows_speed_in_proportion() -> None:
    assert find_flow(_CHECKED, [0.4, 0.0], 1.0) == pytest.approx(find_flow(_CHECKED, [0.8, 0.0], 1.0) / 2)


def test_a_standing_pump_without_check_valve_lets_coolant_back() -> None:
    assert find_flow(_OPEN, [0.8, 0.0], 1.0) < 0.95 * find_flow(_CHECKED, [0.8, 0.0], 1.0)


def test_a_second_pump_gives_less_than_double() -> None:
    one, two = find_flow(_CHECKED, [0.8, 0.0], 1.0), find_flow(_CHECKED, [0.8, 0.8], 1.0)
    assert one < two < 2 * one


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=4), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.booleans())
def test_less_open_less_flow_less_head_less_flow(speeds: list[float], openness: float, head: float, check: bool) -> None:
    pumping = Pumping(pumps=4, check_valves=check)
    flow = find_flow(pumping, speeds, openness, head)
    assert 0.0 <= flow < 5.0
    assert find_flow(pumping, speeds, openness * 0.7, head) <= flow + 1e-6
    assert find_flow(pumping, speeds, openness, head * 0.7) <= flow + 1e-6


@pytest.mark.parametrize(("speeds", "openness", "head"), [([0.0, 0.0], 1.0, 1.0), ([1.0, 1.0], 0.0, 1.0), ([1.0, 1.0], 1.0, 0.0)])
def test_no_drive_no_way_no_head_no_flow(speeds: list[float], openness: float, head: float) -> None:
    assert find_flow(_CHECKED, speeds, openness, head) == 0.0


def test_closing_branches_raises_the_pressure_over_the_rest() -> None:
    pressures = [find_pressure(find_flow(_CHECKED, [0.8, 0.0], part), part) for part in (1.0, 0.75, 0.5, 0.25)]
    assert all(one < other for one, other in pairwise((*pressures, find_shut_off([0.8, 0.0]))))
    assert find_pressure(find_flow(_CHECKED, [0.8, 0.0], 1e-3), 1e-3) == pytest.approx(find_shut_off([0.8, 0.0]), rel=1e-3)


def test_the_speed_that_holds_the_rated_pressure_over_closed_branches() -> None:
    assert find_shut_off([find_speed(_CHECKED, 0.0), 0.0]) == pytest.approx(1.0)
