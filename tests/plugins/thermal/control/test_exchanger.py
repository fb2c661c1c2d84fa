import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError
from supernoded_thermal.control.commissioning import Point
from supernoded_thermal.control.exchanger import make_exchanger
from tests.plugins.thermal.control.looking import make_data

CURVE = make_exchanger(make_data())


@given(st.floats(3.0, 100.0), st.floats(4.0, 12.0))
def test_the_way_there_and_back_is_the_same(valve: float, flow: float) -> None:
    assert CURVE.find_valve(CURVE.find_effect(valve, flow), flow) == pytest.approx(valve, abs=0.01)


def test_more_flow_is_cooled_less_by_the_same_valve() -> None:
    assert CURVE.find_effect(30.0, 8.0) == pytest.approx(0.45)
    assert CURVE.find_effect(30.0, 12.0) < 0.4
    assert CURVE.find_effect(30.0, 6.0) > 0.5


def test_below_the_lowest_point_it_goes_on_as_it_came() -> None:
    assert CURVE.find_effect(0.0, 8.0) == 0.0
    assert CURVE.find_effect(5.0, 8.0) == pytest.approx(0.08, abs=0.01)
    slow = msgspec.structs.replace(
        make_data(), points=tuple(_point(valve, effect) for valve, effect in ((50.0, 0.2), (60.0, 0.33), (90.0, 0.7)))
    )
    assert make_exchanger(slow).find_effect(40.0, 8.0) == pytest.approx(0.11, abs=0.02)  # a straight line to 0 would say 0.16


def _point(valve: float, effect: float) -> Point:
    return Point(valve=valve, supply=12.0 + 4.0 / effect, returned=16.0 + 4.0 / effect, primary=16.0, flow=8.0)


def test_points_that_are_near_are_one_and_small_noise_is_levelled() -> None:
    points = tuple(_point(valve, effect) for valve, effect in ((20.0, 0.35), (22.0, 0.31), (40.0, 0.30), (60.0, 0.5)))
    exchanger = make_exchanger(msgspec.structs.replace(make_data(), points=points))
    assert 21.0 in exchanger.valves
    assert exchanger.find_effect(21.0, 8.0) == pytest.approx(0.33)


def test_a_valve_that_cools_less_when_it_opens_is_refused() -> None:
    points = tuple(_point(valve, effect) for valve, effect in ((20.0, 0.6), (50.0, 0.4), (90.0, 0.2)))
    with pytest.raises(PluginError, match=r"falls from 0\.600 to 0\.400 at valve 50 %"):
        make_exchanger(msgspec.structs.replace(make_data(), points=points))
