"""A disk that is full, a database that is locked, broken, removed or read-only: nothing acknowledged is lost, and it is said once."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from supernoded.errors import JournalError
from supernoded.journal import entries, queries
from supernoded.journal.writer import Journal, open_journal
from tests.unit.journal.samples import SteppedClock, make_action, make_event, make_incident, make_outcome, take_lease

NOBODY = 65534


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What the journal has logged so far."""
    caplog.set_level(logging.INFO, "supernoded.journal")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "supernoded.journal"]


@pytest.fixture
async def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
async def journal(tmp_path: Path, clock: SteppedClock) -> AsyncIterator[Journal]:
    journal = open_journal(tmp_path / "journal.db", clock)
    await journal.commit(entries.open_incident(make_incident(), 0))
    await journal.intend(make_action("i1", "before"), 20.0)
    yield journal
    await journal.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB. Where nothing may be mounted, a database that may not grow stands in (see `fill`)."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False)
    yield folder
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, journal: Journal) -> None:
    if folder.is_mount():
        with (folder / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(4096))
            except OSError:
                return
    held = journal._store._database.connect()
    held.exec_driver_sql("PRAGMA max_page_count=1")
    held.rollback()


def empty(folder: Path, journal: Journal) -> None:
    if folder.is_mount():
        (folder / "ballast").unlink()
        return
    held = journal._store._database.connect()
    held.exec_driver_sql("PRAGMA max_page_count=1000000")
    held.rollback()


async def fill_up_to_failure(folder: Path, journal: Journal) -> list[str]:
    """Intents until the database refuses one; their ids. The log of the database may have room for some."""
    fill(folder, journal)
    ids = []
    for number in range(200):
        ids.append((await journal.intend(make_action(f"f{number}", "x" * 3000), 20.0)).id)
        if journal.health:
            return ids
    raise AssertionError("the disk is not full")


async def test_a_full_disk_costs_no_intent_and_no_outcome(small_disk: Path, clock: SteppedClock, said: Callable[[], list[str]]) -> None:
    journal = open_journal(small_disk / "journal.db", clock)
    await journal.intend(make_action("i1", "before", deadline=30.0), 20.0)
    acknowledged = await fill_up_to_failure(small_disk, journal)
    await journal.commit(entries.open_incident(make_incident(), 0))
    known = await journal.intend(make_action("i1", "before", deadline=99.0), 50.0)
    assert known.deadline == 30.0  # a full database can still be read
    await journal.commit(entries.conclude(known, make_outcome(known)))
    journal.post(entries.record_event(make_event(1)))
    with pytest.raises(JournalError, match="1 entries wait"):
        await journal.flush()
    assert "database or disk is full: intents go to the spill file" in journal.health
    assert "1 entries wait" in journal.health
    assert [action.id for action in await journal.commit(entries.open_intents())] == acknowledged
    assert [incident.id for incident in await journal.commit(entries.open_incidents())] == ["i1"]
    assert set(await journal.commit(entries.outcomes_of("i1"))) == {"before"}
    assert len(said()) == 1
    empty(small_disk, journal)
    clock.time += 5
    await journal.flush()
    assert journal.health == ""
    assert sorted(action.id for action in await journal.commit(entries.open_intents())) == sorted(acknowledged)
    assert [event.id for event in (await journal.commit(queries.events(queries.Filter()))).rows] == ["e1"]
    entered, drained, recovered = said()
    assert "takes no writes: database or disk is full" in entered
    assert "sentences of the spill file" in drained
    assert "takes writes again after" in recovered
    await journal.close()


async def test_a_restart_on_a_disk_that_is_still_full_finds_what_was_spilled(small_disk: Path, clock: SteppedClock) -> None:
    journal = open_journal(small_disk / "journal.db", clock)
    await journal.commit(entries.open_intents())
    acknowledged = await fill_up_to_failure(small_disk, journal)
    again = open_journal(small_disk / "journal.db", clock)  # while the first life's file is still open, as after a kill -9
    fill(small_disk, again)
    assert [action.id for action in await again.commit(entries.open_intents())] == acknowledged
    empty(small_disk, again)
    for each in (again, journal):
        await each.close()


async def test_a_locked_database_is_given_up_on_soon_and_taken_up_again(
    journal: Journal, clock: SteppedClock, tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    other = sqlite3.connect(tmp_path / "journal.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with asyncio.timeout(10):
        for number in range(20):
            await journal.intend(make_action(f"i{number}"), 20.0)
    assert "database is locked: intents go to the spill file, which holds 20 records" in journal.health
    with pytest.raises(JournalError, match="takes no writes: database is locked"):
        await journal.commit(entries.release_lease("ring/x", "n0#1", 1))
    running = asyncio.create_task(journal.run())
    other.execute("ROLLBACK")
    other.close()
    clock.time += 5
    journal.post(entries.record_event(make_event(1)))
    await until_well(journal)
    running.cancel()
    await asyncio.wait([running])
    assert len(await journal.commit(entries.open_intents())) == 21
    assert len(said()) == 3


async def until_well(journal: Journal) -> None:
    async with asyncio.timeout(10):
        while journal.health:
            await asyncio.sleep(0)


def damage(path: Path) -> None:
    """Overwrite everything behind the first page, as a bad disk would."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


def checkpoint(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()


async def test_a_database_that_breaks_in_flight_is_put_aside_and_replaced(
    journal: Journal, tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    path = tmp_path / "journal.db"
    checkpoint(path)
    damage(path)
    await journal.close()  # forget what SQLite has in its cache
    journal = open_journal(path, SteppedClock())
    await journal.intend(make_action("i2"), 20.0)
    (aside,) = list(tmp_path.glob("journal.db.corrupt-*Z"))
    assert aside.name == "journal.db.corrupt-19700101T001640.000000Z"
    assert [action.id for action in await journal.commit(entries.open_intents())] == ["i2/shed"]
    assert await journal.commit(queries.verify()) == []
    (told,) = said()
    assert "database disk image is malformed; the old file is kept as journal.db.corrupt-" in told
    assert "could be read" in told
    assert journal.health == ""
    await journal.close()


async def test_what_can_be_read_of_a_broken_database_is_saved(journal: Journal, tmp_path: Path, said: Callable[[], list[str]]) -> None:
    """One index is broken: the rows are all there, and open incidents and intents, holds and leases go on."""
    await journal.commit(take_lease("ring/x", "n0#1", 20.0, 10.0))
    done = make_action("i1", "done")
    await journal.commit(entries.conclude(done, make_outcome(done)))
    await journal.close()
    path = tmp_path / "journal.db"
    with sqlite3.connect(path) as other:
        ((page,),) = other.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_actions_1'")
    other.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    again = open_journal(path, SteppedClock())
    await again.intend(make_action("i2"), 20.0)
    assert [action.id for action in await again.commit(entries.open_intents())] == ["i1/before", "i2/shed"]
    assert [incident.id for incident in await again.commit(entries.open_incidents())] == ["i1"]
    assert set(await again.commit(entries.outcomes_of("i1"))) == {"done"}
    assert [lease.role for lease in await again.commit(entries.all_leases())] == ["ring/x"]
    (told,) = said()
    assert "1 open incidents and 1 open intents saved" in told
    await again.close()


@pytest.mark.parametrize("body", ["'{'", "CAST(x'fffe' AS TEXT)"], ids=["no JSON", "no UTF-8"])
async def test_rows_that_make_no_sense_are_corruption_too(body: str, journal: Journal, tmp_path: Path) -> None:
    columns = "origin, incident, kind, target, scope, epoch, intended, issued, deadline, policy, reason, result, outcome, concluded"
    with sqlite3.connect(tmp_path / "journal.db") as other:
        other.execute(f"INSERT INTO actions (id, step, body, {columns}) SELECT 'bad', 'bad', {body}, {columns} FROM actions")
    other.close()
    assert [action.id for action in await journal.commit(entries.open_intents())] == ["i1/before"]
    assert list(tmp_path.glob("journal.db.corrupt-*Z"))


async def test_a_history_row_that_makes_no_sense_costs_the_question_only(journal: Journal, tmp_path: Path) -> None:
    journal.post(entries.record_event(make_event(1)))
    await journal.flush()
    with sqlite3.connect(tmp_path / "journal.db") as other:
        other.execute("UPDATE events SET severity = 'loud'")
    other.close()
    with pytest.raises(JournalError, match="holds a row that makes no sense: Invalid enum value 'loud'"):
        await journal.commit(queries.events(queries.Filter()))
    assert journal.health == ""
    assert list(tmp_path.glob("journal.db.corrupt-*Z")) == []


async def test_a_file_that_is_no_database_is_put_aside_at_start(tmp_path: Path, said: Callable[[], list[str]]) -> None:
    (tmp_path / "journal.db").write_bytes(b"not a database, and long enough to be read as one " * 200)
    journal = open_journal(tmp_path / "journal.db", SteppedClock())
    assert await journal.commit(entries.open_intents()) == []
    assert "file is not a database" in said()[0]
    for number in range(5):
        await journal.close()
        (tmp_path / "journal.db").write_bytes(b"again" * 2000)
        clock = SteppedClock()
        clock.time += number  # each is put aside under a time of its own
        journal = open_journal(tmp_path / "journal.db", clock)
        await journal.commit(entries.open_intents())
    assert len(list(tmp_path.glob("journal.db.corrupt-*Z"))) == 3
    await journal.close()


@pytest.mark.parametrize("gone", ["journal.db", "journal.db-wal"])
async def test_a_database_that_was_removed_is_made_again_with_what_stood_in_it(
    gone: str, journal: Journal, tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    (tmp_path / gone).unlink()
    await journal.intend(make_action("i2"), 20.0)
    assert (tmp_path / "journal.db").exists()
    await journal.close()
    again = open_journal(tmp_path / "journal.db", SteppedClock())
    assert [action.id for action in await again.commit(entries.open_intents())] == ["i1/before", "i2/shed"]
    assert [incident.id for incident in await again.commit(entries.open_incidents())] == ["i1"]
    assert "was removed or replaced while it was in use" in said()[0]
    await again.close()


async def test_a_database_that_was_replaced_by_rubbish_is_made_again(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "rubbish").write_bytes(b"rubbish" * 2000)
    (tmp_path / "rubbish").rename(tmp_path / "journal.db")
    await journal.intend(make_action("i2"), 20.0)
    assert [action.id for action in await journal.commit(entries.open_intents())] == ["i1/before", "i2/shed"]


async def test_without_database_and_spill_file_intents_are_refused(
    tmp_path: Path, clock: SteppedClock, said: Callable[[], list[str]]
) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    journal = open_journal(tmp_path / "file" / "journal.db", clock)
    for _ in range(3):
        with pytest.raises(JournalError, match="takes no writes"):
            await journal.intend(make_action(), 20.0)
        clock.time += 2
    assert "intents are refused, because the spill file" in journal.health
    assert len(said()) == 2
    await journal.close()


READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from supernoded.journal import entries
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock, make_action

async def main(path):
    clock = SteppedClock()
    path.chmod(0o444)
    journal = open_journal(path, clock)
    await journal.intend(make_action("i2"), 20.0)
    assert "attempt to write a readonly database: intents go to the spill file" in journal.health, journal.health
    path.chmod(0o644)
    clock.time += 5
    await journal.flush()
    assert journal.health == "", journal.health
    print([action.id for action in await journal.commit(entries.open_intents())])
    await journal.close()

if os.geteuid() == 0:  # no mode keeps root out
    os.seteuid(os.stat(sys.argv[1]).st_uid)
asyncio.run(main(Path(sys.argv[1])))
"""


async def test_a_read_only_database_spills_until_it_can_be_written(checkout: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal = open_journal(folder / "journal.db", SteppedClock())
        await journal.intend(make_action(), 20.0)
        await journal.close()
        if os.geteuid() == 0:
            for file in (folder, *folder.iterdir()):
                os.chown(file, NOBODY, -1)
        command = [sys.executable, "-c", READ_ONLY, str(folder / "journal.db")]
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "['i1/shed', 'i2/shed']"), done.stderr
