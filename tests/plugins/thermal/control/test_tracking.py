import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_thermal.control.tracking import Track, Transmitter, estimate, follow

BY = Transmitter(lag=2.0, step=0.1)


def shown(true: Callable[[float], float], seconds: int, step: float = 0.1) -> list[float]:
    """What a transmitter of 2 s shows of `true`, second by second."""
    now, found = true(0.0), []
    for second in range(seconds):
        for part in range(10):
            now += (true(second + part / 10.0) - now) * (1.0 - math.exp(-0.1 / BY.lag))
        found.append(round(now / step) * step)
    return found


def run(values: Sequence[float], by: Transmitter = BY) -> Track:
    track = None
    for at, value in enumerate(values):
        track = follow(track, value, 0.0, float(at), "a", by)
    assert track is not None
    return track


def test_the_lag_of_a_rising_temperature_is_made_up_for() -> None:
    track = run(shown(lambda at: 20.0 + 0.3 * at, 40))
    assert abs(20.0 + 0.3 * 40 - estimate(track, 39.0, BY)) < 0.35
    assert abs(shown(lambda at: 20.0 + 0.3 * at, 40)[-1] - (20.0 + 0.3 * 40)) > 0.5  # what is shown is further off


def test_what_stands_between_two_steps_stays_calm() -> None:
    values = [22.0, 22.1, 22.0, 22.1, 22.0, 22.1, 22.0, 22.1]
    assert abs(estimate(run(values), 7.0, BY) - 22.05) < 0.15


def test_another_source_starts_anew_without_a_slope() -> None:
    track = follow(run([20.0, 21.0, 22.0]), 30.0, 0.0, 3.0, "b", BY)
    assert (track.level, track.slope) == (30.0, 0.0)


def test_a_register_that_is_not_renewed_yet_tells_nothing_new() -> None:
    by = Transmitter(2.0, 0.1, refresh=5.0)
    track = run([20.0] * 5 + [21.0], by)
    assert follow(track, 21.0, 0.0, 6.0, "a", by) is track
    assert follow(track, 21.0, 0.0, 10.0, "a", by).at == 10.0
    assert follow(track, 21.5, 0.0, 6.0, "a", by).at == 6.0


@given(st.lists(st.floats(-20.0, 110.0), min_size=1, max_size=30), st.floats(0.0, 1000.0))
def test_any_readings_give_a_finite_estimate(values: list[float], later: float) -> None:
    assert math.isfinite(estimate(run(values), len(values) + later, BY))


def test_an_old_slope_is_not_believed_for_long() -> None:
    track = run([20.0, 21.0, 22.0, 23.0])
    assert estimate(track, 100.0, BY) == pytest.approx(estimate(track, 7.0, BY), abs=1.0)
