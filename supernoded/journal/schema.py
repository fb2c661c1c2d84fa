"""Which schema a database has. Checked by one SELECT, because importing Alembic costs 0.3 s and 39 MB."""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select

from supernoded.journal.tables import metadata

HEAD = "0003"  # the newest revision in migrations/versions

_VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


def version_of(connection: Connection) -> str | None:
    """The revision of the schema; None when there is none."""
    if not inspect(connection).has_table(_VERSION.name):
        return None
    return connection.execute(select(_VERSION.c.version_num)).scalar()


def create(connection: Connection) -> None:
    """Make all tables of the newest revision in an empty database; the same as what the migrations make (a test compares them)."""
    metadata.create_all(connection)
    _VERSION.create(connection, checkfirst=True)
    connection.execute(insert(_VERSION).values(version_num=HEAD))
