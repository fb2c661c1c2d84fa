"""`supernodectl holds`: what is kept out of service, by whom and why; and the end of it by hand."""

from __future__ import annotations

from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import NONE, say_time
from supernoded.errors import AdminError
from supernoded.messages import HoldFilter, Holds, LiftAsk
from supernoded.model import Hold

COMPLETION_PATIENCE = 1.0  # seconds
CHANGE_PATIENCE = 75.0  # seconds; the daemon answers after 60 at the latest


def complete_hold(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The holds that stand; none when the daemon does not answer at once."""
    del option
    try:
        known = context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("holds", Holds).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return []
    return [CompletionItem(one.id, help=f"{one.subject}: {one.reason}") for one in known.holds if one.id.startswith(typed)]


@click.group(invoke_without_command=True)
@click.option("--all", "all_", is_flag=True, help="Those too that were lifted or have expired within 30 days.")
@common
@click.pass_context
def holds(context: click.Context, *, all_: bool) -> None:
    """Show what is kept out of service, and by whom."""
    if context.invoked_subcommand is None:
        invocation = context.ensure_object(Invocation)
        show(invocation, invocation.open_client().get("holds", Holds, HoldFilter(all=all_)), render_holds)


@holds.command()
@click.argument("hold", metavar="ID", shell_complete=complete_hold)
@click.option("--reason", required=True, help="A sentence for the journal of every node.")
@common
@click.pass_obj
def lift(invocation: Invocation, hold: str, reason: str) -> None:
    """Lift hold ID, whoever has placed it; it is written down who did and why."""
    path = f"holds/{quote(hold, safe='')}/lift"
    show(invocation, invocation.open_client(CHANGE_PATIENCE).post(path, Holds, LiftAsk(reason=reason)), render_lifted)


def render_holds(told: Holds) -> Sheet:
    """Lay out holds; where some are over, how they ended."""
    over = any(not hold.stands(told.now) for hold in told.holds)
    columns = ("SUBJECT", "SERIAL", "CAUSE", "OWNER", "PLACED", "BY", "EXPIRES", *(("ENDED",) if over else ()), "ID", "REASON")
    rows = [_to_row(hold, told.now, over=over) for hold in told.holds]
    return [Table(columns, rows, "Nothing is held: everything is in service.", below=1)]


def _to_row(hold: Hold, now: float, *, over: bool) -> tuple[str, ...]:
    return (
        hold.subject,
        hold.serial or NONE,
        hold.cause or NONE,
        hold.owner,
        say_time(hold.placed, now),
        hold.node or NONE,
        say_time(hold.expires, now),
        *((_say_end(hold, now),) if over else ()),
        hold.id,
        hold.reason,
    )


def _say_end(hold: Hold, now: float) -> str:
    if hold.lifted is not None:
        return f"lifted {say_time(hold.lifted, now)} by {hold.lifted_by}"
    return NONE if hold.stands(now) else "expired"


def render_lifted(told: Holds) -> Sheet:
    """Lay out a lifting."""
    stays = "What was fenced stays so until `supernodectl card release` gives it back."
    return [f"Hold {hold.id} of {hold.owner} on {hold.subject} is lifted. {stays}" for hold in told.holds]
