"""The node's own database: a SQLite file in WAL mode that is flushed to the disk at each commit."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal import migrate, salvage, schema
from supernoded.journal.database import MovedError

BUSY_SECONDS = 0.5  # how long one statement waits for another process that has the file locked
ASIDE_KEPT = 3  # corrupt databases kept beside the journal

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "journal_size_limit=67108864")
_STATEMENT_FAULTS = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE}
)
_PASSING = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class SQLite:
    """One file, or a database in memory when `path` is None."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self.name = "memory" if path is None else str(path)
        self._path, self._clock = path, clock
        self._log = f"{path}-wal"
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        self._held: Connection | None = None
        self._patient = True
        self._inodes: tuple[tuple[int, int], ...] = ()
        self._kept: salvage.Kept | None = None  # saved from a broken database, for the next one

    def _connect(self) -> sqlite3.Connection:
        place = ":memory:" if self._path is None else self._path
        is_new = self._path is None or not self._path.exists() or not self._path.stat().st_size
        if self._path is not None and not is_new:
            _share_mode(self._path)
        # One thread at a time uses it, though not always the same one.
        connection = sqlite3.connect(place, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            if is_new:  # later it would write, which a full disk does not let it do
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            for pragma in PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def connect(self) -> Connection:
        """See `Database.connect`."""
        if self._held is None:
            self._held = self._open()
            self._inodes = self._identify()
            self._patient = True
        if self._kept is not None:
            with self._held.begin():
                self.start(self._held, writing=True)
                self._kept.write(self._held)
            self._kept = None
        return self._held

    def _open(self) -> Connection:
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._engine.connect()
        try:
            version = self._make_schema(connection)
        except BaseException:
            connection.close()
            raise
        if version == schema.HEAD:
            return connection
        connection.close()
        if version > schema.HEAD:
            raise JournalError(
                f"{self.name} has schema {version} of a newer supernoded, this one knows {schema.HEAD}: install the newer one"
            )
        migrate.upgrade(self.name)
        return self._engine.connect()

    def _make_schema(self, connection: Connection) -> str:
        """The schema's revision; an empty database gets the newest one."""
        version = schema.version_of(connection)
        connection.rollback()
        if version is not None:
            return version
        with connection.begin():
            self.start(connection, writing=True)
            if schema.version_of(connection) is None:  # nobody was quicker
                schema.create(connection)
        return schema.HEAD

    def close(self) -> None:
        """See `Database.close`."""
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def must_reopen(self, error: Exception) -> bool:
        """See `Database.must_reopen`. A full or locked database can still be read, a full one perhaps not be opened again."""
        return not (isinstance(error, DBAPIError) and _code_of(error) in _PASSING)

    def start(self, connection: Connection, *, writing: bool, patient: bool = True) -> None:
        """See `Database.start`. A writer takes the lock at once, so that it cannot lose it half way."""
        try:
            if patient is not self._patient:
                _raw(connection).execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000 if patient else 0:.0f}")
                self._patient = patient
            _raw(connection).execute("BEGIN IMMEDIATE" if writing else "BEGIN")  # a sixth of the time SQLAlchemy takes for it
        except sqlite3.Error as error:
            raise OperationalError("BEGIN", None, error) from error

    def check_place(self) -> None:
        """See `Database.check_place`. SQLite goes on writing into a file that was removed, and nobody would find it again."""
        if self._path is not None and (not self._inodes or self._identify() != self._inodes):
            raise MovedError(f"{self.name} was removed or replaced while it was in use")

    def _identify(self) -> tuple[tuple[int, int], ...]:
        """Which files the database and its log are."""
        try:
            found = (os.stat(self.name), os.stat(self._log))  # noqa: PTH116 - on the path of every commit
        except FileNotFoundError:
            return ()
        return tuple((status.st_dev, status.st_ino) for status in found)

    def is_trouble(self, error: DBAPIError) -> bool:
        """See `Database.is_trouble`."""
        return _code_of(error) not in _STATEMENT_FAULTS

    def is_corrupt(self, error: Exception) -> bool:
        """See `Database.is_corrupt`."""
        if isinstance(error, msgspec.MsgspecError) and self._held is not None:  # or is the question wrong? The rows know
            kept = salvage.Kept()
            kept.read(_raw(self._held))
            return kept.is_partial
        return isinstance(error, MovedError) or (isinstance(error, DBAPIError) and _code_of(error) in _CORRUPT)

    def rebuild(self, why: str) -> str:
        """See `Database.rebuild`."""
        if self._path is None:
            raise JournalError(f"the journal in memory is broken: {why}")
        kept = self._kept = self._kept or salvage.Kept()
        moved = self._held is not None and self._identify() != self._inodes
        if self._held is not None:
            kept.read(_raw(self._held))
        self.close()
        place = "the old file is gone" if moved else self._move_aside(self._path, kept)
        try:
            self.connect()
        except DBAPIError as error:
            if not (moved and self.is_corrupt(error)):  # then what stands in its place is no journal
                raise
            place = self._move_aside(self._path, kept)
            self.connect()
        return f"{self.name}: {why}; {place}; a new journal was made with {kept.describe()}"

    def _move_aside(self, path: Path, kept: salvage.Kept) -> str:
        """Rename the database with its log, read what can be read of it, and say where it is."""
        stamp = datetime.fromtimestamp(self._clock.wall(), UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        aside = path.with_name(f"{path.name}.corrupt-{stamp}")
        for suffix in ("-wal", "-shm", ""):
            old = path.with_name(path.name + suffix)
            if old.exists():
                old.rename(aside.with_name(aside.name + suffix))
        pattern = f"{path.name}.corrupt-*Z"
        for oldest in sorted(path.parent.glob(pattern))[:-ASIDE_KEPT]:
            for suffix in ("-wal", "-shm", ""):
                oldest.with_name(oldest.name + suffix).unlink(missing_ok=True)
        if aside.exists():
            kept.read_file(aside)
        return f"the old file is kept as {aside.name}"

    def size(self) -> int:
        """See `Database.size`, with its log."""
        if self._path is None:
            return 0
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def shrink(self) -> bool:
        """See `Database.shrink`: at most 1,000 pages at once, 4 MB."""
        database = _raw(self.connect())
        database.execute("PRAGMA incremental_vacuum(1000)").fetchall()
        return int(database.execute("PRAGMA freelist_count").fetchone()[0]) > 0


def _share_mode(path: Path) -> None:
    """SQLite makes its log with the mode of the database: one made while that was read-only would stay so when it no longer is."""
    mode = path.stat().st_mode & 0o777
    for suffix in ("-wal", "-shm"):
        file = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError, PermissionError):  # of another user's file SQLite itself will complain
            if file.stat().st_mode & 0o777 != mode:
                file.chmod(mode)


def _raw(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError(f"{driver!r} where a SQLite connection is due")
    return driver


def _code_of(error: DBAPIError) -> int:
    """SQLite's primary result code; the one of a broken disk when the driver gives none."""
    if str(error.orig).startswith("Could not decode to UTF-8"):  # the driver's own finding, without a code
        return sqlite3.SQLITE_CORRUPT
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    return code & 0xFF if isinstance(code, int) else sqlite3.SQLITE_IOERR
