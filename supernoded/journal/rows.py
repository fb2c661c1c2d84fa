"""Words to rows and back: texts that both databases take, and bodies as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

import msgspec
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert  # its `on conflict` is understood by SQLite's compiler too, not the other way round
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import Executable

__all__ = ["MOST_TEXT", "Cell", "Entry", "Question", "Sentence", "clean", "clean_row", "fetch_text", "from_body", "insert", "to_body"]

Cell: TypeAlias = str | float | bool | bytes | None
T = TypeVar("T")
W = TypeVar("W", bound=msgspec.Struct)

MOST_TEXT = 4000  # characters of one text in a row; devices and tools can say anything


def clean(text: str) -> str:
    """The text as both databases take it: no NUL (PostgreSQL refuses it), no lone surrogates, bounded."""
    if text.isprintable() and len(text) <= MOST_TEXT:
        return text
    return text[:MOST_TEXT].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def clean_row(**cells: Cell) -> dict[str, Cell]:
    """A row whose texts are clean."""
    return {name: clean(cell) if isinstance(cell, str) else cell for name, cell in cells.items()}


def to_body(word: msgspec.Struct) -> str:
    """A word as JSON."""
    try:
        return msgspec.json.encode(word).decode()
    except UnicodeEncodeError:  # a lone surrogate, from a file name or a tool that speaks no UTF-8
        return msgspec.json.encode(_clean_all(msgspec.to_builtins(word))).decode()


def _clean_all(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_clean_all(key): _clean_all(item) for key, item in value.items()}
    return [_clean_all(item) for item in value] if isinstance(value, list | tuple) else value


def from_body(body: str, word: type[W]) -> W:
    """A word from its JSON. Raises msgspec.DecodeError, which the writer takes for what it is: a corrupt database."""
    return msgspec.json.decode(body, type=word)


def fetch_text(connection: Connection, statement: str, parameters: tuple[Cell, ...] | dict[str, Cell]) -> str:
    """The one text that a driver's own statement returns: for the hot path, where `exec_driver_sql` costs as much as SQLite does."""
    dbapi = connection.dialect.loaded_dbapi
    cursor = connection.connection.cursor()
    try:
        cursor.execute(statement, parameters)
        (text,) = cursor.fetchall()[0]
    except dbapi.Error as error:
        raise DBAPIError.instance(statement, None, error, dbapi.Error, dialect=connection.dialect) from error
    finally:
        cursor.close()
    return str(text)


class Entry:
    """Rows for one prebuilt statement. The writer batches the entries of one statement into one `executemany`."""

    __slots__ = ("rows", "statement")

    def __init__(self, statement: Executable, rows: Sequence[dict[str, Cell]]) -> None:
        self.statement, self.rows = statement, rows

    def __call__(self, connection: Connection) -> None:
        """Write the rows."""
        if self.rows:
            connection.execute(self.statement, list(self.rows))


class Question(Generic[T]):
    """Work that only reads. `overlay` adds to the answer what is in the spill file and not yet in the database."""

    __slots__ = ("_overlay", "_work")

    def __init__(self, work: Callable[[Connection], T], overlay: Callable[[T, Sequence[object]], T] | None = None) -> None:
        self._work, self._overlay = work, overlay

    def __call__(self, connection: Connection) -> T:
        """The answer of the database."""
        return self._work(connection)

    def overlay(self, answer: T, spilled: Sequence[object]) -> T:
        """The answer with what was spilled."""
        return answer if self._overlay is None or not spilled else self._overlay(answer, spilled)


class Sentence(msgspec.Struct, Generic[T], frozen=True, kw_only=True, tag=True):
    """Work as data, which the writer therefore can put into the spill file while the database takes nothing.

    Writing one twice is the same as writing it once.
    """

    @property
    def fenced(self) -> bool:
        """Whether a lease must be checked; what is fenced is never spilled."""
        raise TypeError(f"{type(self).__name__} does not say whether it is fenced")

    def __call__(self, connection: Connection) -> T:
        """Write it and give the answer."""
        del connection
        raise TypeError(f"{type(self).__name__} cannot be written")

    def find(self, connection: Connection) -> T | None:
        """The answer if it is already in the database, by reading alone."""
        del connection
        return None

    def is_overtaken(self, found: T, earlier: Sequence[object]) -> bool:
        """Whether the `earlier` sentences, in the spill file only, end what `find` still finds in the database."""
        del found, earlier
        return False

    def answer(self, earlier: Sequence[object]) -> T:
        """The answer while it and the `earlier` sentences are in the spill file only."""
        del earlier
        raise TypeError(f"{type(self).__name__} cannot be answered without the database")
