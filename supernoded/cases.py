"""All incidents of one scope: what a rule says opens, widens, merges and wakes them, and each has a worker of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from supernoded.errors import FencedError
from supernoded.incidents import Change, Edge, Ledger, Merged, Opened, Widened
from supernoded.journal import entries
from supernoded.journal.actions import renew
from supernoded.model import Action, Incident, Verdict
from supernoded.supervisor import keep
from supernoded.worker import Bureau, Worker, ask, write


class Casework:
    """All incidents of one scope, each with a worker of its own. `on_opened` is told of each new one, before it is worked."""

    def __init__(self, bureau: Bureau, ledger: Ledger, on_opened: Callable[[], None]) -> None:
        self._b, self.ledger, self._on_opened = bureau, ledger, on_opened
        self._news = asyncio.Queue[Incident]()  # one entry per opened incident, and those are bounded by the subjects there are
        self._woken: dict[str, asyncio.Event] = {}
        self._merged: dict[str, list[Incident]] = {}  # by the incident that took them over, until that is written down

    def take(self, verdict: Verdict) -> None:
        """What a rule says; what it changes is journalled, told, and worked."""
        for change in self.ledger.take(verdict):
            self._follow(change, verdict.at)

    def _follow(self, change: Change, at: float) -> None:
        b = self._b
        match change:
            case Opened(incident):
                b.teller.incident(incident)
                self._news.put_nowait(incident)
                self._on_opened()
            case Merged(incidents, into):
                self._merged.setdefault(into.id, []).extend(incidents)
                if into.id in self._woken:
                    self._news.put_nowait(into)  # behind those it takes over, so that these are written down first
                for incident in incidents:
                    b.teller.incident(incident)
                    self._wake(incident.id)
            case Widened(incident):
                b.journal.post(entries.widen_incident(incident, at, b.epoch))
                b.teller.incident(incident)
                self._wake(incident.id)
            case Edge(event):
                b.journal.post(entries.record_event(event))
                b.teller.event(event)
                self._wake(event.incident)

    def _wake(self, incident: str) -> None:
        if incident in self._woken:
            self._woken[incident].set()

    async def run(self) -> None:
        """Take up what an earlier life left, then work whatever opens. Ends with FencedError when the role is lost."""
        left: dict[str, list[Action]] = {}
        for action in await ask(self._b.journal, entries.open_intents(self._b.scope), list[Action]()):
            left.setdefault(action.incident, []).append(renew(action, self._b.epoch))  # an earlier holder's epoch is fenced
        async with asyncio.TaskGroup() as group:
            opened = [self._news.get_nowait() for _ in range(self._news.qsize())]  # while we asked; in the order of their opening
            for incident in opened:
                self._hire(group, incident, [], fresh=True)
            for incident in self.ledger.open:
                self._hire(group, incident, left.pop(incident.id, []), fresh=False)
            for incident_id, actions in left.items():  # their incident is over or was never written: bring them to their outcome
                group.create_task(self._resume(actions), name=f"left by {incident_id}")
            while True:
                self._hire(group, await self._news.get(), [], fresh=True)

    async def _resume(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self._b.teller.action(action, await self._b.performer.resume(action))

    def _hire(self, group: asyncio.TaskGroup, incident: Incident, left: Sequence[Action], *, fresh: bool) -> None:
        name = f"case {incident.id}"
        if incident.id in self._woken:  # it has its worker, and perhaps something more to take over
            group.create_task(self._take_over(incident), name=name)
            return
        woken = self._woken[incident.id] = asyncio.Event()
        news = iter([fresh])  # a worker that failed and begins anew is not fresh any more

        async def work() -> None:
            await self._take_over(incident)
            await Worker(self._b, self.ledger, incident).run(left, woken, fresh=next(news, False))

        async def live() -> None:
            try:
                await keep(name, work, self._b.clock, self._b.health, ends_on=(FencedError,))
            finally:
                del self._woken[incident.id]  # also when all cases begin anew: then it is hired again

        group.create_task(live(), name=name)

    async def _take_over(self, into: Incident) -> None:
        """Durable before its own opening: a later life must not work these on their own beside it."""
        b = self._b
        for one in self._merged.pop(into.id, ()):
            await write(b.journal, entries.merge_incident(one.id, into.id, b.clock.now(), b.scope, b.epoch))
