"""The story of an incident out of the journal."""

from __future__ import annotations

from supernoded.admin.archives import Archives
from supernoded.admin.timeline import tell_timeline
from supernoded.journal import queries
from supernoded.messages import Timeline
from supernoded.model import Incident

# What tells of a sag and of what became of it, when it turns. Voltages and charges drift: `supernodectl readings --history` has those.
WATCHED = ("ups.status", "ups.link", "pdu.event", "pdu.armed", "outlet.state", "job.state", "job.request", "reflex.state")
BEFORE = 10.0  # seconds before an incident opened that belong to its story
AFTER = 60.0  # seconds after it closed
MOST = 1_000  # events, actions, or readings of one quantity
EARLIER = 200  # readings of a quantity before that, for what each series turned from


async def recall_timeline(archives: Archives, incident: Incident, now: float) -> Timeline:
    """All of it. Raises JournalError."""
    ask, mine = archives.own.ask, queries.Filter(incident=incident.id, limit=MOST)
    since, until = incident.opened - BEFORE, incident.closed + AFTER if incident.closed is not None else None
    turns = [await ask(queries.readings(queries.Filter(kind=kind, since=since, until=until, limit=MOST))) for kind in WATCHED]
    earlier = [await ask(queries.readings(queries.Filter(kind=kind, until=since, limit=EARLIER))) for kind in WATCHED]
    events = await archives.find_rows(queries.events(mine), lambda one: one.at, MOST)
    done = await archives.find_rows(queries.actions(mine), lambda deed: deed.action.issued, MOST)
    would = await archives.find_rows(queries.rehearsals(mine), lambda deed: deed.action.issued, MOST)
    readings = [reading for found in (*earlier, *turns) for reading in found.rows]
    left_off = events.left_off + done.left_off + would.left_off + sum(found.left_off for found in turns)
    moments = tell_timeline(events.rows, (*done.rows, *would.rows), readings, since)
    return Timeline(now=now, incident=incident, moments=moments, left_off=left_off)
