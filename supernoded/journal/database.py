"""The port to one database, and what it does on PostgreSQL. `sqlite.py` has the other one."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.pool import NullPool

from supernoded.errors import JournalError
from supernoded.journal.schema import HEAD, version_of

CONNECT_SECONDS = 3
STATEMENT_SECONDS = 3
LOCK_SECONDS = 2


class Database(Protocol):
    """One database with one held connection."""

    name: str  # for people; without a password

    def connect(self) -> Connection:
        """The held connection, opened when it must be. Raises DBAPIError or JournalError."""
        ...

    def close(self) -> None:
        """Let the connection go; the next `connect` makes a new one."""
        ...

    def must_reopen(self, error: Exception) -> bool:
        """Whether, after this failure, the next try needs a new connection."""
        ...

    def start(self, connection: Connection, *, writing: bool, patient: bool = True) -> None:
        """Begin a transaction. Without patience it does not wait for another's lock: the spill file takes what comes meanwhile."""
        ...

    def check_place(self) -> None:
        """Raise MovedError when what is written would not be found again."""
        ...

    def is_trouble(self, error: DBAPIError) -> bool:
        """Whether the database failed, and not the statement."""
        ...

    def is_corrupt(self, error: Exception) -> bool:
        """Whether the database's content is broken."""
        ...

    def rebuild(self, why: str) -> str:
        """Put a database that is broken or gone aside and make a new one with what could be saved; a sentence for people."""
        ...

    def size(self) -> int:
        """Bytes it takes on the disk."""
        ...

    def shrink(self) -> bool:
        """Give a little of the freed space back; whether there is more."""
        ...


class MovedError(JournalError):
    """The open database is no longer the one at its path."""


class PostgreSQL:
    """A shared database. It is made and migrated by `supernodectl db upgrade`, never by a daemon."""

    def __init__(self, url: str) -> None:
        address = make_url(url).set(drivername="postgresql+psycopg")
        self.name = address.render_as_string(hide_password=True)
        self._engine: Engine = create_engine(
            address,
            poolclass=NullPool,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "keepalives_idle": 5,
                "keepalives_interval": 1,
                "keepalives_count": 3,
                "tcp_user_timeout": STATEMENT_SECONDS * 1000,  # a peer that is gone without a word
                "options": f"-c statement_timeout={STATEMENT_SECONDS}s -c lock_timeout={LOCK_SECONDS}s "
                "-c idle_in_transaction_session_timeout=10s -c synchronous_commit=on",
            },
        )
        self._held: Connection | None = None

    def connect(self) -> Connection:
        """See `Database.connect`."""
        if self._held is None:
            connection = self._engine.connect()
            try:
                version = version_of(connection)
                connection.rollback()
            except BaseException:
                connection.close()
                raise
            if version != HEAD:
                connection.close()
                remedy = "run `supernodectl db upgrade --url URL`, with what stands in journal.database"
                raise JournalError(f"{self.name} has schema {version or 'none'}, this daemon needs {HEAD}: {remedy}")
            self._held = connection
        return self._held

    def close(self) -> None:
        """See `Database.close`."""
        held, self._held = self._held, None
        if held is not None:
            held.invalidate()
            held.close()

    def must_reopen(self, error: Exception) -> bool:
        """See `Database.must_reopen`."""
        del error
        return True

    def start(self, connection: Connection, *, writing: bool, patient: bool = True) -> None:
        """See `Database.start`; the driver begins by itself."""

    def check_place(self) -> None:
        """See `Database.check_place`; the server looks after its files."""

    def is_trouble(self, error: DBAPIError) -> bool:
        """See `Database.is_trouble`."""
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)

    def is_corrupt(self, error: Exception) -> bool:
        """See `Database.is_corrupt`; mending it is the business of the server's operators."""
        del error
        return False

    def rebuild(self, why: str) -> str:
        """See `Database.rebuild`."""
        raise JournalError(f"{self.name}: {why}; a shared database is mended by its operators")

    def size(self) -> int:
        """See `Database.size`."""
        connection = self.connect()
        with connection.begin():
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    def shrink(self) -> bool:
        """See `Database.shrink`; autovacuum does it."""
        return False
