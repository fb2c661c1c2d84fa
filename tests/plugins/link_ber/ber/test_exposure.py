"""Windows of errors and bits, and their arithmetic."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_link_ber.ber.exposure import Span, find_bounds, find_clean, find_worst, remember, sum_newest, sum_since, surprise


def find_tail(expected: float, errors: int) -> float:
    """The chance of so many or more."""
    return 1.0 - sum(math.exp(-expected + n * math.log(expected) - math.lgamma(n + 1)) for n in range(errors))


def test_surprise_bounds_the_poisson_tail() -> None:
    for expected in (0.1, 1.0, 20.0):
        for errors in range(int(expected) + 1, 60):
            assert math.exp(-surprise(errors, expected)) >= find_tail(expected, errors) - 1e-12
    assert surprise(0, 3.0) == pytest.approx(3.0)  # zero errors in 3e12 bits: 95 % (Q5)
    assert surprise(5.0, 5.0) == pytest.approx(0.0)


@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(1.0, 1e13)), min_size=1, max_size=200))
def test_spans_lose_nothing_and_stay_few(polls: list[tuple[int, float]]) -> None:
    spans: tuple[Span, ...] = ()
    for at, (errors, bits) in enumerate(polls):
        spans = remember(spans, Span(float(at), float(errors), bits), -1.0)
        assert spans[0] == Span(float(at), float(errors), bits)  # the newest poll is never joined
    whole = sum_newest(spans, len(spans))
    assert whole.errors == sum(errors for errors, _ in polls)
    assert whole.bits == pytest.approx(sum(bits for _, bits in polls))
    assert whole.since == 0.0
    assert len(spans) <= 2 * (1 + math.log2(len(polls) + 1))
    assert [span.since for span in spans] == sorted((span.since for span in spans), reverse=True)


def test_old_spans_go() -> None:
    spans: tuple[Span, ...] = ()
    for at in range(1000):
        spans = remember(spans, Span(float(at), 1.0, 1.0), at - 100.0)
    assert spans[-1].since >= 899.0
    assert sum_newest(spans, len(spans)).errors > 25


def test_worst_and_clean_windows() -> None:
    spans = (Span(20.0, 0.0, 4e12), Span(10.0, 50.0, 1e12), Span(0.0, 0.0, 1e12))
    score, worst = find_worst(spans, 1e-12, 3)
    assert worst == 2
    assert score == pytest.approx(surprise(50.0, 5.0))
    assert find_worst(spans[:1], 1e-12, 3) == (0.0, 0)
    assert find_clean(spans, 1e-12, 3.0, 20.0) == 1
    assert find_clean(spans, 1e-12, 3.0, 15.0) == 0
    assert sum_since(spans, 12.0).bits == 5e12
    assert sum_since(spans, -99.0).bits == 6e12


@pytest.mark.parametrize("errors", [2, 3, 8, 40, 400])
def test_the_interval_leaves_a_fortieth_on_each_side(errors: int) -> None:
    low, high = find_bounds(errors)
    assert find_tail(low, errors) == pytest.approx(0.025, rel=0.13)  # Garwood's exact interval; Byar's is worst with few errors
    assert 1.0 - find_tail(high, errors + 1) == pytest.approx(0.025, rel=0.13)


def test_no_error_leaves_a_bound() -> None:
    low, high = find_bounds(0.0)
    assert low == 0.0
    assert high == pytest.approx(3.69, rel=0.02)
