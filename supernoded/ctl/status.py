"""`supernodectl status`: the node on one screen, for somebody who sees it for the first time."""

from __future__ import annotations

from collections.abc import Iterable

import click

from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import Sheet, Table, show
from supernoded.ctl.wording import say_count, say_duration, say_size, say_time
from supernoded.messages import Role, Status
from supernoded.model import Mode, Severity, State

MODES = {
    Mode.OBSERVE: "observe: it watches and rehearses, nothing is written to any device",
    Mode.ADVISE: "advise: it watches, rehearses and notifies, nothing is written to any device",
    Mode.ACT: "act: it may write to devices, within its guards",
}
MOST_FAILING = 8  # sensors that are spelt out


@click.command()
@common
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Show how this node is doing, on one screen."""
    show(invocation, invocation.open_client().get("status", Status), render_status)


def render_status(told: Status) -> Sheet:
    """Lay out one status."""
    rows = [row for part in (_identity, _sensors, _stores, _troubles_and_duties, _incidents) for row in part(told)]
    return [Table((), rows), *_newest(told)]


Rows = Iterable[tuple[str, str]]


def _identity(told: Status) -> Rows:
    yield "node", f"{told.node} of cluster {told.cluster}"
    yield "state", "STARTING" if not told.ready else "DEGRADED" if told.troubles else "READY"
    for trouble in told.troubles:
        yield "", trouble
    yield "mode", MODES[told.mode]
    for policy in sorted(told.modes):
        if told.modes[policy] is not told.mode:
            yield "", f"but {policy} is in {MODES[told.modes[policy]]}"
    yield "daemon", f"supernoded {told.version}, pid {told.pid}, since {say_time(told.started, told.now)}"


def _sensors(told: Status) -> Rows:
    failing = told.failing_sensors
    count = say_count(len(told.sensors), "sensor")
    yield "sensors", f"{count}, {len(failing)} failing" if failing else f"{count}, all work"
    for sensor in failing[:MOST_FAILING]:
        said = any(sensor.reason in trouble for trouble in told.troubles)  # by the lines below the state
        yield "", f"{sensor.name} for {say_duration(told.now - sensor.since)}{'' if said else f': {sensor.reason}'}"
    if len(failing) > MOST_FAILING:
        yield "", f"and {len(failing) - MOST_FAILING} more: supernodectl -o json status"
    counts = [f"{told.readings[state.value]} {state.value}" for state in State if told.readings.get(state.value)]
    hint = " (supernodectl readings --state unknown)" if told.readings.get(State.UNKNOWN.value) else ""
    yield "readings", f"{', '.join(counts) or 'none yet'}{hint}"


def _stores(told: Status) -> Rows:
    journal, session = told.journal, told.session
    waiting = f", {say_count(journal.waiting, 'row')} waiting" if journal.waiting else ""
    yield "journal", f"{'in trouble: ' + journal.reason if journal.reason else 'well'}; {journal.place}, {say_size(journal.size)}{waiting}"
    if session is None:
        yield "broker", "none is configured: this node speaks to no other"
        return
    how = "connected to" if session.connected else "NOT connected to"
    reason = f" ({session.reason})" if session.reason else ""
    outbox = f", {say_count(session.outbox, 'message')} waiting" if session.outbox else ""
    yield "broker", f"{how} {session.broker} for {say_duration(told.now - session.since)}{reason}{outbox}"


def _troubles_and_duties(told: Status) -> Rows:
    yield "roles", ", ".join(map(_say_role, told.roles)) or "none: it works for its own node only"
    if told.holds:
        yield "holds", f"{told.holds} out of service: supernodectl holds"
    for plugin in told.left_out:
        yield "left out", f"plugin {plugin.name}: {plugin.reason}"


def _say_role(role: Role) -> str:
    """A fixed one by its epoch alone, 0; of a lease what is left."""
    left = "" if role.left is None else f", {role.left:.0f} s left"
    return f"{role.name} (epoch {role.epoch}{', steered on without the database' if role.bridging else ''}{left})"


def _incidents(told: Status) -> Rows:
    severities = [severity.value for severity in reversed(Severity)]
    counts = [f"{told.open_incidents[severity]} {severity}" for severity in severities if told.open_incidents.get(severity)]
    yield "incidents", f"{sum(told.open_incidents.values())} open: {', '.join(counts)}" if counts else "none open"


def _newest(told: Status) -> Sheet:
    if not told.newest_incidents:
        return []
    rows = [(i.id, i.severity.value, i.subject, i.kind, say_time(i.opened, told.now), i.text) for i in told.newest_incidents]
    return ["", Table(("NEWEST", "SEVERITY", "SUBJECT", "KIND", "OPENED", "WHAT"), rows, below=1)]
