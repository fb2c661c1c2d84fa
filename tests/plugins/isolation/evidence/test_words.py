"""When evidence is enough, how looks are counted, and what the library's log names."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_isolation.evidence import JOB_VIEWS, Bounds, Evidence, find_blame, follow, say
from supernoded_isolation.evidence.log_view import find_named
from supernoded_isolation.evidence.pace import score
from supernoded_isolation.evidence.words import DRIVER_VIEWS

VIEWS = ["ranks", "peers", "pace", "tool", "bus", "memory", "network", "history"]
BOUNDS = Bounds(2, 3)


def make_pieces(views: Sequence[str], grave: st.SearchStrategy[bool]) -> st.SearchStrategy[list[Evidence]]:
    one = st.builds(Evidence, st.sampled_from(views), st.just(0.0), st.sampled_from("abc"), grave, st.integers(1, 5), st.booleans())
    return st.lists(one, max_size=6)


PIECES = make_pieces(VIEWS, st.booleans())


@given(PIECES)
def test_no_blame_without_two_views_or_a_second_look(pieces: list[Evidence]) -> None:
    blame = find_blame(pieces, BOUNDS)
    settled = [one for one in pieces if not one.hang or one.looks >= BOUNDS.hang]
    told = frozenset(one.view for one in settled if not one.hang and one.view in DRIVER_VIEWS)
    unseen = {one.view for one in settled if one.hang and one.view in DRIVER_VIEWS}
    others = {one.view for one in settled} - DRIVER_VIEWS
    both = any(one != other for one in unseen for other in unseen | told)  # what is said is of one moment here
    two = both or (bool(told | unseen | others - JOB_VIEWS) and len(others | ({"driver"} if told | unseen else set())) >= 2)
    sure = any(one.grave and one.looks >= BOUNDS.grave for one in settled)
    assert bool(blame) is (two or sure)
    assert set(blame) <= set(pieces)


@given(make_pieces(sorted(JOB_VIEWS), st.just(value=False)))
def test_what_the_job_says_alone_blames_no_card(pieces: list[Evidence]) -> None:
    assert find_blame(pieces, BOUNDS) == ()


@given(PIECES)
def test_more_of_the_same_view_is_not_another_view(pieces: list[Evidence]) -> None:
    assert bool(find_blame(pieces, BOUNDS)) == bool(find_blame([*pieces, *pieces], BOUNDS))


def test_only_a_later_look_counts() -> None:
    seen = Evidence("tool", 10.0, "no answer", hang=True)
    marks = follow({}, [seen], 10.0, 60.0)
    marks = follow(marks, [seen], 15.0, 60.0)
    assert [mark.looks for mark in marks.values()] == [1]
    marks = follow(marks, [Evidence("tool", 20.0, "no answer", hang=True)], 20.0, 60.0)
    assert [(mark.looks, mark.first) for mark in marks.values()] == [(2, 10.0)]
    assert follow(marks, [], 25.0, 60.0) == {}


def test_memory_errors_stand_for_a_while() -> None:
    marks = follow({}, [Evidence("memory", 10.0, "2 came", passing=True)], 10.0, 60.0)
    assert follow(marks, [], 60.0, 60.0) == marks
    assert follow(marks, [], 70.0, 60.0) == {}


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[ERROR] HCCL(41,python):2026-01-01 [transport.cc:3][7] wait for remote notify timeout, remote rank[7]", 7),
        ("[ERROR] connect to peer_rank:12 failed, local rank[3]", 12),
        ("[ERROR] EI0006 dstRank[5] no socket in 120 s", 5),
        ("[ERROR] localRank[3] timed out", None),
        ("[ERROR] my rank 3 is slow", None),
        ("rank", None),
        ("", None),
    ],
)
def test_the_rank_at_the_other_end(line: str, rank: int | None) -> None:
    assert find_named(line) == rank


@given(st.text(max_size=3000))
def test_no_line_breaks_it(line: str) -> None:
    named = find_named(line)
    assert named is None or named >= 0


@given(st.lists(st.floats(0.5, 0.6), min_size=4, max_size=64))
def test_ordinary_noise_makes_no_straggler_of_many(values: list[float]) -> None:
    assert sum(abs(z) > 5.0 for z in score(values)) <= len(values) // 2


def test_one_that_takes_a_third_longer_stands_out() -> None:
    *others, slow = score([1.0, 1.02, 0.99, 1.01, 1.0, 0.98, 1.03, 1.35])
    assert slow > 5.0
    assert max(map(abs, others)) < 5.0


def test_a_sentence_is_not_endless() -> None:
    assert say([Evidence("tool", 0.0, f"code {number}") for number in range(50)]).endswith("and 44 more")
    assert len(say([Evidence("tool", 0.0, str(number) * 5_000) for number in range(9)])) < 1_800
