"""`supernodectl readings` and `plugins`: what is measured, and by whom."""

from __future__ import annotations

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_left_off, say_value, say_when
from supernoded.messages import Plugins, ReadingFilter, Readings
from supernoded.model import State

LIMIT = click.IntRange(1, 10_000)


@click.command()
@click.argument("subject", metavar="[SUBJECT-PATTERN]", default="")
@click.option("--quantity", default="", help="A shell pattern, such as 'link.*'.")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only readings in this state.")
@click.option("--history", is_flag=True, help="All that is in memory (about ten minutes), not the newest only.")
@click.option("--limit", type=LIMIT, default=5_000, show_default=True)
@common
@click.pass_obj
def readings(invocation: Invocation, subject: str, *, quantity: str, state: str | None, history: bool, limit: int) -> None:
    """Show the newest readings; SUBJECT-PATTERN is a shell pattern, such as 'n0/card3*'."""
    chosen = State(state) if state else None
    wanted = ReadingFilter(subject=subject, quantity=quantity, state=chosen, history=history, limit=limit)
    show(invocation, invocation.open_client().get("readings", Readings, wanted), render_readings)


def render_readings(told: Readings) -> Sheet:
    """Lay out readings."""
    rows = [(r.subject, r.quantity, say_value(r.value, r.unit), r.state.value, say_when(r.at, told.now), r.note) for r in told.readings]
    return [Table(("SUBJECT", "QUANTITY", "VALUE", "STATE", "READ", "NOTE"), rows, "No reading matches."), *say_left_off(told.left_off)]


@click.command()
@common
@click.pass_obj
def plugins(invocation: Invocation) -> None:
    """Show the installed plugins, and why one is left out."""
    show(invocation, invocation.open_client().get("plugins", Plugins), render_plugins)


def render_plugins(told: Plugins) -> Sheet:
    """Lay out plugins."""
    rows = []
    for plugin in told.plugins:
        parts = ", ".join(f"{len(plugin.parts[part])} {part}" for part in sorted(plugin.parts) if plugin.parts[part])
        source = f"{plugin.distribution} {plugin.version}".strip()
        rows.append((plugin.name, source, "left out" if plugin.reason else "runs", plugin.reason or parts or NONE))
    return [Table(("PLUGIN", "FROM", "STATE", "GIVES, OR WHY NOT"), rows, "No plugin is installed.")]
