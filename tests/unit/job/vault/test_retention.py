from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.vault.retention import InMemory, list_removable, make_room

STEPS = st.sets(st.integers(0, 40), max_size=15)


def test_the_newest_and_every_kth_stay() -> None:
    wholes = {10, 20, 25, 30, 40, 50}

    assert list_removable(wholes | {5, 45}, wholes, 2, 0) == [5, 10, 20, 25, 30]
    assert list_removable(wholes | {5}, wholes, 2, 20) == [5, 10, 25, 30]


@given(STEPS, STEPS, st.integers(2, 5), st.integers(0, 7))
def test_an_old_step_goes_only_when_newer_ones_are_durable(others: set[int], wholes: set[int], keep: int, every: int) -> None:
    gone = set(list_removable(others | wholes, wholes, keep, every))

    for step in gone:
        assert sum(1 for whole in wholes - gone if whole > step) >= keep
    assert not gone & set(sorted(wholes)[-keep:])
    if not wholes:
        assert not gone


def memory(step: int, safe: bool, size: int = 10, ranks: int = 2, job: str = "a") -> InMemory:
    return InMemory(job=job, step=step, ranks=ranks, size=size, safe=safe)


def test_what_is_durable_and_not_among_the_newest_two_leaves_at_once() -> None:
    room = make_room([memory(step, True) for step in (1, 2, 3, 4)], 1000)

    assert (room.go, room.lost, room.used, room.text) == ([("a", 1), ("a", 2)], [], 20, "")


def test_what_is_not_durable_stays_below_the_limit_and_leaves_the_oldest_first_above_it() -> None:
    steps = [memory(step, False) for step in (1, 2, 3, 4)]

    assert make_room(steps, 40).go == []
    room = make_room(steps, 35)
    assert (room.go, room.lost, room.text) == ([("a", 1)], [("a", 1)], "")


def test_the_newest_two_never_go_and_it_is_said_that_there_is_no_room() -> None:
    room = make_room([memory(step, False) for step in (1, 2, 3)], 15)

    assert room.go == [("a", 1)]
    assert room.text == "shared memory holds 20 bytes of checkpoints that must stay, and the limit is 15"


def test_a_step_that_is_just_being_saved_is_none_of_the_newest_two() -> None:
    assert make_room([memory(1, True), memory(2, True), memory(3, True, ranks=1)], 1000).go == []


def test_a_job_does_not_push_out_another() -> None:
    assert make_room([memory(1, False, job="a"), memory(2, False, job="a"), *(memory(s, False, job="b") for s in (8, 9))], 5).go == []


MEMORY = st.builds(memory, st.integers(0, 30), st.booleans(), st.integers(0, 100), st.integers(0, 2), st.sampled_from("ab"))


@given(st.lists(MEMORY, max_size=20, unique_by=lambda one: (one.job, one.step)), st.integers(0, 500))
def test_two_full_steps_remain_and_what_is_said_is_true(steps: list[InMemory], limit: int) -> None:
    room = make_room(steps, limit)

    for job in {one.job for one in steps}:
        mine = [one for one in steps if one.job == job]
        most = max(one.ranks for one in mine)
        left = [one for one in mine if (job, one.step) not in room.go and one.ranks == most]
        assert len(left) >= min(2, sum(1 for one in mine if one.ranks == most))
    assert room.used == sum(one.size for one in steps if (one.job, one.step) not in room.go)
    assert bool(room.text) == (room.used > limit)
    assert set(room.lost) <= set(room.go)
    assert not room.lost or sum(one.size for one in steps) > limit
