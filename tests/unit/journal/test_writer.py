from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import Connection

from supernoded.errors import JournalError
from supernoded.journal import entries, queries, thread, writer
from supernoded.journal.rows import Entry, insert
from supernoded.journal.tables import events
from supernoded.journal.writer import Journal, open_journal
from tests.unit.journal.samples import SteppedClock, make_action, make_event

T = TypeVar("T")


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    journal = open_journal(tmp_path / "journal.db", SteppedClock())
    yield journal
    await journal.close()


async def count_events(journal: Journal) -> int:
    found = await journal.commit(queries.events(queries.Filter(limit=20_000)))
    return len(found.rows)


async def test_what_is_posted_is_written_by_run(journal: Journal) -> None:
    running = asyncio.create_task(journal.run())
    written = asyncio.Event()
    journal.post(entries.record_event(make_event(1)))
    journal.post(lambda connection: written.set())
    await asyncio.wait_for(written.wait(), 10)
    await journal.flush()
    assert await count_events(journal) == 1
    running.cancel()
    await asyncio.wait([running])


async def test_entries_of_one_statement_share_one_executemany(journal: Journal) -> None:
    sizes: list[int] = []
    statement = insert(events).on_conflict_do_nothing()

    class Counted(Entry):
        def __call__(self, connection: Connection) -> None:
            raise AssertionError("the writer merges entries")

    for number in range(1500):
        journal.post(Counted(statement, entries.record_event(make_event(number)).rows))
    journal.post(lambda connection: sizes.append(number))
    await journal.flush()
    assert await count_events(journal) == 1500
    assert sizes == [1499]


async def test_a_full_queue_drops_counts_and_says_so_once(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "supernoded.journal")
    for number in range(writer.QUEUE + 3):
        journal.post(entries.record_event(make_event(number)))
    assert (journal.waiting, journal.dropped) == (writer.QUEUE, 3)
    assert "3 entries were dropped" in journal.health
    await journal.flush()
    assert journal.health == ""
    assert await count_events(journal) == writer.QUEUE
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "entries are dropped: 10000 entries wait already" in said[0]
    assert "no entries are dropped any more; 3 were" in said[1]


async def test_one_bad_entry_costs_only_itself(journal: Journal) -> None:
    def fail(connection: Connection) -> None:
        raise ValueError("not a row")

    bad = Entry(insert(events), [{"id": "half a row"}])
    for work in (entries.record_event(make_event(1)), bad, fail, entries.record_event(make_event(2))):
        journal.post(work)
    await journal.flush()
    assert await count_events(journal) == 2
    assert journal.dropped == 2


async def test_close_writes_what_waits_and_the_next_life_finds_it(tmp_path: Path) -> None:
    journal = open_journal(f"sqlite:///{tmp_path}/journal.db", SteppedClock())
    journal.post(entries.record_event(make_event(1)))
    await journal.close()
    again = open_journal(tmp_path / "journal.db", SteppedClock())
    assert await count_events(again) == 1
    await again.close()


async def test_a_cancelled_flush_writes_nothing_twice(journal: Journal) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    seen: list[int] = []

    def note(number: int, connection: Connection) -> None:
        seen.append(number)

    journal.post(lambda connection: loop.call_soon_threadsafe(begun.set))
    for number in range(500):
        journal.post(partial(note, number))
    flushing = asyncio.create_task(journal.flush())
    await begun.wait()
    flushing.cancel()
    await asyncio.wait([flushing])
    await journal.flush()
    assert seen == list(range(500))


async def test_inline_in_memory_needs_no_thread_and_no_file(tmp_path: Path) -> None:
    async def run(work: Callable[[], T]) -> T:
        return work()

    def run_inline(work: Callable[[], T], /) -> Awaitable[T]:
        return run(work)

    journal = open_journal("sqlite://", SteppedClock(), run=run_inline)
    assert await journal.intend(make_action(), 20.0) == make_action()
    assert await journal.commit(entries.open_intents()) == [make_action()]
    assert journal.place == "memory"
    await journal.close()


async def test_a_disk_that_hangs_is_given_up_on_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "supernoded.journal")
    monkeypatch.setattr(thread, "PATIENCE", 0.05)
    clock = SteppedClock()
    journal = open_journal(tmp_path / "journal.db", clock)
    go_on, begun = threading.Event(), threading.Event()

    def hang(connection: Connection) -> None:
        begun.set()
        go_on.wait(30)

    with pytest.raises(JournalError, match="did not answer within"):
        await journal.commit(hang)
    assert await asyncio.to_thread(begun.wait, 10)  # on a busy machine the thread may begin after we gave up
    clock.time += 60
    with pytest.raises(JournalError, match="has not answered for 60 s: its disk or server hangs"):
        await journal.intend(make_action(), 20.0)
    assert "has not answered for 60 s" in journal.health
    monkeypatch.undo()
    go_on.set()
    journal.post(entries.record_event(make_event(1)))
    await journal.flush()  # waits for whatever is under way
    await journal.intend(make_action(), 20.0)
    assert journal.health == ""
    said = [record.getMessage() for record in caplog.records]
    assert [text.endswith("hangs") for text in said] == [True, False]
    assert said[1].endswith("answers again")
    await journal.close()
    with pytest.raises(JournalError, match="is closed"):
        await journal.intend(make_action(), 20.0)


def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(JournalError, match="mysql://x is no journal"):
        open_journal("mysql://x", SteppedClock())
