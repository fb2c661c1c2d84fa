"""`supernodectl incidents`, `events`, `actions` and `holds`: what went wrong and what was done about it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.readings import LIMIT
from supernoded.ctl.wording import NONE, say_left_off, say_result, say_when
from supernoded.messages import ActionFilter, Actions, Deed, EventFilter, Events, Holds, IncidentFilter, Incidents, Story
from supernoded.model import Event, Incident

limit_option = click.option("--limit", type=LIMIT, default=200, show_default=True)


@click.command()
@click.argument("incident", metavar="[ID]", default="")
@click.option("--all", "closed_too", is_flag=True, help="Closed incidents too.")
@click.option("--subject", default="", help="A shell pattern, such as 'n0/card*'.")
@limit_option
@common
@click.pass_obj
def incidents(invocation: Invocation, incident: str, closed_too: bool, subject: str, limit: int) -> None:
    """Show open incidents, or the whole story of the one with this ID."""
    client = invocation.open_client()
    if incident:
        show(invocation, client.get(f"incidents/{quote(incident, safe='')}", Story), render_story)
    else:
        wanted = IncidentFilter(all=closed_too, subject=subject, limit=limit)
        show(invocation, client.get("incidents", Incidents, wanted), render_incidents)


@click.command()
@click.argument("subject", metavar="[SUBJECT-PATTERN]", default="")
@click.option("--incident", default="", help="Of this incident only.")
@limit_option
@common
@click.pass_obj
def events(invocation: Invocation, subject: str, incident: str, limit: int) -> None:
    """Show what was raised and cleared, newest first."""
    wanted = EventFilter(subject=subject, incident=incident, limit=limit)
    show(invocation, invocation.open_client().get("events", Events, wanted), render_events)


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
    show(invocation, invocation.open_client().get("actions", Actions, wanted), render_actions)


@click.command()
@common
@click.pass_obj
def holds(invocation: Invocation) -> None:
    """Show what is kept out of service, and why."""
    show(invocation, invocation.open_client().get("holds", Holds), render_holds)


def render_incidents(told: Incidents) -> Sheet:
    """Lay out incidents."""
    rows = [_to_incident_row(incident, told.now) for incident in told.incidents]
    empty = "No incident. (Open ones only; --all shows closed ones too.)"
    return [Table(("ID", "SEVERITY", "SUBJECT", "KIND", "OPENED", "CLOSED", "WHAT"), rows, empty), *say_left_off(told.left_off)]


def _to_incident_row(one: Incident, now: float) -> tuple[str, ...]:
    closed = f"merged into {one.merged_into}" if one.merged_into else say_when(one.closed, now)
    return one.id, one.severity.value, one.subject, one.kind, say_when(one.opened, now), closed, one.text


def render_story(told: Story) -> Sheet:
    """Lay out one incident whole."""
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
    ]
    return [Table((), facts), "", _to_event_table(told.events, told.now), "", _to_action_table(told.actions, told.now)]


def render_events(told: Events) -> Sheet:
    """Lay out events."""
    return [_to_event_table(told.events, told.now), *say_left_off(told.left_off)]


def _to_event_table(events: Iterable[Event], now: float) -> Table:
    rows = [
        (say_when(e.at, now), "raised" if e.raised else "cleared", e.severity.value, e.subject, e.kind, e.incident or NONE, e.text)
        for e in events
    ]
    return Table(("AT", "EVENT", "SEVERITY", "SUBJECT", "KIND", "INCIDENT", "WHAT"), rows, "No events.")


def render_actions(told: Actions) -> Sheet:
    """Lay out actions."""
    return [_to_action_table(told.actions, told.now), *say_left_off(told.left_off)]


def _to_action_table(deeds: Iterable[Deed], now: float) -> Table:
    return Table(
        ("ISSUED", "RESULT", "ACTION", "TARGET", "POLICY", "ID", "WHY", "WHAT CAME OF IT"), to_action_rows(deeds, now), "No actions."
    )


def to_action_rows(deeds: Iterable[Deed], now: float) -> list[tuple[str, ...]]:
    """One row an action."""
    return [
        (
            say_when(deed.action.issued, now),
            say_result(deed),
            deed.action.step.kind,
            deed.action.step.target,
            deed.action.policy or NONE,
            deed.action.id,
            deed.action.step.reason,
            deed.outcome.text if deed.outcome is not None else NONE,
        )
        for deed in deeds
    ]


def render_holds(told: Holds) -> Sheet:
    """Lay out holds."""
    rows = [
        (h.subject, h.serial or NONE, h.reason, h.owner, say_when(h.placed, told.now), say_when(h.expires, told.now), h.id)
        for h in told.holds
    ]
    return [Table(("SUBJECT", "SERIAL", "REASON", "OWNER", "PLACED", "EXPIRES", "ID"), rows, "Nothing is held: everything is in service.")]
