from __future__ import annotations

import logging

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.periodic import Periodic
from supernoded.job.protocol import Agreed, Beat, Durable, Request, Saved, Saving
from supernoded.settings.vault import Interval
from tests.unit.job.daemon import Caller, Side

LEAST, MOST = 60.0, 3600.0
WITHIN = 120.0, 240.0


class House:
    """A daemon that asks, and its ranks."""

    def __init__(self, mtbf_h: float = 24.0) -> None:
        self.side = Side()
        log = logging.getLogger("test.periodic")
        self.periodic = Periodic(self.side.server, self.side.clock, log, Interval(mtbf_h=mtbf_h), WITHIN)

    async def wait(self, seconds: float) -> None:
        await self.side.clock.advance(seconds)
        self.side.server.pass_time()
        self.periodic.look()

    def save(self, rank: Caller, request: Request, step: int, seconds: float = 1.0) -> None:
        agreed = Agreed(request=request.id, number=request.number, step=step)
        rank.say(agreed, Saving(step=step), Saved(step=step, size=1, seconds=seconds))

    def make_durable(self, step: int) -> None:
        vault = self.side.start_other("vault")
        vault.say(Durable(step=step, tier="durable", where="/disk", taken=self.side.clock.wall(), seconds=1.0))
        vault.hang_up()


def find_requests(rank: Caller) -> list[Request]:
    return [message for message in rank.hears() if isinstance(message, Request)]


async def test_it_asks_at_the_interval_and_not_before() -> None:
    house = House()
    rank = house.side.start_rank(0, 1)
    rank.say(Beat(step=1))
    await house.wait(LEAST - 1)
    assert find_requests(rank) == []
    await house.wait(1)
    (first,) = find_requests(rank)
    assert (first.kind, first.deadline_s, first.hard_s, first.reason) == ("checkpoint", *WITHIN, "every 60 s")
    house.save(rank, first, 2)
    house.make_durable(2)
    advice = house.periodic.advices["train"]
    await house.wait(LEAST)
    seconds = house.periodic.advices["train"].seconds
    assert seconds > 5 * advice.seconds, "a save of 1 s is worth its time every seven minutes"
    await house.wait(seconds - LEAST - 1)
    assert find_requests(rank) == []
    await house.wait(1 + 1)
    assert len(find_requests(rank)) == 1


async def test_it_waits_while_a_request_is_open_and_while_a_rank_saves() -> None:
    house = House()
    rank = house.side.start_rank(0, 1)
    rank.say(Beat(step=1))
    house.side.server.ask("train", "hand", "checkpoint", "by hand", WITHIN)
    (asked,) = find_requests(rank)
    await house.wait(WITHIN[0] + 1)
    house.save(rank, asked, 2, seconds=0.001)
    await house.wait(WITHIN[1] - WITHIN[0] - 2)
    assert find_requests(rank) == [], "it is saved and not durable"
    rank.say(Saving(step=9))
    await house.wait(10)
    assert find_requests(rank) == []
    rank.say(Beat(step=9))
    await house.wait(1)
    assert len(find_requests(rank)) == 1, "storage in trouble does not end all saving"


async def test_a_save_by_the_script_itself_puts_it_off() -> None:
    house = House()
    rank = house.side.start_rank(0, 1)
    rank.say(Beat(step=1))
    await house.wait(LEAST - 1)
    house.make_durable(1)
    await house.wait(LEAST - 1)
    assert find_requests(rank) == []
    await house.wait(1)
    assert len(find_requests(rank)) == 1


async def test_only_the_node_of_the_first_rank_asks() -> None:
    house = House()
    rank = house.side.start_rank(1, 2)
    rank.say(Beat(step=1))
    await house.wait(MOST)
    assert (find_requests(rank), dict(house.periodic.advices)) == ([], {})


async def test_a_change_of_more_than_a_quarter_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    house = House(mtbf_h=1.0)
    caplog.set_level(logging.INFO)
    rank = house.side.start_rank(0, 1)

    async def told(stall: float) -> int:
        caplog.clear()
        job = house.side.server.jobs["train"]
        job.kept = msgspec.structs.replace(job.kept, stalls=(stall,))
        await house.wait(0.25)
        await house.wait(0.25)
        return len([line for line in caplog.messages if "a checkpoint every" in line])

    assert [await told(stall) for stall in (2.0, 2.2, 5.0, 5.0)] == [1, 0, 1, 0]
    assert rank.wire.closed is False


async def test_failures_bring_it_closer() -> None:
    house = House(mtbf_h=1.0)
    job = house.side.server.open_job("train")
    house.side.start_rank(0, 1)
    job.kept = msgspec.structs.replace(job.kept, stalls=(2.0,))
    await house.wait(1.0)
    before = house.periodic.advices["train"].seconds
    job.failures.count = 2
    await house.wait(1.0)
    assert house.periodic.advices["train"].seconds < before
    assert "(2 in" in house.periodic.advices["train"].text


@given(waits=st.lists(st.floats(0.25, 400.0), min_size=1, max_size=30), stall=st.floats(0.0, 30.0))
async def test_never_sooner_than_the_shortest_after_the_last_durable_step(waits: list[float], stall: float) -> None:
    house = House()
    rank = house.side.start_rank(0, 1)
    rank.say(Beat(step=1))
    durable_at: float | None = None
    for step, seconds in enumerate(waits, start=2):
        await house.wait(seconds)
        now = house.side.clock.now()
        requests = find_requests(rank)
        assert not requests or durable_at is None or now - durable_at >= LEAST
        for request in requests:
            house.save(rank, request, step, stall)
            house.make_durable(step)
            durable_at = now
