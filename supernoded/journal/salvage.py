"""Saving what must not be lost out of a SQLite database that is broken or gone: everything but the histories, row by row."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Table

from supernoded.journal.rows import Cell, from_body, insert
from supernoded.journal.tables import actions, holds, incidents, leases, memories, modes, outbox
from supernoded.model import Action, Mode, Result, Severity

TABLES = (incidents, actions, holds, modes, memories, leases, outbox)


class Kept:
    """The rows that could be read and make sense."""

    def __init__(self) -> None:
        self._rows: dict[Table, dict[int, dict[str, Cell]]] = {table: {} for table in TABLES}
        self._broken: dict[str, str] = {}  # table -> why some of its rows could not be read

    def read_file(self, path: Path) -> None:
        """Read what can be read of a file; it is not changed beyond taking in its own log."""
        try:
            with closing(sqlite3.connect(path, timeout=0.5, isolation_level=None)) as database:
                self.read(database)
        except sqlite3.Error as error:
            self._broken["database"] = str(error)

    def read(self, database: sqlite3.Connection) -> None:
        """Read every table from both ends, up to what is broken."""
        database.text_factory = _decode
        try:
            for table in TABLES:
                for direction in ("ASC", "DESC"):
                    self._read_table(database, table, direction)
        finally:
            database.text_factory = str

    def _read_table(self, database: sqlite3.Connection, table: Table, direction: str) -> None:
        names = [column.name for column in table.columns]
        query = f"SELECT rowid, {', '.join(names)} FROM {table.name} NOT INDEXED ORDER BY rowid {direction}"  # noqa: S608 - our own names
        try:
            for number, *cells in database.execute(query):
                row = dict(zip(names, cells, strict=True))
                if _is_sound(table, row):
                    self._rows[table][number] = row
                else:
                    self._broken.setdefault(table.name, "rows that make no sense")
        except sqlite3.Error as error:
            self._broken.setdefault(table.name, str(error))

    @property
    def is_partial(self) -> bool:
        """Whether anything could not be read or made no sense."""
        return bool(self._broken)

    def write(self, connection: Connection) -> None:
        """Write what was kept where it is not already."""
        for table, rows in self._rows.items():
            statement = insert(table).on_conflict_do_nothing()
            for number in sorted(rows):
                connection.execute(statement, rows[number])

    def describe(self) -> str:
        """What was saved and what was not, for people."""
        standing = sum(row["closed"] is None for row in self._rows[incidents].values())
        waiting = sum(row["result"] is None for row in self._rows[actions].values())
        lost = "".join(f"; not all of {table} could be read: {why}" for table, why in self._broken.items())
        return f"{standing} open incidents and {waiting} open intents saved{lost}"


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _is_sound(table: Table, row: dict[str, Cell]) -> bool:
    """Whether a row has the right kinds of cells and its JSON is what it should be."""
    for column in table.columns:
        cell = row[column.name]
        kind = column.type.python_type
        if cell is None and not column.nullable:
            return False
        if cell is not None and not isinstance(cell, (int, float) if kind in (float, bool, int) else kind):
            return False
        if isinstance(cell, str) and not _is_utf8(cell):
            return False
    try:
        if table is actions:
            from_body(str(row["body"]), Action)
            if row["result"] is not None:
                Result(row["result"])
        if table is modes:
            Mode(row["mode"])
        if table is incidents:
            Severity(row["severity"])
            msgspec.json.decode(str(row["members"]), type=tuple[str, ...])
    except (ValueError, msgspec.MsgspecError):
        return False
    return True


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
