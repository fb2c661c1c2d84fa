from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from supernoded.errors import JournalError
from supernoded.journal import entries, migrate, queries, schema
from supernoded.journal.tables import metadata
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock


def test_migrations_go_up_and_down_without_drift(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    engine = create_engine(migrate.as_url(path))
    assert migrate.current(path) is None
    for _ in range(2):
        migrate.upgrade(path)
        assert migrate.current(path) == schema.HEAD
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
        migrate.downgrade(path, "base")
        with engine.connect() as connection:
            assert inspect(connection).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_the_head_is_the_newest_revision(tmp_path: Path) -> None:
    assert ScriptDirectory.from_config(migrate.configure(str(tmp_path / "journal.db"))).get_heads() == [schema.HEAD]


async def test_a_new_journal_is_what_the_migrations_make(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "ours.db", SteppedClock())
    await journal.commit(entries.open_intents())
    await journal.close()
    migrate.upgrade(str(tmp_path / "theirs.db"))
    assert sorted(describe(tmp_path / "ours.db")) == sorted(describe(tmp_path / "theirs.db"))
    assert migrate.current(str(tmp_path / "ours.db")) == schema.HEAD


def describe(path: Path) -> list[str]:
    """Every column and index, as SQLite itself tells them."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        tables = [name for (name,) in connection.execute(text("SELECT name FROM sqlite_schema WHERE type = 'table'"))]
        columns = [f"{table} {row[1:]}" for table in tables for row in connection.execute(text(f"PRAGMA table_info({table})"))]
        indexes = [
            str(row[0]) for row in connection.execute(text("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"))
        ]
    engine.dispose()
    return columns + [" ".join(index.split()) for index in indexes]


async def test_readings_of_the_first_schema_have_no_source(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    migrate.upgrade(str(path), "0001")
    engine = create_engine(f"sqlite:///{path}")
    row = "INSERT INTO readings (subject, quantity, unit, state, note, value, at) VALUES ('n0', 'host.load', '1', 'good', '', 0.5, 3.0)"
    with engine.begin() as connection:
        connection.execute(text(row))
    engine.dispose()
    journal = open_journal(path, SteppedClock())
    (stored,) = (await journal.ask(queries.readings(queries.Filter()))).rows
    assert (stored.subject, stored.value, stored.source) == ("n0", 0.5, "")
    await journal.commit(entries.store_readings([msgspec.structs.replace(stored, at=4.0, source="host")]))
    assert [reading.source for reading in (await journal.ask(queries.readings(queries.Filter()))).rows] == ["host", ""]
    await journal.close()


def set_version(path: Path, version: str) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    engine.dispose()


async def test_a_journal_that_was_taken_down_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    migrate.upgrade(str(path))
    migrate.downgrade(str(path), "base")
    journal = open_journal(path, SteppedClock())
    assert await journal.commit(entries.open_intents()) == []
    assert migrate.current(str(path)) == schema.HEAD
    await journal.close()


async def test_an_older_journal_is_migrated_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.db"
    migrate.upgrade(str(path))
    set_version(path, "0000")
    monkeypatch.setattr(migrate, "upgrade", lambda place: set_version(Path(place), schema.HEAD))
    journal = open_journal(path, SteppedClock())
    assert await journal.commit(entries.open_intents()) == []
    assert migrate.current(str(path)) == schema.HEAD
    await journal.close()


async def test_a_newer_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    migrate.upgrade(str(path))
    set_version(path, "9999")
    journal = open_journal(path, SteppedClock())
    with pytest.raises(JournalError, match="schema 9999 of a newer supernoded, this one knows 0003: install the newer one"):
        await journal.commit(entries.open_intents())
    assert list(tmp_path.glob("*corrupt*")) == []
    await journal.close()


def test_a_daemon_with_a_current_schema_never_imports_alembic(tmp_path: Path, checkout: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from supernoded.clock import SystemClock\n"
        "from supernoded.journal import entries\n"
        "from supernoded.journal.writer import open_journal\n"
        "async def main():\n"
        "    journal = open_journal(Path(sys.argv[1]), SystemClock())\n"
        "    await journal.commit(entries.open_intents())\n"
        "    await journal.close()\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('alembic', 'mako', 'psycopg')])\n"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "journal.db")],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("url", ["oracle://u:secret@h/x", "sqlite://secret", "postgresql://u:secret@h:port/x", "://secret"])
def test_what_is_no_database_of_ours_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(JournalError, match="is no database of ours; name a file, or postgresql://USER@HOST/NAME") as caught:
        migrate.current(url)
    assert "secret" not in str(caught.value)


def test_what_cannot_be_read_is_named_without_its_password() -> None:
    with pytest.raises(JournalError) as caught:
        migrate.current("postgresql://tester:secret@127.0.0.1:1/none")
    assert "127.0.0.1:1/none cannot be read" in str(caught.value)
    assert "secret" not in str(caught.value)
