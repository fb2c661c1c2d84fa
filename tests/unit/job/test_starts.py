from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.job import starts
from supernoded.job.starts import MOST_LIVES, Starts


def come_all(now: Starts, life: str, ranks: int = 4) -> Starts:
    for rank in range(ranks):
        now = starts.come(now, rank, f"{life}{rank}")
    return now


def test_all_ranks_that_come_anew_are_one_start() -> None:
    first = come_all(Starts(), "a")
    assert first.incarnation == 1
    assert come_all(first, "b").incarnation == 2


def test_a_process_that_dials_again_is_no_start() -> None:
    first = come_all(Starts(), "a")
    assert come_all(first, "a") == first


def test_the_launchers_word_and_the_ranks_that_follow_it_are_one_start() -> None:
    told = starts.resume(come_all(Starts(), "a"), 1)
    assert told.incarnation == 2
    assert come_all(told, "b").incarnation == 2


def test_ranks_that_come_before_the_launchers_word_are_the_same_start() -> None:
    assert starts.resume(come_all(come_all(Starts(), "a"), "b"), 1).incarnation == 2


def test_a_start_in_the_same_processes_is_over_with_a_step_and_another_process_is_the_next() -> None:
    told = starts.resume(come_all(Starts(), "a"), 1)
    for rank in range(4):
        told = starts.step(told, rank)
    assert come_all(told, "b").incarnation == 3


def test_the_launchers_word_counts_where_no_rank_runs() -> None:
    assert starts.resume(Starts(incarnation=7), 7) == Starts(incarnation=8)
    assert starts.resume(Starts(incarnation=7), 6) == Starts(incarnation=7)


def test_older_clients_count_for_none_and_many_are_not_all_remembered() -> None:
    assert starts.come(Starts(), 0, "") == Starts()
    many = come_all(Starts(), "a", MOST_LIVES + 9)
    assert len(many.lives) == MOST_LIVES
    assert come_all(many, "a", MOST_LIVES + 9) == many


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "a", "b", "c" * 99]), st.booleans(), st.booleans()), max_size=40))
def test_no_start_is_ever_taken_back(events: list[tuple[int, str, bool, bool]]) -> None:
    now = Starts()
    for rank, life, launched, stepped in events:
        after = starts.come(now, rank, life)
        after = starts.resume(after, after.incarnation) if launched else after
        after = starts.step(after, rank) if stepped else after
        assert now.incarnation <= after.incarnation <= now.incarnation + 2
        assert all(len(one) <= 32 for one in after.lives.values())
        now = after
