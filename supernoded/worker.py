"""Work one incident: ask its remedy for the next step, perform it, until the cause is clear and the remedy has none."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec
from sqlalchemy import Connection

from supernoded.actions import Performer
from supernoded.clock import Clock
from supernoded.errors import FencedError, JournalError
from supernoded.guards import NOTIFY
from supernoded.history import View
from supernoded.incidents import FORGET_AFTER, Ledger
from supernoded.journal import entries
from supernoded.journal.rows import Sentence
from supernoded.journal.writer import Journal
from supernoded.model import Action, Cause, Event, Incident, Mode, Outcome, Result, Step, action_id
from supernoded.modes import Modes
from supernoded.parts import NOTHING_SEEN, Case, World
from supernoded.registry import Parts
from supernoded.supervisor import BUGS, Health, describe
from supernoded.vetting import vet_steps

T = TypeVar("T")

TURN = 1.0  # seconds between two looks at an incident that waits
ADVICE = "advise-"  # how the name of the step begins that tells people what would be done
MOST_STEPS = 2_000  # of one incident: a remedy that wants more goes round in circles; a rack of 64 nodes comes back by two cords each


class Teller(Protocol):
    """Tells people and other nodes what happened; it never blocks and never fails."""

    def event(self, event: Event) -> None:
        """A trouble came or went."""
        ...

    def incident(self, incident: Incident) -> None:
        """An incident was opened, widened, merged or closed."""
        ...

    def action(self, action: Action, outcome: Outcome | None) -> None:
        """An action came to its outcome; None = it was rehearsed."""
        ...


@dataclass(frozen=True)
class Bureau:
    """What the cases of one scope work with."""

    scope: str
    epoch: int
    parts: Parts
    performer: Performer
    journal: Journal
    clock: Clock
    modes: Modes
    health: Health
    teller: Teller
    world: Callable[[], World]
    causes: Callable[[Incident], tuple[Cause, ...]] = lambda _: ()
    look: Callable[[Mapping[str, float]], View] = lambda _: NOTHING_SEEN  # what the scope has read of these quantities


async def ask(journal: Journal, work: Callable[[Connection], T], default: T) -> T:
    """Ask the journal; while it cannot answer, cases go on with what is known."""
    try:
        return await journal.commit(work)
    except FencedError:
        raise
    except JournalError:
        return default


async def write(journal: Journal, work: Sentence[T]) -> T | None:
    """Durable on return; while the journal takes nothing it is posted, and the case goes on. Raises FencedError."""
    try:
        return await journal.commit(work)
    except FencedError:
        raise
    except JournalError:
        journal.post(work)
        return None


def _may_stand(name: str, outcome: Outcome) -> bool:
    """Whether the order of a step may have arrived; advice is no order."""
    return outcome.result in {Result.DONE, Result.UNCONFIRMED} and not name.startswith(ADVICE)


class Worker:
    """Works one incident from its opening to its close."""

    def __init__(self, bureau: Bureau, ledger: Ledger, incident: Incident) -> None:
        self._b, self._ledger, self._incident = bureau, ledger, incident
        self._remedy = bureau.parts.remedies.get(incident.kind)
        self._policy = bureau.parts.owner("remedy", incident.kind)
        self._done: dict[str, Outcome] = {}
        self._rehearsed: tuple[str, ...] = ()
        self._running: dict[str, asyncio.Task[None]] = {}  # by step

    async def run(self, left: Sequence[Action], woken: asyncio.Event, *, fresh: bool) -> None:
        """Until it is closed or merged. `left` = actions without an outcome from an earlier life; `fresh` = opened in this one."""
        try:
            if not (fresh and await self._begin()):
                await self._take_up(left)
            if not self._ledger.is_open(self._incident):  # merged before its worker began: that may have been written before its opening
                b, into = self._b, self._ledger.home(self._incident)
                await write(b.journal, entries.merge_incident(self._incident.id, into, b.clock.now(), b.scope, b.epoch))
            while self._ledger.is_open(self._incident):
                woken.clear()
                if await self._take_turn():
                    await self._wait(woken)
            await self._finish()
        finally:
            for task in self._running.values():
                task.cancel()

    async def _take_turn(self) -> bool:
        """Ask the remedy once and start what it wants; False = it is closed."""
        if self._b.modes.of(self._policy) is Mode.ACT:
            steps = self._next_steps(self._done)
            self._ledger.begin(self._incident, steps)
            for step in steps:
                self._start(self._action(step))
        else:
            await self._rehearse()
        if not self._running and self._ledger.is_over(self._incident, self._b.clock.now()) and not self._is_left_standing():
            await self._close()
            return False
        return True

    def _is_left_standing(self) -> bool:
        """Whether what was done is still to be undone: the remedy says so, or its policy has left `act`, and does it when it acts again."""
        if self._b.modes.of(self._policy) is Mode.ACT:
            return self._is_kept_open()
        if not any(_may_stand(name, outcome) for name, outcome in self._done.items()):
            return False
        return self._is_kept_open() or any(step.kind != NOTIFY for step in self._next_steps(self._done, still_raised=False))

    def _is_kept_open(self) -> bool:
        keeps_open = getattr(self._remedy, "keeps_open", None)
        if keeps_open is None:
            return False
        try:
            return bool(keeps_open(self._make_case(self._done, None), self._b.world()))
        except BUGS as error:  # as above
            self._b.health.report(f"remedy {self._incident.kind}", f"cannot say whether it has ended: {describe(error)}")
            return False

    async def _begin(self) -> bool:
        """The way of most troubles: opening and first intent in one transaction. False = the longer way must be gone."""
        acting = self._b.modes.of(self._policy) is Mode.ACT and self._ledger.is_open(self._incident)
        steps = self._next_steps({}) if acting else ()
        if not steps:
            return False
        self._ledger.begin(self._incident, steps)
        first, *others = [self._action(step) for step in steps]
        try:
            _, intent = await self._b.journal.commit(entries.begin(self._incident, self._b.epoch, first, self._b.clock.now()))
        except FencedError:
            raise
        except JournalError:
            return False
        if intent is None:
            return False
        self._start(first, intent)
        for action in others:
            self._start(action)
        return True

    async def _take_up(self, left: Sequence[Action]) -> None:
        """Durable before its first step, or a later life would not know that it has begun; then what earlier lives did about it."""
        mine = self._incident
        self._incident, self._done = await asyncio.gather(self._record_opening(), self._recall(mine))  # one trip to the journal's thread
        if self._incident.id != mine.id:
            self._done = await self._recall(self._incident)
        for action in left:
            self._running[action.step.name] = asyncio.create_task(self._resume(action), name=action.id)

    async def _resume(self, action: Action) -> None:
        self._done[action.step.name] = outcome = await self._b.performer.resume(action)
        self._b.teller.action(action, outcome)

    async def _recall(self, incident: Incident) -> dict[str, Outcome]:
        """What came of its steps so far."""
        return await ask(self._b.journal, entries.outcomes_of(incident.id), dict[str, Outcome]())

    async def _record_opening(self) -> Incident:
        """The incident under which the journal knows this trouble: an older open one wins, so that nothing is done twice."""
        b = self._b
        stored = await write(b.journal, entries.open_incident(self._incident, b.epoch)) or self._incident
        if stored.id == self._incident.id:
            return stored
        wider = self._ledger.adopt(self._incident, stored, b.clock.now())
        if wider != stored:
            await write(b.journal, entries.widen_incident(wider, b.clock.now(), b.epoch))
        return wider

    def _next_steps(self, done: Mapping[str, Outcome], *, still_raised: bool | None = None) -> tuple[Step, ...]:
        """What the remedy wants now, but for what is under way."""
        if self._remedy is None or len(done) >= MOST_STEPS:
            return ()
        name = f"remedy {self._incident.kind}"
        try:
            steps = vet_steps(self._remedy.next(self._make_case(done, still_raised), self._b.world(), self._b.clock.now()))
        except BUGS as error:  # a plugin's bug costs its own remedy; the incident stays open and says so
            self._b.health.report(name, f"cannot say the next step: {describe(error)}")
            return ()
        again = [step.name for step in steps if step.name in done]
        self._b.health.report(name, f"asks again for step {again[0]!r}, whose outcome it has" if again else "")
        return tuple(step for step in steps if step.name not in done and step.name not in self._running)

    def _make_case(self, done: Mapping[str, Outcome], still_raised: bool | None) -> Case:
        raised = self._ledger.is_raised(self._incident) if still_raised is None else still_raised
        incident = self._ledger.current(self._incident)
        watches: Mapping[str, float] = getattr(self._remedy, "watches", {})
        seen = self._b.look(watches) if watches else NOTHING_SEEN
        running = frozenset(self._running)
        return Case(incident=incident, done=dict(done), still_raised=raised, causes=self._b.causes(incident), seen=seen, running=running)

    def _action(self, step: Step) -> Action:
        now = self._b.clock.now()
        return Action(
            id=action_id(self._incident.id, step.name),
            step=step,
            incident=self._incident.id,
            scope=self._b.scope,
            epoch=self._b.epoch,
            issued=now,
            deadline=now + step.patience,
            policy=self._policy,
        )

    def _start(self, action: Action, intent: Action | None = None) -> None:
        self._running[action.step.name] = asyncio.create_task(self._perform(action, intent), name=action.id)

    async def _perform(self, action: Action, intent: Action | None = None) -> None:
        self._done[action.step.name] = outcome = await self._b.performer.perform(action, intent)
        self._b.teller.action(action, outcome)

    async def _rehearse(self) -> None:
        """What would be done from here on, step by step, as if each step went well; told once as long as it stays the same."""
        raised, done = self._ledger.is_raised(self._incident), dict(self._done)
        actions: list[Action] = []
        while steps := self._next_steps(done, still_raised=raised):
            actions += [self._action(step) for step in steps]
            now = self._b.clock.now()
            done |= {a.step.name: Outcome(action=a.id, result=Result.DONE, text="assumed", at=now) for a in actions}
        names = tuple(action.step.name for action in actions)
        if names in ((), self._rehearsed):
            return
        self._rehearsed = names
        for action in actions:
            self._b.journal.post(entries.rehearse(action))
            self._b.teller.action(action, None)
        if self._b.modes.of(self._policy) is Mode.ADVISE:
            await self._advise(actions)

    async def _advise(self, actions: list[Action]) -> None:
        """In `advise` people are notified of what would be done, once for each plan, also over a restart."""
        plan = "; ".join(f"{a.step.kind} on {a.step.target} ({a.step.reason})" for a in actions)
        name = f"{ADVICE}{hashlib.sha256(repr([a.step.name for a in actions]).encode()).hexdigest()[:8]}"
        if name not in self._done:
            step = Step(name=name, kind=NOTIFY, target=self._incident.subject, reason=f"{self._incident.text}. Advice: {plan}")
            await self._perform(self._action(step))

    async def _close(self) -> None:
        """Durable before it is forgotten, or the same trouble, come again at once, would be taken for the old one, all done."""
        b, now, incident = self._b, self._b.clock.now(), self._ledger.current(self._incident)
        if self._ledger.is_forgotten(incident, now):
            unheard = f"{incident.text}. Closed without having been seen clear: no rule has judged it for {FORGET_AFTER / 86_400:g} days"
            incident = msgspec.structs.replace(incident, text=unheard)
            await write(b.journal, entries.widen_incident(incident, now, b.epoch))
        await write(b.journal, entries.close_incident(incident.id, now, b.scope, b.epoch))
        b.teller.incident(self._ledger.close(incident, now))

    async def _wait(self, woken: asyncio.Event) -> None:
        """Until there is news of it, a step has its outcome, or a turn has passed: modes, holds and deadlines change by themselves."""
        news = [asyncio.ensure_future(woken.wait()), asyncio.ensure_future(self._b.clock.sleep(TURN))]
        try:
            await asyncio.wait([*news, *self._running.values()], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in news:
                task.cancel()
        for name in [name for name, task in self._running.items() if task.done()]:
            self._running.pop(name).result()

    async def _finish(self) -> None:
        """What is under way when it was merged comes to its outcome."""
        while self._running:
            _, task = self._running.popitem()
            await task
