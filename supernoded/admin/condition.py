"""The node on one screen: how the daemon itself is doing."""

from __future__ import annotations

from collections import Counter

from supernoded import __version__
from supernoded.errors import JournalError
from supernoded.house import House
from supernoded.messages import JournalCondition, LeftOut, Role, SensorCondition, SessionCondition, Status
from supernoded.supervisor import Condition

NEWEST = 3  # incidents


async def tell_status(h: House) -> Status:
    """See `Desk.status`."""
    now, incidents = h.clock.now(), h.incidents
    return Status(
        now=now,
        node=h.settings.node,
        cluster=h.settings.cluster,
        version=__version__,
        pid=h.pid,
        started=h.started,
        ready=h.ready.is_set(),
        troubles=tuple(h.list_troubles()),
        mode=h.modes.default,
        modes={policy: h.modes.of(policy) for policy in h.policies},
        sensors=tuple(_list_sensors(h)),
        readings=dict(Counter(reading.state.value for reading in h.readings())),
        journal=await _look_at_journal(h),
        session=_look_at_session(h),
        roles=tuple(
            Role(
                name=one.role,
                epoch=one.epoch,
                since=one.since,
                left=None if one.until is None else max(one.until - now, 0.0),
                bridging=one.bridging,
            )
            for one in h.seats.tenures
        ),
        open_incidents=dict(Counter(incident.severity.value for incident in incidents)),
        newest_incidents=tuple(incidents[:NEWEST]),
        holds=len(h.holds.standing()),
        left_out=tuple(LeftOut(name=found.name, reason=found.trouble) for found in h.parts.plugins if found.trouble),
    )


def _list_sensors(h: House) -> list[SensorCondition]:
    conditions = {condition.name: condition for condition in h.health.conditions()}
    sensors = []
    for duty in h.duties:
        for sampler in duty.samplers:
            name = sampler.sensor.name
            seen = conditions.get(f"sensor {name}") or Condition(name=name, since=h.started, text="not yet read")
            sensors.append(SensorCondition(name=name, scope=duty.scope, since=seen.since, reason=seen.text))
    return sensors


async def _look_at_journal(h: House) -> JournalCondition:
    journal, size = h.journal, 0
    try:
        size = await journal.size()
    except JournalError as error:
        return JournalCondition(place=journal.place, reason=journal.health or str(error), waiting=journal.waiting)
    return JournalCondition(place=journal.place, reason=journal.health, waiting=journal.waiting, size=size)


def _look_at_session(h: House) -> SessionCondition:
    state = h.session.state
    reason = "" if state.connected else state.text
    return SessionCondition(broker=h.broker, connected=state.connected, since=state.since, reason=reason, outbox=h.outbox.waiting)
