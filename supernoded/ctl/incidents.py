"""`supernodectl incidents`, `events` and `actions`: what went wrong and what was done about it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from urllib.parse import quote

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.readings import LIMIT
from supernoded.ctl.wording import NONE, say_left_off, say_none, say_result, say_time, say_unread, say_when
from supernoded.messages import ActionFilter, Actions, Deed, EventFilter, Events, IncidentFilter, Incidents, Status, Story
from supernoded.model import Incident

ACTION_COLUMNS = ("ISSUED", "RESULT", "ACTION", "TARGET", "POLICY", "ID", "OUTCOME", "WHY")

limit_option = click.option("--limit", type=LIMIT, default=200, show_default=True)


@click.command()
@click.argument("incident", metavar="[ID]", default="")
@click.option("--all", "closed_too", is_flag=True, help="Closed incidents too.")
@click.option("--subject", default="", help="A shell pattern, such as 'n0/card*'.")
@limit_option
@common
@click.pass_obj
def incidents(invocation: Invocation, incident: str, closed_too: bool, subject: str, limit: int) -> None:
    """Show open incidents, or the story of the one with this ID."""
    client = invocation.open_client()
    if incident:
        told = client.get(f"incidents/{quote(incident, safe='')}", Story)
        journal = "" if invocation.as_json else client.get("status", Status).answer.journal.place
        show(invocation, told, partial(render_story, journal=journal))
    else:
        wanted = IncidentFilter(all=closed_too, subject=subject, limit=limit)
        show(invocation, client.get("incidents", Incidents, wanted), partial(render_incidents, wanted=wanted))


@click.command()
@click.argument("subject", metavar="[SUBJECT-PATTERN]", default="")
@click.option("--incident", default="", help="Of this incident only.")
@limit_option
@common
@click.pass_obj
def events(invocation: Invocation, subject: str, incident: str, limit: int) -> None:
    """Show what was raised and cleared, newest first."""
    wanted = EventFilter(subject=subject, incident=incident, limit=limit)
    show(invocation, invocation.open_client().get("events", Events, wanted), partial(render_events, wanted=wanted))


@click.command()
@click.argument("target", metavar="[TARGET-PATTERN]", default="")
@click.option("--incident", default="", help="Of this incident only.")
@click.option("--policy", default="", help="Of this policy only.")
@limit_option
@common
@click.pass_obj
def actions(invocation: Invocation, target: str, incident: str, policy: str, limit: int) -> None:
    """Show what was done, or rehearsed, newest first."""
    wanted = ActionFilter(target=target, incident=incident, policy=policy, limit=limit)
    show(invocation, invocation.open_client().get("actions", Actions, wanted), partial(render_actions, wanted=wanted))


def render_incidents(told: Incidents, wanted: IncidentFilter) -> Sheet:
    """Lay out incidents; that all are open needs no column."""
    closed = any(one.closed is not None or one.merged_into for one in told.incidents)
    columns = ("ID", "SEVERITY", "SUBJECT", "KIND", "OPENED", *(["CLOSED"] if closed else []), "WHAT")
    rows = [_to_incident_row(one, told.now, closed=closed) for one in told.incidents]
    empty = say_none("incidents" if wanted.all else "open incidents", subject=wanted.subject)
    hint = "" if wanted.all else " `supernodectl incidents --all` shows closed ones too."
    return [Table(columns, rows, f"{empty}{hint}", below=1), *say_left_off(told.left_off), *say_unread(told.unread)]


def _to_incident_row(one: Incident, now: float, *, closed: bool) -> tuple[str, ...]:
    end = f"merged into {one.merged_into}" if one.merged_into else say_time(one.closed, now)
    return one.id, one.severity.value, one.subject, one.kind, say_time(one.opened, now), *([end] if closed else []), one.text


def render_story(told: Story, journal: str) -> Sheet:
    """Lay out one incident whole, and where in the `journal` each of its rows is."""
    one = told.incident
    facts = [
        ("incident", one.id),
        ("what", one.text),
        ("severity", one.severity.value),
        ("subject", one.subject),
        ("kind", one.kind),
        ("scope", one.scope),
        ("opened", say_when(one.opened, told.now)),
        ("closed", "still open" if one.closed is None else say_when(one.closed, told.now)),
        *([("members", ", ".join(one.members))] if one.members else []),
        *([("merged", f"into {one.merged_into}")] if one.merged_into else []),
        *(("took over", f"{other.id} ({other.subject}): {other.text}") for other in told.merged),
        ("journal", journal),
        ("stored as", f"incidents/{one.id}"),
    ]
    return [Table((), facts), "", _to_story_events(told), "", _to_story_actions(told), *say_unread(told.unread)]


def _to_story_events(told: Story) -> Table:
    rows = [
        (say_time(e.at, told.now), "raised" if e.raised else "cleared", e.severity.value, e.subject, f"events/{e.id}", e.text)
        for e in told.events
    ]
    return Table(("AT", "EVENT", "SEVERITY", "SUBJECT", "STORED AS", "WHAT"), rows, "No events yet.", below=2)


def _to_story_actions(told: Story) -> Table:
    stored = [f"{'rehearsals' if deed.rehearsed else 'actions'}/{deed.action.id}" for deed in told.actions]
    rows = [(*row[:5], place, *row[6:]) for row, place in zip(to_action_rows(told.actions, told.now), stored, strict=True)]
    return Table((*ACTION_COLUMNS[:5], "STORED AS", *ACTION_COLUMNS[6:]), rows, "No actions: nothing was done or rehearsed.", below=3)


def render_events(told: Events, wanted: EventFilter | None = None) -> Sheet:
    """Lay out events."""
    rows = [
        (say_time(e.at, told.now), "raised" if e.raised else "cleared", e.severity.value, e.subject, e.kind, e.incident or NONE, e.text)
        for e in told.events
    ]
    empty = say_none("events", subject=wanted.subject, incident=wanted.incident) if wanted else say_none("events")
    return [
        Table(("AT", "EVENT", "SEVERITY", "SUBJECT", "KIND", "INCIDENT", "WHAT"), rows, empty, below=1),
        *say_left_off(told.left_off),
        *say_unread(told.unread),
    ]


def render_actions(told: Actions, wanted: ActionFilter | None = None) -> Sheet:
    """Lay out actions."""
    rows = to_action_rows(told.actions, told.now)
    empty = say_none("actions", target=wanted.target, incident=wanted.incident, policy=wanted.policy) if wanted else say_none("actions")
    return [Table(ACTION_COLUMNS, rows, empty, below=3), *say_left_off(told.left_off), *say_unread(told.unread)]


def to_action_rows(deeds: Iterable[Deed], now: float) -> list[tuple[str, ...]]:
    """One row an action, under ACTION_COLUMNS."""
    return [
        (
            say_time(deed.action.issued, now),
            say_result(deed),
            deed.action.step.kind,
            deed.action.step.target,
            deed.action.policy or NONE,
            deed.action.id,
            deed.outcome.text if deed.outcome is not None else NONE,
            deed.action.step.reason,
        )
        for deed in deeds
    ]
