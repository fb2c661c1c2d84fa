"""Moving a database to another schema by Alembic, and saying which one it has."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from supernoded.errors import JournalError
from supernoded.journal.schema import HEAD, version_of

if TYPE_CHECKING:
    from alembic.config import Config

CONNECT_SECONDS = 5
_DRIVERS = {"postgresql": "postgresql+psycopg", "sqlite": "sqlite"}


def migrations_folder() -> Path:
    """Where Alembic's scripts are: in the wheel beside the package's modules, in a checkout beside the package."""
    inside = Path(str(files("supernoded"))) / "_migrations"
    return inside if inside.is_dir() else inside.parent.parent / "migrations"


def as_url(place: str) -> str:
    """The SQLAlchemy URL of a path or a URL. Raises JournalError for one that is neither SQLite's nor PostgreSQL's."""
    if "://" not in place:
        return f"sqlite:///{place}"
    try:
        url = make_url(place)
        driver = _DRIVERS[url.get_backend_name()]
        url.get_dialect()().create_connect_args(url)
    except (ArgumentError, ValueError, KeyError) as error:
        raise JournalError(
            f"{place.partition('://')[0]}://...: is no database of ours; name a file, or postgresql://USER@HOST/NAME"
        ) from error
    return url.set(drivername=driver).render_as_string(hide_password=False)


def current(place: str) -> str | None:
    """The revision a database has, None when it has none. Raises JournalError."""
    url = make_url(as_url(place))
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
        return None
    timeout = {"timeout" if url.get_backend_name() == "sqlite" else "connect_timeout": CONNECT_SECONDS}
    engine = create_engine(url, poolclass=NullPool, connect_args=timeout)
    try:
        with engine.connect() as connection:
            return version_of(connection)
    except DBAPIError as error:
        raise JournalError(f"{url.render_as_string()} cannot be read: {error.orig}") from error


def upgrade(place: str, revision: str = HEAD) -> None:
    """Move a database up to a revision. Raises JournalError."""
    _run("upgrade", place, revision)


def downgrade(place: str, revision: str) -> None:
    """Move a database down to a revision, `base` for none. Raises JournalError."""
    _run("downgrade", place, revision)


def configure(place: str) -> Config:
    """Alembic's configuration for a database."""
    # Here and not at the top: a daemon whose schema is current must not pay 0.3 s and 39 MB for Alembic.
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["url"] = as_url(place)
    return config


def _run(verb: str, place: str, revision: str) -> None:
    from alembic import command  # noqa: PLC0415 - as above
    from alembic.util import CommandError  # noqa: PLC0415 - as above

    run = command.upgrade if verb == "upgrade" else command.downgrade
    try:
        run(configure(place), revision)
    except (CommandError, DBAPIError) as error:
        raise JournalError(f"{make_url(as_url(place)).render_as_string()}: {verb} to {revision} failed: {error}") from error
