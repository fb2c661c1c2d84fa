"""The simulated database fails as a lost server does: in bounded time, with what was done kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sim_hardware.drives.database import PATIENCE, SimDatabase
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import virtual_time
from sim_hardware.net import Net
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.journal.entries import Bid
from supernoded.journal.writer import Journal
from tests.unit.worlds import LOG

ROLE = "fleet"


def play(folder: Path, work: Callable[[SimDatabase, Journal], Awaitable[None]], skew: float = 0.0) -> None:
    """Do the work on the host n0."""
    loop = SimLoop(1)
    server = SimDatabase(Net(loop))

    async def live() -> None:
        await work(server, server.open("n0", folder / "database.db", SimClock(loop, "n0", skew=skew), LOG))

    async def main() -> None:
        server.start()
        assert await loop.spawn("n0", live).ended == 0

    with virtual_time(loop):
        loop.run_until_complete(main())
    assert loop.failures == []


async def take(journal: Journal, term: float = 10.0) -> float:
    found = await journal.commit(entries.bid([Bid(ROLE)], "n0#1", 0.0, term))
    return found.ours[ROLE].until - found.time


Break = Callable[[SimDatabase], None]


def stall(server: SimDatabase) -> None:
    server.stalled = True


def cut(server: SimDatabase) -> None:
    server.net.partition("n0", "database")


def stop(server: SimDatabase) -> None:
    server.stop()


@pytest.mark.parametrize(("break_it", "within"), [(cut, 2 * PATIENCE + 0.5), (stall, 2 * PATIENCE + 0.5), (stop, 0.1)])
def test_what_cannot_be_reached_is_an_error_in_bounded_time(tmp_path: Path, break_it: Break, within: float) -> None:
    async def work(server: SimDatabase, journal: Journal) -> None:
        await take(journal)
        break_it(server)
        began = server.net.loop.time()
        with pytest.raises(JournalError):
            await take(journal)
        assert server.net.loop.time() - began <= within
        assert journal.health

    play(tmp_path, work)


def test_what_was_written_is_there_when_the_server_is_back(tmp_path: Path) -> None:
    async def work(server: SimDatabase, journal: Journal) -> None:
        await take(journal)
        server.stop()
        await asyncio.sleep(2.0)
        server.start()
        await asyncio.sleep(2.0)
        assert [lease.role for lease in await journal.commit(entries.all_leases())] == [ROLE]

    play(tmp_path, work)


def test_an_answer_that_is_lost_on_its_way_back_was_done_all_the_same(tmp_path: Path) -> None:
    async def work(server: SimDatabase, journal: Journal) -> None:
        server.lag = 1.0
        loop = server.net.loop
        loop.after(0.5, cut, server)
        with pytest.raises(JournalError, match="the answer was lost"):
            await take(journal)
        server.net.heal("n0", "database")
        server.lag = 0.0
        assert [lease.holder for lease in await journal.commit(entries.all_leases())] == ["n0#1"]

    play(tmp_path, work)


def test_its_time_is_the_sites_and_not_that_of_whoever_asks(tmp_path: Path) -> None:
    async def work(server: SimDatabase, journal: Journal) -> None:
        found = await journal.commit(entries.bid([Bid(ROLE)], "n0#1", 5.0, 10.0))
        assert abs(found.time - server.net.loop.wall()) < 1.0

    play(tmp_path, work, skew=500.0)
