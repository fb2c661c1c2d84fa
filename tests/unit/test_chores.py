from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from supernoded.chores import Chores, forget
from supernoded.journal import entries, queries, retention
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import Reading
from tests.unit.journal.samples import SteppedClock, make_event

LIMITS = retention.Limits(readings=100.0, events=100.0)
LOG = logging.getLogger("supernoded.chores")


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
async def journal(tmp_path: Path, clock: SteppedClock) -> AsyncIterator[Journal]:
    journal = open_journal(tmp_path / "journal.db", clock)
    yield journal
    await journal.close()


def make_readings(count: int, at: float) -> list[Reading]:
    return [
        Reading(subject=f"n0/card{number % 8}/port0", quantity="link.fec.corrected", value=1e9 + number, unit="1", at=at)
        for number in range(count)
    ]


async def test_old_rows_go_and_their_space_is_given_back(journal: Journal, clock: SteppedClock, tmp_path: Path) -> None:
    journal.post(entries.store_readings(make_readings(20_000, 1.0)))
    journal.post(entries.store_readings(make_readings(10, 1000.0)))
    journal.post(entries.record_event(make_event(1)))
    journal.post(entries.record_event(make_event(2, at=1000.0)))
    await journal.flush()
    assert await forget(journal, clock, LIMITS) == 20_001
    assert len((await journal.commit(queries.readings(queries.Filter()))).rows) == 10
    assert [event.id for event in (await journal.commit(queries.events(queries.Filter()))).rows] == ["e2"]
    await journal.close()
    assert (tmp_path / "journal.db").stat().st_size < 500_000
    assert count_free_pages(tmp_path / "journal.db") == 0


def count_free_pages(path: Path) -> int:
    database = sqlite3.connect(path)
    ((free,),) = database.execute("PRAGMA freelist_count")
    database.close()
    return int(free)


async def test_a_stored_reading_takes_no_more_than_the_bound_assumes(journal: Journal, tmp_path: Path) -> None:
    journal.post(entries.store_readings(make_readings(20_000, 1.0)))
    await journal.flush()
    await journal.close()
    assert 50 <= (tmp_path / "journal.db").stat().st_size / 20_000 <= retention.READING_BYTES


async def test_a_journal_that_fails_is_told_once_and_tried_again(
    journal: Journal, clock: SteppedClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, LOG.name)
    chores = Chores(journal, clock, LIMITS, LOG)
    journal.post(entries.record_event(make_event(1)))
    await journal.flush()
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert [await chores.forget(), await chores.forget()] == [0, 0]
    other.close()
    clock.time += 10
    assert [await chores.forget(), await chores.forget()] == [1, 0]
    said = [record.getMessage() for record in caplog.records if record.name == LOG.name]
    assert len(said) == 2
    assert "retention is put off until the journal takes writes" in said[0]
    assert said[1] == "journal retention works again: 1 rows were deleted"


async def test_the_calendar_starts_and_stops(journal: Journal, clock: SteppedClock) -> None:
    chores = Chores(journal, clock, LIMITS, LOG)
    chores.stop()
    chores.start()
    (job,) = chores._scheduler.get_jobs()
    assert job.next_run_time.minute == 17
    chores.stop()
    await asyncio.sleep(0)  # the scheduler stops in a callback
    assert not chores._scheduler.running
