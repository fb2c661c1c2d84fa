"""`supernodectl readings` and `plugins`: what is measured, and by whom."""

from __future__ import annotations

from collections import Counter
from functools import partial

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_age, say_count, say_left_off, say_none, say_time, say_value
from supernoded.messages import Plugins, ReadingFilter, Readings
from supernoded.model import Reading, State

LIMIT = click.IntRange(1, 10_000)
LONGEST_VALUE = 16  # characters in a column of its own; what is longer is whole in the note


@click.command()
@click.argument("subject", metavar="[SUBJECT-PATTERN]", default="")
@click.option("--quantity", default="", help="A shell pattern, such as 'link.*'.")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only readings in this state.")
@click.option("--history", is_flag=True, help="All that is in memory (about ten minutes), not the newest only.")
@click.option("--limit", type=LIMIT, default=5_000, show_default=True)
@common
@click.pass_obj
def readings(invocation: Invocation, subject: str, *, quantity: str, state: str | None, history: bool, limit: int) -> None:
    """Show the newest readings.

    SUBJECT-PATTERN is a shell pattern, such as 'n0/card3*'; its `*` takes every character, `/` too.
    """
    chosen = State(state) if state else None
    wanted = ReadingFilter(subject=subject, quantity=quantity, state=chosen, history=history, limit=limit)
    show(invocation, invocation.open_client().get("readings", Readings, wanted), partial(render_readings, wanted=wanted))


def render_readings(told: Readings, wanted: ReadingFilter) -> Sheet:
    """Lay out readings."""
    views = {(reading.subject, reading.quantity, reading.source) for reading in told.readings}
    several = Counter((subject, quantity) for subject, quantity, _ in views)
    rows = [_to_row(reading, told.now, wanted, doubled=several[reading.subject, reading.quantity] > 1) for reading in told.readings]
    empty = say_none("readings", subject=wanted.subject, quantity=wanted.quantity, state=wanted.state.value if wanted.state else "")
    return [Table(("SUBJECT", "QUANTITY", "VALUE", "STATE", "READ", "NOTE"), rows, empty, below=1), *say_left_off(told.left_off)]


def _to_row(reading: Reading, now: float, wanted: ReadingFilter, *, doubled: bool) -> tuple[str, ...]:
    """`doubled` = another source reads it too, so that the row says whose it is."""
    value, note = say_value(reading.value, reading.unit), reading.note
    if len(value) > LONGEST_VALUE:
        value, note = f"{value[: LONGEST_VALUE - 1]}…", f"{value} {note}".rstrip()
    if doubled:
        note = f"by {reading.source}: {note}" if note else f"by {reading.source}"
    read = say_time(reading.at, now) if wanted.history else say_age(reading.at, now)
    return reading.subject, reading.quantity, value, reading.state.value, read, note


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
        parts = ", ".join(say_count(len(plugin.parts[part]), part.removesuffix("s")) for part in sorted(plugin.parts) if plugin.parts[part])
        source = f"{plugin.distribution} {plugin.version}".strip()
        rows.append((plugin.name, source, "left out" if plugin.reason else "runs", plugin.reason or parts or NONE))
    return [Table(("PLUGIN", "FROM", "STATE", "GIVES, OR WHY NOT"), rows, "No plugin is installed.", below=1)]
