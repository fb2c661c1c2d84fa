"""Many entries in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql import Executable

from supernoded.errors import JournalError
from supernoded.journal.rows import Cell, Entry
from supernoded.journal.store import Store

_REFUSALS = (JournalError, SQLAlchemyError, TypeError, ValueError)  # what a driver makes of a row that is no row

Work: TypeAlias = Entry | Callable[[Connection], object]


class Batch:
    """Entries of one statement become one `executemany`; anything else is called in its turn."""

    def __init__(self, works: Sequence[Work]) -> None:
        self.works = works

    def write(self, store: Store) -> list[str]:
        """Write all. If one is refused for a fault of its own, write them one by one; why each of the refused was.

        Raises TroubleError when the database fails.
        """
        try:
            store.attempt(self._write_all)
        except _REFUSALS:
            return [reason for work in self.works if (reason := _write_alone(work, store))]
        return []

    def _write_all(self, connection: Connection) -> None:
        for work in merge(self.works):
            work(connection)


def merge(works: Sequence[Work]) -> list[Work]:
    """One entry per statement, at the place of its first; the rows keep their order."""
    merged: list[Work] = []
    rows: dict[Executable, list[dict[str, Cell]]] = {}
    for work in works:
        if not isinstance(work, Entry):
            merged.append(work)
        elif work.statement in rows:
            rows[work.statement].extend(work.rows)
        else:
            rows[work.statement] = list(work.rows)
            merged.append(Entry(work.statement, rows[work.statement]))
    return merged


def _write_alone(work: Work, store: Store) -> str:
    try:
        store.attempt(work)
    except _REFUSALS as error:
        return str(error)
    return ""
