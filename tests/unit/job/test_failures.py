from __future__ import annotations

import pytest

from supernoded.job.failures import Failures
from supernoded.job.protocol import Beat, Bye, Saved, Saving
from supernoded.job.training import GRACE, Kept
from tests.unit.job.daemon import Caller, Side


async def pass_seconds(side: Side, seconds: float) -> None:
    await side.clock.advance(seconds)
    side.server.pass_time()


def start(side: Side, *, world: int = 2) -> list[Caller]:
    return [side.start_rank(rank, world) for rank in range(world)]


def count(side: Side) -> int:
    return side.server.jobs["train"].kept.failures


async def test_ranks_that_die_together_are_one_failure_until_the_job_is_complete_again() -> None:
    side = Side()
    first, second = start(side)
    first.say(Beat(step=10))
    first.hang_up()
    await pass_seconds(side, GRACE)
    assert count(side) == 1
    second.say(Beat(step=10))
    second.hang_up()
    await pass_seconds(side, GRACE)
    assert count(side) == 1
    again = start(side)
    for rank in again:
        rank.say(Beat(step=6))  # it fell back, which is the same failure
        await pass_seconds(side, 1.0)
    assert count(side) == 1
    again[0].hang_up()
    await pass_seconds(side, GRACE)
    assert count(side) == 2


async def test_a_job_that_comes_back_at_once_at_an_older_step_has_failed() -> None:
    """Within the time in which a lost connection is no loss."""
    side = Side()
    for rank in start(side):
        rank.say(Beat(step=10))
        rank.hang_up()
    again = start(side)
    again[0].say(Beat(step=6))
    again[1].say(Beat(step=6))
    await pass_seconds(side, 1.0)
    assert count(side) == 1


async def test_a_connection_that_is_dialled_again_is_no_failure() -> None:
    side = Side()
    first, _ = start(side)
    first.say(Beat(step=10))
    first.hang_up()
    await pass_seconds(side, GRACE / 2)
    side.start_rank(0, step=10).say(Beat(step=10))
    await pass_seconds(side, GRACE)
    assert count(side) == 0


async def test_who_stops_in_order_and_goes_on_where_it_stopped_has_not_failed() -> None:
    side = Side()
    for rank in start(side):
        rank.say(Beat(step=10), Saving(step=10), Saved(step=10, size=1, seconds=0.1), Bye(step=10))
        rank.hang_up()
    await pass_seconds(side, 60.0)
    for rank in start(side):
        rank.say(Beat(step=11))
    await pass_seconds(side, GRACE)
    assert count(side) == 0


async def test_a_node_that_was_down_sees_that_its_job_fell_back() -> None:
    """The daemon has just started: what it knows of the time before is its file."""
    side = Side()
    side.server.open_job("train", Kept(world=2, saved_step=200, failures=3, watched=1000.0))
    first, second = start(side)
    first.say(Beat(step=101))
    second.say(Beat(step=101))
    await pass_seconds(side, 10.0)
    kept = side.server.jobs["train"].kept
    assert (kept.failures, kept.watched) == (4, 1010.0)


async def test_a_daemon_that_was_down_while_its_ranks_went_on_counts_nothing() -> None:
    side = Side()
    side.server.open_job("train", Kept(world=2, saved_step=200))
    side.start_rank(0, step=150).say(Beat(step=151))
    await pass_seconds(side, 1.0)
    assert count(side) == 0


@pytest.mark.parametrize(("here", "watched"), [(True, 20.0), (False, 10.0)])
def test_only_time_with_ranks_is_watched(here: bool, watched: float) -> None:
    seen = Failures(0, 0.0)
    seen.look(5.0, here=True, lost=False, missing=False)
    seen.look(15.0, here=here, lost=False, missing=False)
    assert seen.find_watched(25.0) == watched
