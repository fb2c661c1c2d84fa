"""`supernodectl nodes` and `breakers`: who beats, and how much is out of service."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import partial
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_count, say_duration, say_none, say_value, say_when
from supernoded.errors import AdminError
from supernoded.messages import BreakerReset, BreakerRow, Breakers, BreakerWasReset, NodeRow, Nodes

COMPLETION_PATIENCE = 1.0  # seconds
MOST_NAMED = 6


@click.command()
@click.argument("pattern", metavar="[NODE-PATTERN]", default="")
@click.option("--troubled", is_flag=True, help="Only nodes that are not up, are held, or have something said of them.")
@common
@click.pass_obj
def nodes(invocation: Invocation, pattern: str, *, troubled: bool) -> None:
    """Show every node: whether it beats, what it says of itself, its roles, and what is held there.

    Beats are heard by one node, the holder of the role fleet; elsewhere its word is shown, and how old that is.
    """
    show(invocation, invocation.open_client().get("nodes", Nodes), partial(render_nodes, pattern=pattern, troubled=troubled))


def render_nodes(told: Nodes, pattern: str = "", *, troubled: bool = False) -> Sheet:
    """Lay out nodes."""
    chosen = [node for node in told.nodes if fnmatchcase(node.name, pattern or "*") and (not troubled or _is_troubled(node))]
    head = list(_say_word(told))
    if troubled and not chosen and told.nodes and not pattern:
        return [*head, f"All {say_count(len(told.nodes), 'node')} beat, and nothing is held."]
    columns = ("NODE", "STATE", "BEAT", "SAYS", "POWER", "HOTTEST", "STEP", "CLOCK", "VERSION", "ROLES", "HELD, AND WHAT IS SAID")
    return [*head, Table(columns, [_to_row(node) for node in chosen], say_none("nodes", subject=pattern), below=2)]


def _say_word(told: Nodes) -> Iterator[str]:
    if told.told_by and told.told_age is not None and told.told_age >= 1.0:
        yield f"By the word of {told.told_by}, which has the role fleet, {say_duration(told.told_age)} old."
    if told.trouble:
        yield f"{told.trouble[:1].upper()}{told.trouble[1:]}."
    if told.strangers:
        yield f"Beating, and not in the topology: {', '.join(told.strangers[:MOST_NAMED])}."


def _is_troubled(node: NodeRow) -> bool:
    return node.state != "up" or bool(node.holds or node.text)


def _to_row(node: NodeRow) -> tuple[str, ...]:
    said = "; ".join([*([node.text] if node.text else []), *(f"held: {hold}" for hold in node.holds)])
    return (
        node.name,
        node.state,
        NONE if node.beat_age is None else f"{node.beat_age:.1f} s ago" if node.beat_age < 60 else f"{say_duration(node.beat_age)} ago",
        node.said or NONE,
        NONE if node.power is None else say_value(node.power, "W"),
        NONE if node.hottest is None else say_value(node.hottest, "C"),
        NONE if node.step is None else f"{node.step:,}",
        NONE if node.clock_offset is None else f"{round(node.clock_offset, 2) + 0.0:+.2f} s",
        node.version or NONE,
        " ".join(node.roles) or NONE,
        said or NONE,
    )


def complete_breaker(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The breakers that have tripped; none when the daemon does not answer at once."""
    del option
    try:
        known = context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("breakers", Breakers).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return []
    return [CompletionItem(one.name, help=one.text) for one in known.breakers if one.tripped and one.name.startswith(typed)]


@click.group(invoke_without_command=True)
@common
@click.pass_context
def breakers(context: click.Context) -> None:
    """Show how much is out of service of what may be, and what has tripped; ask on the node that has the role fleet."""
    if context.invoked_subcommand is None:
        invocation = context.ensure_object(Invocation)
        show(invocation, invocation.open_client().get("breakers", Breakers), render_breakers)


@breakers.command()
@click.argument("name", shell_complete=complete_breaker)
@click.option("--reason", required=True, help="A sentence for the journal: what the cause was.")
@common
@click.pass_obj
def reset(invocation: Invocation, name: str, reason: str) -> None:
    """Let things be taken out of service again after breaker NAME has tripped."""
    if not reason.strip():
        raise click.BadParameter("it is empty; say what the cause was", param_hint="--reason")
    reply = invocation.open_client().post(f"breakers/{quote(name, safe='')}/reset", BreakerWasReset, BreakerReset(reason=reason))
    show(invocation, reply, lambda told: [f"Breaker {told.name} is reset. It had tripped {say_when(told.since, told.now)}: {told.text}"])


def render_breakers(told: Breakers) -> Sheet:
    """Lay out breakers and grants."""
    rows = [_to_breaker(one, told.now) for one in told.breakers]
    grants = [(one.subject, one.cause, one.incident, say_when(one.at, told.now)) for one in told.grants]
    sheet: list[str | Table] = [f"Nothing is granted now: {told.trouble}."] if told.trouble else []
    if any(one.tripped for one in told.breakers):
        sheet.append("Nothing is taken out of service until every tripped breaker is reset: supernodectl breakers reset NAME --reason TEXT")
    sheet.append(Table(("BREAKER", "OUT", "LIMIT", "STATE", "WHAT COUNTS"), rows, below=1))
    return [*sheet, "", Table(("GRANTED", "CAUSE", "INCIDENT", "WHEN"), grants, "No grants count now.")]


def _to_breaker(one: BreakerRow, now: float) -> tuple[str, ...]:
    named = ", ".join(one.subjects[:MOST_NAMED])
    more = f" and {len(one.subjects) - MOST_NAMED} more" if len(one.subjects) > MOST_NAMED else ""
    what = f"tripped {say_when(one.since, now)}: {one.text}" if one.tripped else f"{named}{more}"
    return one.name, str(len(one.subjects)), str(one.limit), "tripped" if one.tripped else "closed", what or NONE
