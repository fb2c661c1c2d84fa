from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from threading import Event

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect, text

from supernoded.errors import FencedError, JournalError
from supernoded.journal import entries, migrate, schema
from supernoded.journal.tables import metadata
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import Lease
from tests.protocol.postgres import Cluster, running_cluster
from tests.unit.journal.samples import SteppedClock, make_action, make_event, make_incident, take_lease
from tests.unit.journal.sentences import CHECKS, ROLE, Check


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def url(cluster: Cluster) -> str:
    url = cluster.new_database()
    migrate.upgrade(url)
    return url


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_sentence_on_postgresql(check: Check, url: str) -> None:
    journal = open_journal(url, SteppedClock())
    try:
        await check(journal)
    finally:
        await journal.close()


def test_migrations_go_up_and_down_without_drift(cluster: Cluster) -> None:
    url = cluster.new_database()
    engine = create_engine(migrate.as_url(url))
    assert migrate.current(url) is None
    for _ in range(2):
        migrate.upgrade(url)
        assert migrate.current(url) == schema.HEAD
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
        migrate.downgrade(url, "base")
        with engine.connect() as connection:
            assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


async def test_a_database_without_schema_is_refused_with_the_remedy(cluster: Cluster) -> None:
    journal = open_journal(cluster.new_database(), SteppedClock())
    with pytest.raises(JournalError, match="supernodectl db upgrade"):
        await journal.commit(entries.open_intents())
    await journal.close()


async def test_nothing_is_taken_over_while_a_write_is_under_way(url: str) -> None:
    """The epoch is checked in the transaction that writes: nobody takes the role over between check and commit, nor waits for it."""
    holder, successor = open_journal(url, SteppedClock()), open_journal(url, SteppedClock())
    await holder.commit(take_lease(ROLE, "n0#1", 0.0, 600.0))
    checked, go_on = Event(), Event()

    def write_slowly(connection: Connection) -> None:
        entries.check_epoch(connection, ROLE, 1, 0.0)
        checked.set()
        assert go_on.wait(10)
        entries.open_incident(make_incident(scope=ROLE), 1)(connection)

    writing = asyncio.create_task(holder.commit(write_slowly))
    assert await asyncio.to_thread(checked.wait, 10)
    assert await successor.commit(take_lease(ROLE, "n0#2", 0.0, 600.0)) is None
    go_on.set()
    await writing
    lease = await successor.commit(take_lease(ROLE, "n0#2", 0.0, 600.0))
    assert lease is not None
    assert lease.epoch == 2
    with pytest.raises(FencedError):
        await holder.commit(entries.close_incident("i1", 30.0, ROLE, 1))
    for journal in (holder, successor):
        await journal.close()


async def test_two_take_a_new_role_and_one_gets_it(url: str) -> None:
    rivals = [open_journal(url, SteppedClock()) for _ in range(4)]
    takes = [journal.commit(take_lease(ROLE, f"n{number}#1", 0.0, 600.0)) for number, journal in enumerate(rivals)]
    leases: list[Lease] = [lease for lease in await asyncio.gather(*takes) if lease is not None]
    assert len(leases) == 1
    assert await rivals[0].commit(entries.all_leases()) == leases
    for journal in rivals:
        await journal.close()


async def test_a_lost_server_refuses_intents_and_keeps_what_was_posted(
    cluster: Cluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "supernoded.journal")
    clock = SteppedClock()
    journal = open_journal(url, clock)
    await journal.intend(make_action(), 20.0)
    cluster.stop()
    try:
        for _ in range(3):
            with pytest.raises(JournalError, match="takes no writes"):
                await journal.intend(make_action("i2"), 20.0)
        journal.post(entries.record_event(make_event(1)))
        with pytest.raises(JournalError, match="1 entries wait"):
            await journal.flush()
        assert "1 entries wait" in journal.health
    finally:
        cluster.start()
    clock.time += 10
    await journal.intend(make_action("i2"), 20.0)
    await journal.flush()
    assert journal.health == ""
    assert [action.id for action in await journal.commit(entries.open_intents())] == ["i1/shed", "i2/shed"]
    said = [record.getMessage() for record in caplog.records if record.name == "supernoded.journal"]
    assert len(said) == 2
    assert "takes no writes" in said[0]
    assert "takes writes again" in said[1]
    await journal.close()


async def test_a_lock_held_by_another_is_waited_for_within_bounds(url: str) -> None:
    journal = open_journal(url, SteppedClock())
    await journal.commit(entries.open_intents())
    engine = create_engine(migrate.as_url(url))
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE actions IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(JournalError, match="lock timeout"):
            await journal.intend(make_action(), 20.0)
    engine.dispose()
    await retry(journal)
    await journal.close()


async def retry(journal: Journal) -> None:
    """What `run` does each second."""
    await journal.flush()
    assert journal.health == ""
