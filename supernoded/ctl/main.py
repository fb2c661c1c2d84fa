"""supernodectl. Exit codes: 0 ok, 1 no, 2 usage, 3 unreachable; `chaos` has further ones."""

from __future__ import annotations

import importlib
from typing import Any

import click

from supernoded import __version__
from supernoded.ctl.cards import card, cards
from supernoded.ctl.client import UnreachableError
from supernoded.ctl.completion import PROGRAM, completion
from supernoded.ctl.deferred import Deferred
from supernoded.ctl.holds import holds
from supernoded.ctl.incidents import actions, events, incidents
from supernoded.ctl.jobs import checkpoint, jobs
from supernoded.ctl.links import diagnose, links
from supernoded.ctl.mode import mode
from supernoded.ctl.nodes import breakers, nodes
from supernoded.ctl.options import common
from supernoded.ctl.power import power
from supernoded.ctl.readings import plugins, readings
from supernoded.ctl.status import status
from supernoded.ctl.thermal import thermal
from supernoded.ctl.top import top
from supernoded.errors import SupernodedError


class _No(click.ClickException):
    """A sentence on stderr and an exit code: the daemon, or the database, says no."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        click.echo(f"{PROGRAM}: {self.message}", err=True, file=file)


class _Unreachable(_No):
    """Nobody could be asked."""

    exit_code = 3


class _Program(click.Group):
    """Turns what supernoded raises into an exit code, for every verb in one place; strange verbs are looked for in the plugins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_load_foreign()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or _load_foreign().get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SupernodedError as error:
            raise (_Unreachable if isinstance(error, UnreachableError) else _No)(str(error)) from error


def _load_foreign() -> dict[str, click.Command]:
    """The plugins' own groups. Imported when asked for: it brings the registry, which no verb of ours needs."""
    found: dict[str, click.Command] = importlib.import_module("supernoded.ctl.foreign").list_commands()
    return found


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@common
@click.version_option(__version__, prog_name=PROGRAM)
def program() -> None:
    """Ask the supernoded daemon of this machine, and tell it what it may do."""


@click.group()
@common
def db() -> None:
    """Bring a journal's database up to date; works without the daemon."""


@click.group()
@common
def pki() -> None:
    """Make the keys by which nodes and broker know each other; works without the daemon."""


_WATCHING = (status, top, nodes, cards, links, power, thermal, jobs, plugins, readings, diagnose, incidents, events, actions, holds)
for _verb in (*_WATCHING, breakers, card, mode, checkpoint, completion, db, pki):
    program.add_command(_verb)
program.add_command(Deferred("replay", "supernoded.ctl.replay:command", "Run recorded input through the daemon's rules."))
program.add_command(Deferred("chaos", "supernoded.ctl.chaos:chaos", "Play scenarios: what is done to a rack, and what must come of it."))
program.add_command(Deferred("ring", "supernoded.ctl.ring:ring", "Show the rings, with the broken hop marked; verify cabling."))
for _name, _help in (
    ("init", "Begin the authority of a cluster."),
    ("issue", "Make the key and certificate of a node or broker."),
    ("rotate", "Replace them; the old certificate is revoked."),
    ("revoke", "Let the certificates of a node count no more."),
    ("list", "Show what was issued and until when it counts."),
):
    pki.add_command(Deferred(_name, f"supernoded.ctl.pki:{'list_issued' if _name == 'list' else _name}", _help))
for _name, _help in (("upgrade", "Migrate a database to this version."), ("current", "Show which version a database is at.")):
    db.add_command(Deferred(_name, f"supernoded.ctl.db:{_name}", _help))


def main() -> None:
    """The console script."""
    program(prog_name=PROGRAM)
