from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.vault.interval import estimate_mtbf, find_daly, find_interval, find_young
from supernoded.settings.vault import Interval

WIDE = Interval(least_s=1, most_s=604_800, least_saves=1, mtbf_h=24)


def cost(interval: float, save: float, mtbf: float) -> float:
    """Daly's complete model of the wall-clock time of a job of unit length, without the time to restart."""
    return mtbf * (math.exp((interval + save) / mtbf) - 1) / interval


@pytest.mark.parametrize(("save", "mtbf"), [(1.0, 3600.0), (60.0, 86_400.0), (300.0, 3600.0)])
def test_dalys_interval_is_near_the_best_of_his_own_model_and_not_worse_than_youngs(save: float, mtbf: float) -> None:
    best = min(cost(seconds, save, mtbf) for seconds in range(10, 20_000, 5))

    assert cost(find_daly(save, mtbf), save, mtbf) <= best * 1.0005
    assert cost(find_daly(save, mtbf), save, mtbf) <= cost(find_young(save, mtbf), save, mtbf) * 1.00001


def test_a_save_that_takes_longer_than_failures_are_apart() -> None:
    assert find_daly(500.0, 100.0) == 100.0


def test_what_was_seen_moves_the_estimate_and_one_early_failure_does_not_own_it() -> None:
    day = 86_400.0

    assert estimate_mtbf(0, 0.0, day) == day
    assert estimate_mtbf(1, 3600.0, day) == (day + 3600) / 2
    assert estimate_mtbf(99, 99 * 3600.0, day) == pytest.approx(3600, rel=0.3)


def test_the_bounds_are_said() -> None:
    assert "cut to the longest" in find_interval(60.0, 0, 1e9, Interval()).text
    raised = find_interval(30.0, 50, 3600.0, Interval())
    assert raised.seconds == 600.0
    assert raised.text.endswith("raised to 20 saves")
    free = find_interval(10.0, 0, 0.0, WIDE)
    assert free.text.startswith("a checkpoint every 1308 s: a save takes 10 s and failures are 24 h apart (0 in 0 h)")


@given(st.floats(), st.integers(-5, 10**6), st.floats(), st.floats(1, 1000))
def test_any_measurement_gives_an_interval_within_its_bounds(save: float, failures: int, observed: float, saves: float) -> None:
    settings = Interval(least_s=60, most_s=3600, least_saves=saves)
    seconds = find_interval(save, failures, observed, settings).seconds

    assert seconds >= 60
    if math.isfinite(save):
        assert seconds >= min(saves * save, 1e300)
        assert seconds <= max(3600, saves * max(save, 0))
