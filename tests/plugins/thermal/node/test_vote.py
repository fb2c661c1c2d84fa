"""A highest is held against the medians on both sides of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_thermal.node.vote import Series, Vote, vote

STEADY = [(float(at), 58.0) for at in (3, 13, 23, 33)]


@pytest.mark.parametrize(
    ("highest", "medians", "celsius", "is_out"),
    [
        ([(20.0, 64.0)], STEADY, 64.0, False),
        ([(20.0, 150.0)], STEADY, 73.0, True),
        ([(20.0, 60.0), (40.0, 150.0)], STEADY, 73.0, True),  # a jump that no die makes, before the next median
        ([(20.0, 150.0), (40.0, 150.0)], STEADY, 73.0, True),  # it was mad before
        ([(30.0, 60.0), (40.0, 95.0)], STEADY, 95.0, False),  # as fast as dies can: believed until the next median
        ([(30.0, 60.0), (40.0, 95.0)], [*STEADY, (43.0, 60.0)], 75.0, True),
        ([(30.0, 60.0), (40.0, 95.0)], [*STEADY, (43.0, 88.0)], 95.0, False),
        ([(30.0, 95.0)], [(25.0, 90.0), (35.0, 55.0)], 95.0, False),  # it fell in between
        ([(20.0, 150.0)], [], 150.0, False),
        ([(200.0, 150.0)], STEADY, 150.0, False),  # nobody knows what the median is now
    ],
)
def test_what_counts(highest: Series, medians: Series, celsius: float, is_out: bool) -> None:
    found = vote(highest, medians, 15.0)
    assert found.celsius == celsius
    assert (found.median is not None) == is_out


series = st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(5.0, 150.0)), max_size=8).map(sorted)


@given(highest=series.filter(bool), medians=series, spread=st.floats(1.0, 60.0))
def test_a_vote_only_lowers_and_never_below_what_the_median_allows(highest: Series, medians: Series, spread: float) -> None:
    found = vote(highest, medians, spread)
    assert found.celsius <= highest[-1][1]
    assert found == Vote(highest[-1][1]) or (found.median is not None and found.celsius == found.median + spread)
