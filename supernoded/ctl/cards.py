"""`supernodectl cards` and `card`: where each card stands, and what is done to one by hand."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase
from functools import partial
from urllib.parse import quote

import click
from click.shell_completion import CompletionItem

from supernoded.ctl.client import AdminClient, Reply
from supernoded.ctl.mode import has_terminal
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.saving import save_first
from supernoded.ctl.thermal import Duration
from supernoded.ctl.wording import NONE, say_count, say_none, say_value
from supernoded.errors import AdminError
from supernoded.messages import (
    LONGEST_HOLD,
    CardDone,
    CardFilter,
    CardRow,
    Cards,
    CardTested,
    IsolateAsk,
    ReleaseAsk,
    TestAsk,
    TestFilter,
)

COMPLETION_PATIENCE = 1.0  # seconds
CHANGE_PATIENCE = 75.0  # seconds; the daemon answers after 60 at the latest
WELL = frozenset({"in service", "spare"})
LOOK_EVERY = 1.0  # seconds between two looks at a test
SLACK = 30.0  # seconds that a test may take longer than it is said to


def complete_card(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The cards the daemon knows; none when it does not answer at once."""
    del option
    try:
        known = context.ensure_object(Invocation).open_client(COMPLETION_PATIENCE).get("cards", Cards).answer
    except AdminError:  # in the middle of a line there is nobody to tell
        return []
    return [CompletionItem(one.subject, help=one.state) for one in known.cards if one.subject.startswith(typed)]


@click.command()
@click.argument("pattern", metavar="[SUBJECT-PATTERN]", default="", shell_complete=complete_card)
@click.option("--troubled", is_flag=True, help="Only cards that are neither in service nor spares.")
@common
@click.pass_obj
def cards(invocation: Invocation, pattern: str, *, troubled: bool) -> None:
    """Show every card: whether it is in service, who runs on it, how it is, and who holds it.

    SUBJECT-PATTERN is a shell pattern, such as 'n0/*'; JSON has all cards, whatever the pattern.
    """
    show(invocation, invocation.open_client().get("cards", Cards), partial(render_cards, pattern=pattern, troubled=troubled))


@click.group()
@common
def card() -> None:
    """Take a card out of service, test it, or give it back."""


@card.command()
@click.argument("subject", shell_complete=complete_card)
@click.option("--reason", required=True, help="A sentence for whoever finds the card out of service.")
@click.option(
    "--expires",
    type=Duration(LONGEST_HOLD),
    metavar="TIME",
    help="After which it may be used again, such as 4h. Default: until it is lifted.",
)
@click.option(
    "--checkpoint/--now", default=True, help="Save the job that runs on it before the card is taken away (default), or take it at once."
)
@click.option("--yes", is_flag=True, help="Do not ask, though something runs on it.")
@common
@click.pass_obj
def isolate(invocation: Invocation, subject: str, reason: str, expires: float | None, *, checkpoint: bool, yes: bool) -> None:
    """Take SUBJECT out of service in your name: held for all nodes, and fenced by its own."""
    client = invocation.open_client(CHANGE_PATIENCE)
    ranks = _find_ranks(client, subject)
    if ranks and not yes:
        _confirm(subject, ranks)
    if ranks and checkpoint:
        client.post(_path(subject, "isolate"), CardDone, IsolateAsk(reason=reason, expires_s=expires, fence=False))
        save_first(client, ranks, f"{subject} is taken out: {reason}")
    done = client.post(_path(subject, "isolate"), CardDone, IsolateAsk(reason=reason, expires_s=expires))
    _show_done(invocation, done)


@card.command()
@click.argument("subject", shell_complete=complete_card)
@click.option("--reason", required=True, help="A sentence for the journal of every node.")
@common
@click.pass_obj
def release(invocation: Invocation, subject: str, reason: str) -> None:
    """Lift your own hold on SUBJECT, and give it back when nobody else holds it."""
    client = invocation.open_client(CHANGE_PATIENCE)
    _show_done(invocation, client.post(_path(subject, "release"), CardDone, ReleaseAsk(reason=reason)))


@card.command()
@click.argument("subject", shell_complete=complete_card)
@click.option("--reason", default="", help="A sentence for the journal.")
@common
@click.pass_obj
def test(invocation: Invocation, subject: str, reason: str) -> None:
    """Test SUBJECT, which nothing may run on, and wait for the end; exit code 1 when it fails."""
    client = invocation.open_client(CHANGE_PATIENCE)
    last = _follow(client, subject, client.post(_path(subject, "test"), CardTested, TestAsk(reason=reason)))
    show(invocation, last, render_tested)
    if last.answer.passed is not True:
        raise AdminError(f"{subject} has not passed its test")


def _path(subject: str, verb: str) -> str:
    return f"cards/{quote(subject, safe='/')}/{verb}"


def _find_ranks(client: AdminClient, subject: str) -> tuple[str, ...]:
    known = client.get("cards", Cards, CardFilter(subject=subject)).answer.cards
    return tuple(rank for row in known if row.subject == subject or row.subject.startswith(f"{subject}/") for rank in row.ranks)


def _confirm(subject: str, ranks: tuple[str, ...]) -> None:
    if not has_terminal():
        raise click.UsageError(f"{', '.join(ranks[:8])} runs on {subject}, and there is nobody to ask whether to go on: say --yes")
    click.confirm(f"{', '.join(ranks[:8])} runs on {subject}, and its job will stop. Go on?", abort=True, err=True)


def _show_done(invocation: Invocation, done: Reply[CardDone]) -> None:
    """What was not done makes it a no, said after what was."""
    show(invocation, done, render_done)
    if done.answer.undone:
        raise AdminError("; ".join(done.answer.undone))


def _follow(client: AdminClient, subject: str, reply: Reply[CardTested]) -> Reply[CardTested]:
    """Until it is over, or has long had its time; a line a look."""
    until, told = time.monotonic() + reply.answer.test_s + SLACK, ""
    while reply.answer.passed is None and time.monotonic() < until:
        if reply.answer.text != told:
            told = reply.answer.text
            click.echo(f"{subject}: {told}, {reply.answer.test_s:g} s in all", err=True)
        time.sleep(LOOK_EVERY)
        reply = client.get(_path(subject, "test"), CardTested, TestFilter(test=reply.answer.test))
    return reply


def render_cards(told: Cards, pattern: str = "", *, troubled: bool = False) -> Sheet:
    """Lay out cards."""
    if not told.cards:
        return ["No card is in the topology of this daemon."]
    chosen = [row for row in told.cards if fnmatchcase(row.subject, pattern or "*") and (not troubled or row.state not in WELL)]
    if troubled and not chosen and not pattern:
        return [f"All {say_count(len(told.cards), 'card')} are in service, or spares."]
    columns = ("CARD", "SERIAL", "STATE", "RANKS", "TEMPERATURE", "HEALTH", "HOLDS", "WHY")
    return [Table(columns, [_to_row(row) for row in chosen], say_none("cards", subject=pattern), below=1)]


def _to_row(row: CardRow) -> tuple[str, ...]:
    return (
        row.subject,
        row.serial or NONE,
        row.state,
        " ".join(row.ranks) or NONE,
        say_value(row.temperature, "C"),
        " ".join(row.health) or NONE,
        " ".join(row.holds) or NONE,
        (row.text if row.state not in WELL else "") or NONE,  # of those it would say the columns again
    )


def render_done(told: CardDone) -> Sheet:
    """Lay out what was done."""
    return [*(f"{sentence}." for sentence in told.done), *([] if told.done else ["Nothing was done."])]


def render_tested(told: CardTested) -> Sheet:
    """Lay out a test."""
    return [f"{told.text}." if told.text.startswith(told.subject) else f"{told.subject}: {told.text}."]
