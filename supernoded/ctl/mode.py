"""`supernodectl mode`: how far a policy may go."""

from __future__ import annotations

import sys
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.ctl.client import AdminClient
from supernoded.ctl.incidents import to_action_rows
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, print_sheet, show
from supernoded.ctl.wording import say_count, say_when
from supernoded.errors import AdminError
from supernoded.messages import ModeChange, ModeChanged, Modes, RehearsalFilter, Rehearsed
from supernoded.model import Mode

CHANGE_PATIENCE = 75.0  # seconds; the daemon answers after 60 at the latest: leaving `act` waits for devices
COMPLETION_PATIENCE = 1.0


def complete_policy(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The policies the daemon knows; none when it does not answer at once."""
    del option
    try:
        known = context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("modes", Modes).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return []
    return [CompletionItem(one.policy, help=one.mode.value) for one in known.policies if one.policy.startswith(typed)]


@click.command()
@click.argument("wanted", metavar="[observe|advise|act]", type=click.Choice([mode.value for mode in Mode]), required=False)
@click.option("--policy", metavar="NAME", shell_complete=complete_policy, help="Whose mode to change.")
@click.option("--yes", is_flag=True, help="Do not ask before going to act.")
@common
@click.pass_obj
def mode(invocation: Invocation, wanted: str | None, policy: str | None, yes: bool) -> None:
    """Show the modes, or change a policy's.

    \b
    observe  the policy is rehearsed, nothing is written anywhere
    advise   the same, and people are notified
    act      it may write to devices
    """  # noqa: D301 - \b is click's mark for a paragraph that is not rewrapped
    client = invocation.open_client(CHANGE_PATIENCE if wanted else None)
    if wanted is None:
        show(invocation, client.get("modes", Modes), render_modes)
        return
    if not policy:
        raise click.UsageError("--policy NAME is missing: a mode is changed one policy at a time; `supernodectl mode` lists them")
    if Mode(wanted) is Mode.ACT:
        _ask_before_acting(client, policy, yes)
    changed = client.put(f"modes/{quote(policy, safe='')}", ModeChanged, ModeChange(mode=Mode(wanted)))
    show(invocation, changed, render_changed)


def has_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def _ask_before_acting(client: AdminClient, policy: str, yes: bool) -> None:
    """Show what it would have done (safety rule 3), on stderr so that `-o json` stays clean, and ask."""
    print_sheet(render_rehearsed(client.get("rehearsals", Rehearsed, RehearsalFilter(policy=policy)).answer), to_stderr=True)
    if yes:
        return
    if not has_terminal():
        raise click.UsageError("going to act asks first, and there is nobody to ask: say --yes")
    click.confirm(f"Let {policy} write to devices from now on?", abort=True, err=True)


def render_modes(told: Modes) -> Sheet:
    """Lay out modes."""
    rows = [(one.policy, one.mode.value, one.said_by, say_when(one.since, told.now)) for one in told.policies]
    return [
        f"Policies that nobody spoke of are in mode {told.default.value}.",
        Table(("POLICY", "MODE", "SAID BY", "SINCE"), rows, "There are no policies."),
    ]


def render_changed(told: ModeChanged) -> Sheet:
    """Lay out a change."""
    what = f"{told.policy} is in mode {told.after.value}" + (
        f", was {told.before.value}" if told.before is not told.after else " as before"
    )
    return [f"{what}. {told.text}".rstrip()]


def render_rehearsed(told: Rehearsed) -> Sheet:
    """Lay out rehearsals."""
    count = len(told.actions) + told.left_off
    since = "" if told.since is None else f" (records begin {say_when(told.since, told.now)})"
    return [
        f"In the last {told.days:g} days {told.policy} would have done {say_count(count, 'thing')}{since}.",
        *([Table(("WHEN", "RESULT", "ACTION", "TARGET", "WHY"), _to_short_rows(told), below=1)] if told.actions else []),
        *([f"... and {told.left_off} more: supernodectl actions --policy {told.policy}"] if told.left_off else []),
    ]


def _to_short_rows(told: Rehearsed) -> list[tuple[str, ...]]:
    return [(when, result, kind, target, why) for when, result, kind, target, _, _, _, why in to_action_rows(told.actions, told.now)]
