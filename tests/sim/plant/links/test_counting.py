"""Counts as a pure function of what was to be expected."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.chance import start_chance
from sim_hardware.plant.links.counting import count_arrivals
from sim_hardware.plant.links.widths import PMA_BITS, WIDE, saturate, saturate_pma

GENERATORS = st.integers(0, 2**64 - 1)


@given(GENERATORS, st.lists(st.floats(0.0, 1e9), min_size=2, max_size=30))
def test_never_falls(chance: int, expected: list[float]) -> None:
    counts = [count_arrivals(chance, level) for level in sorted(expected)]
    assert counts == sorted(counts)


@given(GENERATORS, st.floats(0.0, 1e13))
def test_is_near_what_is_expected(chance: int, expected: float) -> None:
    assert abs(count_arrivals(chance, expected) - expected) <= 8.0 * math.sqrt(expected) + 20.0


def test_mean_and_variance_are_those_of_a_poisson_process() -> None:
    for expected in (0.3, 3.7, 100.0, 5000.0):
        counts = [count_arrivals(start_chance(7, str(number)), expected) for number in range(2000)]
        mean = sum(counts) / len(counts)
        variance = sum((count - mean) ** 2 for count in counts) / len(counts)
        assert abs(mean - expected) < 4.0 * math.sqrt(expected / len(counts))
        assert 0.85 < variance / expected < 1.15


def test_neighbouring_times_are_independent() -> None:
    """What came in [0, 10) says nothing about what comes in [10, 20)."""
    pairs = [(count_arrivals(c, 10.0), count_arrivals(c, 20.0)) for c in (start_chance(1, str(n)) for n in range(3000))]
    first, second = [one for one, _ in pairs], [both - one for one, both in pairs]
    products = [(a - 10.0) * (b - 10.0) for a, b in zip(first, second, strict=True)]
    assert abs(sum(products) / len(products)) < 4.0 * 10.0 / math.sqrt(len(products))


def test_nothing_is_expected_and_nothing_comes() -> None:
    assert count_arrivals(5, 0.0) == 0


@given(st.sampled_from(sorted(PMA_BITS)), st.floats(0.0, 1e18))
def test_a_register_stays_at_its_ceiling(quantity: str, count: float) -> None:
    ceiling = 2 ** PMA_BITS[quantity] - 1
    assert saturate_pma(quantity, count) == (int(count) if count < ceiling else ceiling)


def test_what_has_no_narrow_register_is_wide() -> None:
    assert saturate_pma("link.bits", 2.0**40) == 2**40
    assert saturate(2.0**70) == 2**WIDE - 1
