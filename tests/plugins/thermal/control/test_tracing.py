import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_thermal.control.tracing import Trace, find_play, find_refresh, find_response


def make_trace(delay: int = 20, lag: float = 12.0, seconds: int = 400, step: float = 0.1, refresh: int = 1, play: float = 0.0) -> Trace:
    supply, returned, plate, told = [], [], 22.0, []
    for at in range(seconds):
        told.append(30.0 if at < 100 else 60.0)
        supply.append(22.0 - 4.0 * (1.0 - math.exp(-max(0, at - 100) / 8.0)))
        came = supply[max(0, at - delay)]
        plate += (came - plate) * (1.0 - math.exp(-1.0 / lag))
        returned.append(4.0 + 0.4 * came + 0.6 * plate)
    show = [[round(values[at - at % refresh] / step) * step for at in range(seconds)] for values in (supply, returned)]
    return Trace(told=tuple(told), valve=tuple(value - play for value in told), supply=tuple(show[0]), returned=tuple(show[1]))


@pytest.mark.parametrize(("delay", "lag"), [(8, 6.0), (20, 12.0), (50, 12.0)])
def test_delay_and_lag_are_in_the_course(delay: int, lag: float) -> None:
    response = find_response(make_trace(delay, lag))
    assert response is not None
    assert response.delay == pytest.approx(delay, abs=3.0)
    assert response.lag == pytest.approx(lag, rel=0.35)


def test_a_course_in_which_nothing_moves_says_nothing() -> None:
    flat = (22.0,) * 300
    assert find_response(Trace(told=flat, valve=flat, supply=flat, returned=flat)) is None
    assert find_response(make_trace(seconds=60)) is None


def test_how_often_registers_are_renewed_shows() -> None:
    assert find_refresh(make_trace()) == 0.0
    assert find_refresh(make_trace(refresh=5)) == 5.0


def test_play_is_what_a_valve_that_stands_is_off_by() -> None:
    assert find_play(make_trace()) == 0.0
    assert find_play(make_trace(play=1.5)) == pytest.approx(1.5)


@given(st.lists(st.tuples(*[st.floats(-20.0, 110.0)] * 4), max_size=30))
def test_any_course_is_taken(rows: list[tuple[float, float, float, float]]) -> None:
    told, valve, supply, returned = zip(*rows, strict=True) if rows else ((), (), (), ())
    trace = Trace(told=told, valve=valve, supply=supply, returned=returned)
    assert find_response(trace) is None
    assert find_refresh(trace) >= 0.0
    assert find_play(trace) >= 0.0
