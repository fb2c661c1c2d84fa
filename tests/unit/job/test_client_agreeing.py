from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.client import Job, Request, connect


def agree_together(ranks: list[Job], requests: list[Request | None], steps: list[int]) -> list[Request | None]:
    """All ranks at one step: what each gives, reduced, and what each then answers."""
    given: list[int] = []

    class AskedError(Exception):
        pass

    def note(value: int) -> int:
        given.append(value)
        raise AskedError

    for rank, request, step in zip(ranks, requests, steps, strict=True):
        with pytest.raises(AskedError):
            rank.agree(request, step, note)
    return [rank.agree(request, step, lambda _: max(given)) for rank, request, step in zip(ranks, requests, steps, strict=True)]


def lone_ranks(world: int) -> list[Job]:
    return [connect("train", rank, world=world, path="/nowhere/job.sock") for rank in range(world)]


CHECKPOINT, STOP = Request("a", 3, "checkpoint"), Request("b", 2, "stop")


def test_ranks_that_have_not_heard_learn_of_it_through_the_collective() -> None:
    answers = agree_together(lone_ranks(3), [None, CHECKPOINT, None], [7, 7, 7])
    assert [answer and answer.number for answer in answers] == [3, 3, 3]
    assert [answer and answer.id for answer in answers] == ["", "a", ""]


def test_nobody_saves_when_all_know_that_it_is_withdrawn() -> None:
    assert agree_together(lone_ranks(3), [None] * 3, [10**12 - 1] * 3) == [None] * 3


def test_a_stop_outranks_a_later_checkpoint() -> None:
    answers = agree_together(lone_ranks(2), [CHECKPOINT, STOP], [7, 7])
    assert [answer and answer.stop for answer in answers] == [True, True]


@given(st.lists(st.sampled_from([None, CHECKPOINT, STOP]), min_size=3, max_size=3), st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_ranks_that_count_apart_still_save_the_same_step(requests: list[Request | None], ahead: list[int]) -> None:
    """Ranks that are asked at different steps in one collective, such as stages of a pipeline."""
    ranks = lone_ranks(3)
    saved: dict[int, int] = {}
    for turn in itertools.count():
        steps = [turn + lead for lead in ahead]
        held = [None if number in saved else request for number, request in enumerate(requests)]
        for number, answer in enumerate(agree_together(ranks, held, steps)):
            if answer is not None:
                saved.setdefault(number, steps[number])
        if len(saved) == 3 or turn > 4:
            break
    winning = STOP if STOP in requests else CHECKPOINT
    holders = [lead for lead, request in zip(ahead, requests, strict=True) if request is winning]
    if not holders:
        assert not saved
    elif max(holders) == max(ahead):
        assert len(set(saved.values())) == 1
