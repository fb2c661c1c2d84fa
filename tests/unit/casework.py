"""A small world for actions and cases: a device that can be slow, deaf or unreachable, a remedy of steps, a journal in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from supernoded.actions import Performer
from supernoded.cases import Casework
from supernoded.errors import WireError
from supernoded.guards import Tally, guard_deadline, guard_mode
from supernoded.history import View
from supernoded.incidents import Ledger
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import NODE, Action, Effect, Event, Incident, Level, Mode, Outcome, Sight, Step, Verdict
from supernoded.modes import Modes
from supernoded.parts import NOTHING_SEEN, Case, World
from supernoded.registry import Parts
from supernoded.topology import Topology
from supernoded.worker import Bureau
from tests.unit.worlds import LoopClock, health

T = TypeVar("T")
KINDS = ("notify", "job.checkpoint", "card.isolate")


def now() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Device:
    """Performs what it is told and counts it. An effect shows `takes` seconds later."""

    takes: float = 0.0
    deaf: bool = False  # takes orders, performs none
    dead: bool = False  # cannot be reached
    blind: bool = False  # performs, but cannot be looked at
    performed: Counter[str] = field(default_factory=Counter)
    shows_at: dict[str, float] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset(KINDS)
    targets: Sequence[str] = ("*",)

    async def apply(self, action: Action) -> None:
        if self.dead:
            raise WireError("the device does not answer")
        if not self.deaf:
            self.performed[action.id] += 1
            self.shows_at.setdefault(action.id, now() + self.takes)

    async def observe(self, action: Action) -> Sight:
        if self.dead or self.blind:
            raise WireError("the device does not answer")
        if action.id not in self.shows_at:
            return Sight(effect=Effect.ABSENT, text="nothing of it is there")
        return Sight(effect=Effect.PRESENT if now() >= self.shows_at[action.id] else Effect.UNKNOWN)


@dataclass(frozen=True)
class Steps:
    """Wants these kinds, one after the other, and another one when the trouble is over."""

    kinds: tuple[str, ...] = ("notify", "card.isolate")
    afterwards: str = ""
    patience: float = 10.0
    answers: str = "card.silent"

    def next(self, case: Case, world: World, at: float) -> Step | Sequence[Step] | None:
        for kind in self.kinds:
            if kind not in case.done:
                return self._step(kind, case) if case.still_raised else None
        if self.afterwards and not case.still_raised and self.afterwards not in case.done:
            return self._step(self.afterwards, case)
        return None

    def _step(self, kind: str, case: Case) -> Step:
        return Step(name=kind, kind=kind, target=case.incident.subject, reason="because", patience=self.patience)


@dataclass
class Witness:
    """The teller of a test."""

    events: list[Event] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    actions: list[tuple[Action, Outcome | None]] = field(default_factory=list)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def incident(self, incident: Incident) -> None:
        self.incidents.append(incident)

    def action(self, action: Action, outcome: Outcome | None) -> None:
        self.actions.append((action, outcome))


async def _inline(work: Callable[[], T]) -> T:
    return work()


def memory_journal() -> Journal:
    run: Callable[[Callable[[], T]], Awaitable[T]] = _inline
    return open_journal("sqlite://", LoopClock(), run)


@dataclass
class Office:
    """Casework with everything around it; `later` is the office of a later life on the same journal and device."""

    device: Device = field(default_factory=Device)
    remedy: Steps = field(default_factory=Steps)
    mode: Mode = Mode.ACT
    journal: Journal = field(default_factory=memory_journal)
    witness: Witness = field(default_factory=Witness)
    shared: tuple[str, ...] = ()  # what every subject shares with the others
    look: Callable[[Mapping[str, float]], View] = lambda _: NOTHING_SEEN
    scope: str = NODE
    epoch: int = 0

    def __post_init__(self) -> None:
        clock = LoopClock()
        self.health = health()
        self.modes = Modes(self.mode, {}, {})
        parts = Parts(actuators=[self.device], remedies={self.remedy.answers: self.remedy}, owners={"remedy card.silent": "isolation"})
        guards = [guard_deadline, guard_mode(self.modes.of)]
        self.performer = Performer(parts.route, guards, Tally(100, 100), self.journal, clock)
        bureau = Bureau(
            scope=self.scope,
            epoch=self.epoch,
            parts=parts,
            performer=self.performer,
            journal=self.journal,
            clock=clock,
            modes=self.modes,
            health=self.health,
            teller=self.witness,
            world=lambda: World(topology=Topology.empty("n0", cards=8)),
            look=self.look,
        )
        self.ledger = Ledger(self.scope, lambda _: self.shared, clear_after=60.0)
        self.cases = Casework(bureau, self.ledger, lambda: None)

    def later(self, device: Device | None = None) -> Office:
        return Office(device or self.device, self.remedy, self.mode, self.journal, shared=self.shared, scope=self.scope, epoch=self.epoch)

    def say(self, level: Level, subject: str = "n0/card3") -> None:
        self.cases.take(Verdict(kind="card.silent", subject=subject, level=level, text=f"{subject} is {level.value}", at=now()))

    def results(self) -> list[tuple[str, str]]:
        return [(action.step.name, outcome.result.value if outcome else "would") for action, outcome in self.witness.actions]
