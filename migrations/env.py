"""Run by Alembic: connects to the database that `supernoded.journal.migrate` names and runs the revisions."""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from supernoded.journal.tables import metadata


def run() -> None:
    url = context.config.attributes.get("url") or context.get_x_argument(as_dictionary=True)["url"]
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=metadata,
            compare_type=True,
            render_as_batch=connection.dialect.name == "sqlite",  # SQLite alters a table by copying it
        )
        with context.begin_transaction():
            context.run_migrations()


run()
