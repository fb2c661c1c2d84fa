"""What two journals know together, and what is said when one of them does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import TypeVar, cast

import pytest
import pytest_asyncio

from supernoded.admin.archives import Archives
from supernoded.errors import JournalError
from supernoded.house import House
from supernoded.journal import entries, queries
from supernoded.journal.queries import Filter
from supernoded.journal.rows import Question
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import Incident
from tests.unit.journal.samples import SteppedClock, make_incident

T = TypeVar("T")


class Lost(Journal):
    """A database that cannot be reached, and says so."""

    @property
    def health(self) -> str:
        return "the server is gone"

    async def ask(self, question: Question[T]) -> T:
        raise AssertionError("it is not waited for")


@pytest_asyncio.fixture
async def own() -> AsyncIterator[Journal]:
    journal = open_journal("sqlite://", SteppedClock())
    await journal.commit(entries.open_incident(make_incident(1, subject="n0/card1", opened=10.0), 0))
    yield journal
    await journal.close()


@pytest_asyncio.fixture
async def database() -> AsyncIterator[Journal]:
    journal = open_journal("sqlite://", SteppedClock())
    await journal.commit(entries.open_incident(make_incident(2, subject="cdu/0", scope="cdu/0", opened=20.0), 0))
    yield journal
    await journal.close()


def open_archives(own: Journal, database: Journal | None) -> Archives:
    return Archives(cast("House", SimpleNamespace(journal=own, database=database)))


def opened(incident: Incident) -> float:
    return incident.opened


async def test_both_are_asked_and_the_newest_of_all_come_first(own: Journal, database: Journal) -> None:
    archives = open_archives(own, database)
    found = await archives.find_rows(queries.incidents(Filter()), opened, 10)
    assert [one.id for one in found.rows] == ["i2", "i1"]
    assert archives.unread == ""
    known = [await archives.find_first(queries.incident(id_)) for id_ in ("i1", "i2", "i9")]
    assert [one.subject if one is not None else "" for one in known] == ["n0/card1", "cdu/0", ""]


async def test_what_is_over_the_limit_of_both_is_counted(own: Journal, database: Journal) -> None:
    found = await open_archives(own, database).find_rows(queries.incidents(Filter(limit=1)), opened, 1)
    assert (len(found.rows), found.left_off) == (1, 1)


async def test_a_database_that_is_lost_is_said_and_not_waited_for(own: Journal, database: Journal) -> None:
    lost = Lost(database._store, SteppedClock(), None, database._log)
    archives = open_archives(own, lost)
    found = await archives.find_rows(queries.incidents(Filter()), opened, 10)
    assert [one.id for one in found.rows] == ["i1"]
    assert archives.unread == f"{lost.place} could not be read: the server is gone"


async def test_where_nothing_answers_it_is_an_error(own: Journal) -> None:
    archives = open_archives(own, None)
    await own.close()
    with pytest.raises(JournalError, match="could not be read"):
        await archives.ask(queries.incidents(Filter()))
