"""`supernodectl db`: a journal's schema, without the daemon. Imported only when called: it brings SQLAlchemy."""

from __future__ import annotations

import click
import msgspec

from supernoded.ctl.options import Invocation, common
from supernoded.errors import JournalError
from supernoded.journal import migrate
from supernoded.messages import SCHEMA

DEFAULT_JOURNAL = "/var/lib/supernoded/journal.db"

url_option = click.option(
    "--url",
    envvar="SUPERNODED_JOURNAL",
    default=DEFAULT_JOURNAL,
    show_default=True,
    help="A journal file, or postgresql://USER@HOST/NAME; also by $SUPERNODED_JOURNAL.",
)


@click.command()
@url_option
@common
@click.pass_obj
def upgrade(invocation: Invocation, url: str) -> None:
    """Migrate a database to this version's schema; one that has it already is left as it is."""
    before = migrate.current(url)
    migrate.upgrade(url)
    after = migrate.current(url)
    _tell(invocation, {"before": before, "after": after}, f"up to date: {after}" if before == after else f"{before or 'empty'} -> {after}")


@click.command()
@url_option
@common
@click.pass_obj
def current(invocation: Invocation, url: str) -> None:
    """Show which schema a database has; exit 1 when it has none."""
    revision = migrate.current(url)
    if revision is None:
        raise JournalError("there is no journal in this database; `supernodectl db upgrade --url URL` makes one")
    _tell(invocation, {"revision": revision}, revision)


def _tell(invocation: Invocation, facts: dict[str, str | None], sentence: str) -> None:
    click.echo(msgspec.json.encode({"schema": SCHEMA, **facts}).decode() if invocation.as_json else sentence)
