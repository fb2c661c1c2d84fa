"""Roles that are leased in a real PostgreSQL: contenders, a writer that hangs, and a server that is killed and comes back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from sqlalchemy import create_engine, text

from supernoded.clock import SystemClock
from supernoded.cluster.roles.leased import LeasedSeats
from supernoded.cluster.roles.seats import FixedSeats
from supernoded.cluster.roles.views import Views
from supernoded.errors import FencedError, JournalError
from supernoded.journal import entries, migrate
from supernoded.journal.entries import Bid
from supernoded.journal.writer import Journal, open_journal
from supernoded.settings import Seats as Terms
from supernoded.supervisor import Health
from tests.protocol.postgres import Cluster, running_cluster
from tests.unit.journal.samples import make_incident

NODES = ("n0", "n1", "n2")
CDU, FLEET = "cdu/0", "fleet"
LOG = logging.getLogger("test")
PATIENCE = 30.0  # s


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def url(cluster: Cluster) -> str:
    url = cluster.new_database()
    migrate.upgrade(url)
    return url


@asynccontextmanager
async def seated(url: str, node: str) -> AsyncIterator[LeasedSeats]:
    """The seats of one node, at work."""
    clock = SystemClock()
    health, journal = Health(clock, LOG), open_journal(url, clock)
    views = Views("c0", NODES, clock, health)
    candidates = dict.fromkeys((CDU, FLEET), NODES)
    terms = Terms(term_s=3.0, renew_s=0.5)
    seats = LeasedSeats(f"{node}#1", FixedSeats(node, {}), candidates, terms, journal, clock, views, health, LOG)
    works = [asyncio.create_task(seats.run()), asyncio.create_task(journal.run())]
    try:
        yield seats
    finally:
        for work in works:
            work.cancel()
        await asyncio.wait(works)
        await seats.give_back()
        await journal.close()


async def until(seats: LeasedSeats, holds: Callable[[], bool]) -> None:
    """Wait for the seats to have changed."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await seats.changed.wait()
            seats.changed.clear()


async def test_who_stands_by_has_the_roles_when_they_were_given_back(url: str) -> None:
    async with AsyncExitStack() as later:
        async with seated(url, "n1") as first:
            await until(first, lambda: first.held == [CDU, FLEET])  # nobody else wants them
            second = await later.enter_async_context(seated(url, "n0"))
            assert second.held == []
            assert second.find_refusal(FLEET) == "this node does not have the role fleet"
        await until(second, lambda: second.held == [CDU, FLEET])
        assert [tenure.epoch for tenure in second.tenures] == [2, 2]


async def test_of_many_that_ask_at_once_each_role_has_one(url: str) -> None:
    journals = [open_journal(url, SystemClock()) for _ in range(8)]
    bids = [Bid(f"feed/{number}") for number in range(20)]
    rounds = [
        await asyncio.gather(*(journal.commit(entries.bid(bids, f"n{n}#1", 0.0, 600.0)) for n, journal in enumerate(journals)))
        for _ in range(3)
    ]
    assert sorted(role for found in rounds[-1] for role in found.ours) == sorted(bid.role for bid in bids)
    assert {lease.epoch for found in rounds[-1] for lease in found.ours.values()} == {1}
    for journal in journals:
        await journal.close()


async def test_a_writer_that_hangs_on_one_role_costs_nobody_another(url: str) -> None:
    holder, other = open_journal(url, SystemClock()), open_journal(url, SystemClock())
    bids = Bid(CDU), Bid(FLEET)
    await holder.commit(entries.bid(bids[:1], "n0#1", 0.0, 0.001))
    engine = create_engine(migrate.as_url(url))
    with engine.begin() as connection:
        connection.execute(text("SELECT * FROM leases WHERE role = 'cdu/0' FOR SHARE"))
        found = await other.commit(entries.bid(bids, "n1#1", 0.0, 600.0))
        assert list(found.ours) == [FLEET]
    found = await other.commit(entries.bid(bids, "n1#1", 0.0, 600.0))
    assert {role: lease.epoch for role, lease in found.ours.items()} == {CDU: 2, FLEET: 1}
    engine.dispose()
    for journal in (holder, other):
        await journal.close()


async def test_who_lost_a_role_writes_nothing_under_it(url: str) -> None:
    former, latter = open_journal(url, SystemClock()), open_journal(url, SystemClock())
    await former.commit(entries.bid([Bid(FLEET)], "n0#1", 0.0, 0.001))
    await latter.commit(entries.bid([Bid(FLEET)], "n1#1", 0.0, 600.0))
    with pytest.raises(FencedError, match="is at epoch 2, held by n1#1"):
        await former.commit(entries.open_incident(make_incident(scope=FLEET), 1))
    await latter.commit(entries.open_incident(make_incident(scope=FLEET), 2))
    for journal in (former, latter):
        await journal.close()


async def test_a_server_that_is_killed_and_comes_back(cluster: Cluster, url: str) -> None:
    """Every role but the loop's is given up in time; the loop is kept, under its own epoch, and so is all afterwards."""

    async def agree(role: str, node: str) -> bool:
        asked.append((role, node))
        return True

    asked: list[tuple[str, str]] = []
    async with seated(url, "n0") as seats:
        seats.confirm = agree
        await until(seats, lambda: seats.held == [CDU, FLEET])
        cluster.stop()
        try:
            await until(seats, lambda: seats.held != [CDU, FLEET])
            assert seats.held == [CDU]
            assert seats.find_refusal(CDU) is None
            assert {role for role, _ in asked} == {CDU}
            assert {node for _, node in asked} == {"n1", "n2"}
        finally:
            await asyncio.to_thread(cluster.start)
        await until(seats, lambda: seats.held == [CDU, FLEET])
        assert [(tenure.role, tenure.epoch) for tenure in seats.tenures] == [(CDU, 1), (FLEET, 1)]


async def test_a_server_that_is_gone_is_said_and_never_raised(cluster: Cluster, url: str) -> None:
    journal: Journal = open_journal(url, SystemClock())
    cluster.stop()
    try:
        with pytest.raises(JournalError, match="takes no writes"):
            await journal.commit(entries.bid([Bid(FLEET)], "n0#1", 0.0, 600.0))
        assert journal.health
    finally:
        cluster.start()
        await journal.close()
