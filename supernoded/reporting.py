"""Tell people and the other nodes: the log, and the durable outbox of the MQTT session."""

from __future__ import annotations

import asyncio
import logging

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.link.outbox import Letter, Outbox
from supernoded.cluster.topics import EventTold, OutcomeTold, Payload
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Action, Event, Incident, Outcome, Result, Severity

_LEVELS = {Severity.INFO: logging.INFO, Severity.WARNING: logging.WARNING, Severity.CRITICAL: logging.ERROR}

LINGER = 0.1  # seconds, for the journal to write what was posted
RETRY = 5.0  # seconds, while the journal takes nothing


class Reporter:
    """The daemon's teller. A message is posted to the journal beside what it tells, so that neither is there without the other."""

    def __init__(self, node: str, cluster: str, life: str, journal: Journal, outbox: Outbox, clock: Clock, log: logging.Logger) -> None:
        self._node, self._life, self._journal, self._outbox, self._clock, self._log = node, life, journal, outbox, clock, log
        self._event_topic, self._outcome_topic = topics.event(cluster, node), topics.outcome(cluster, node)
        self._posted = asyncio.Event()

    def event(self, event: Event) -> None:
        """An edge: one log line, one message."""
        level = _LEVELS[event.severity] if event.raised else logging.INFO
        self._log.log(level, "%s %s: %s", event.kind, "raised" if event.raised else "cleared", event.text)
        told = EventTold(node=self._node, life=self._life, at=self._clock.now(), event=event)
        self._post(event.id, self._event_topic, told, critical=event.severity is Severity.CRITICAL)

    def incident(self, incident: Incident) -> None:
        """A turn in the life of an incident: one log line."""
        if incident.closed is not None:
            self._log.info("incident %s closed: %s on %s", incident.id, incident.kind, incident.subject)
        elif incident.merged_into:
            self._log.info("incident %s merged into %s", incident.id, incident.merged_into)
        else:
            self._log.log(_LEVELS[incident.severity], "incident %s open: %s", incident.id, incident.text)

    def action(self, action: Action, outcome: Outcome | None) -> None:
        """What was done, or would be."""
        step = action.step
        if outcome is None:
            self._log.info("would %s on %s: %s (%s)", step.kind, step.target, step.reason, action.id)
            return
        level = logging.INFO if outcome.result is Result.DONE else logging.WARNING
        self._log.log(level, "%s on %s %s: %s (%s)", step.kind, step.target, outcome.result.value, outcome.text, action.id)
        told = OutcomeTold(
            node=self._node,
            life=self._life,
            at=self._clock.now(),
            outcome=outcome,
            kind=step.kind,
            target=step.target,
            reason=step.reason,
        )
        self._post(f"{action.id}/{outcome.result.value}", self._outcome_topic, told, critical=True)

    def _post(self, id_: str, topic: str, payload: Payload, *, critical: bool) -> None:
        letter = Letter(id=id_, topic=topic, payload=topics.encode(payload), at=self._clock.now(), critical=critical)
        self._journal.post(entries.put_message(letter))
        self._posted.set()

    async def run(self) -> None:
        """Keep the outbox within its bound, and wake whoever delivers from it."""
        while True:
            await self._posted.wait()
            self._posted.clear()
            await self._clock.sleep(LINGER)
            try:
                await self._journal.flush()  # what is not yet written would wait for the next message to be delivered
                await self._outbox.recount()
            except JournalError:  # the journal says so itself
                self._posted.set()
                await self._clock.sleep(RETRY)
