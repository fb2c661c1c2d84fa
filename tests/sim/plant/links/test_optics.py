"""Light, and the errors before and after correction."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.links import optics
from sim_hardware.plant.links.coding import FLOOR, correct, uncorrect
from sim_hardware.plant.links.ramps import Ramp

RATES = st.floats(1e-15, 0.5)


def test_a_block_corrects_fifteen_symbols() -> None:
    """Against the plain sum with exact binomials."""
    for before in (2.4e-4, 5e-4, 2e-3):
        wrong = 1.0 - (1.0 - before) ** 10
        plain = sum(i / 544 * math.comb(544, i) * wrong**i * (1 - wrong) ** (544 - i) for i in range(16, 545)) * before / wrong
        assert correct(before) == pytest.approx(max(FLOOR, plain), rel=1e-6)


@given(RATES, RATES)
def test_more_errors_before_are_never_fewer_after(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert FLOOR <= correct(low) <= correct(high) * (1 + 1e-9) <= 0.5 * (1 + 1e-9)


@given(st.floats(1e-14, 0.4))
def test_the_inverse_is_one(after: float) -> None:
    assert correct(uncorrect(after)) == pytest.approx(after, rel=1e-5)


def test_the_standards_threshold_is_where_the_cliff_is() -> None:
    """2.4e-4 before correction is what IEEE 802.3 asks of a lane."""
    assert correct(2.4e-4) < 1e-14
    assert correct(1e-3) > 1e-8


def test_a_fibre_loses_light_below_thirty_millimetres_only() -> None:
    assert optics.lose_by_bend(None) == optics.lose_by_bend(30.0) == 0.0
    assert 0.0 < optics.lose_by_bend(25.0) < optics.lose_by_bend(15.0)


@given(st.floats(0.0, 30.0), st.floats(0.0, 30.0))
def test_less_light_is_more_errors(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert optics.misread(optics.to_share(high)) >= optics.misread(optics.to_share(low))


def test_an_old_laser_draws_more() -> None:
    assert optics.bias(0.0, 40.0) < optics.bias(0.5, 40.0) < optics.bias(0.5, 60.0)
    assert optics.bias(0.95, 40.0) == 180.0


@given(st.floats(-15.0, -3.0), st.floats(-15.0, -3.0), st.floats(50.0, 1000.0), st.floats(1.0, 1200.0))
def test_the_mean_of_a_ramp_is_its_integral(first: float, last: float, duration: float, until: float) -> None:
    ramp = Ramp(10.0, 10.0 + duration, 10.0**first, 10.0**last)
    parts = 3000
    plain = sum(ramp.at(until * (number + 0.5) / parts) for number in range(parts)) / parts
    assert ramp.mean(0.0, until) == pytest.approx(plain, rel=0.02)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_the_means_of_parts_make_the_mean_of_the_whole(one: int, two: int, three: int) -> None:
    first, middle, last = sorted((one, two, three))
    ramp = Ramp(100.0, 300.0, 1e-15, 1e-8)
    whole = ramp.mean(first, last) * (last - first)
    assert ramp.mean(first, middle) * (middle - first) + ramp.mean(middle, last) * (last - middle) == pytest.approx(whole, rel=1e-9)


def test_a_ramp_tells_when_it_crosses() -> None:
    ramp = Ramp(0.0, 100.0, 1e-15, 1e-5)
    when = ramp.find_crossing(1e-12, 0.0)
    assert when == pytest.approx(30.0)
    assert ramp.at(when) == pytest.approx(1e-12)
    assert ramp.find_crossing(1e-12, when) == math.inf
    assert ramp.find_crossing(1e-3, 0.0) == math.inf
