"""Five nodes, what is read of them, and an incident that is worked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import supernoded_fleet
from supernoded.history import History
from supernoded.limits import Limits
from supernoded.model import Hold, Incident, Level, Mode, Outcome, Reading, Result, Severity, State, Step, Value, Verdict
from supernoded.parts import Case, World
from supernoded.plugin import Node, Remedy, Rule
from supernoded.quantities import VOCABULARY
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Supernode, Topology
from supernoded_fleet.settings import FleetSettings

NODES = tuple(f"n{number}" for number in range(5))
TOPOLOGY = Topology(nodes=tuple(Supernode(name=name, cards=1, address=f"{name}:22") for name in NODES))


def make_node(folder: Path, maintenance: tuple[str, ...] = ()) -> Node:
    return Node(
        name="n0",
        topology=TOPOLOGY,
        limits=Limits(),
        wires=MemoryWires(),
        clock=ManualClock(),
        host=MemoryHost(),
        state=folder,
        maintenance=maintenance,
    )


def find_rule(folder: Path, kind: str, settings: FleetSettings | None = None, maintenance: tuple[str, ...] = ()) -> Rule[Any]:
    rules = supernoded_fleet.supernoded_rules(settings or FleetSettings(), make_node(folder, maintenance))
    (rule,) = [rule for rule in rules if rule.kind == kind]
    return rule


def find_remedy(folder: Path, kind: str, settings: FleetSettings | None = None) -> Remedy:
    remedies = supernoded_fleet.supernoded_remedies(settings or FleetSettings(), make_node(folder))
    (remedy,) = [remedy for remedy in remedies if remedy.answers == kind]
    return remedy


def read(subject: str, quantity: str, value: Value, at: float, note: str = "") -> Reading:
    state = State.GOOD if value is not None else State.UNKNOWN
    unit = VOCABULARY[quantity].unit
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source="s")


def beats(at: float, silent: str = "n4", age: float = 0.3, heard: float = 4.0) -> list[Reading]:
    """All beat but one, which has been silent for so many seconds."""
    ages = [read(name, "node.beat_age", age if name == silent else 0.3, at) for name in NODES]
    return [*ages, *(read(name, "node.life", "a", at) for name in NODES), read("fleet", "fleet.heard", heard, at)]


def say(verdicts: Iterable[Verdict], subject: str = "n4") -> list[Level]:
    return [verdict.level for verdict in verdicts if verdict.subject == subject]


@dataclass
class Trouble:
    """An incident of n4, and its remedy at work: each step that is asked for comes to `results`, by kind, or is done."""

    remedy: Remedy
    kind: str = "node.gone"
    subject: str = "n4"
    members: tuple[str, ...] = ()
    raised: bool = True
    now: float = 100.0
    mode: Mode = Mode.ACT
    results: dict[str, Result] = field(default_factory=dict)
    holds: list[Hold] = field(default_factory=list)
    done: dict[str, Outcome] = field(default_factory=dict)
    others: tuple[Incident, ...] = ()

    def __post_init__(self) -> None:
        self.history = History(getattr(self.remedy, "watches", {}))
        self.opened = self.now

    def see(self, *readings: Reading) -> None:
        self.history.add(readings, 60.0)

    def beat_for(self, seconds: float) -> None:
        """It beats, and is told so every 10 s."""
        end = self.now + seconds
        while self.now < end:
            self.see(*(read(name, "node.beat_age", 0.3, self.now) for name in self.members or (self.subject,)))
            self.now += 10.0

    @property
    def case(self) -> Case:
        incident = Incident(
            id="i1",
            kind=self.kind,
            subject=self.subject,
            scope="fleet",
            opened=self.opened,
            severity=Severity.CRITICAL,
            text="what was seen",
            members=self.members,
        )
        seen = self.history.view(self.now, getattr(self.remedy, "watches", {}))
        return Case(incident=incident, done=dict(self.done), still_raised=self.raised, seen=seen)

    @property
    def world(self) -> World:
        return World(topology=TOPOLOGY, modes={"fleet": self.mode}, holds=tuple(self.holds), incidents=self.others)

    def ask(self) -> list[tuple[str, str]]:
        """What is done next, as kind and target, with its outcome noted."""
        answer = self.remedy.next(self.case, self.world, self.now)
        steps: Sequence[Step] = () if answer is None else (answer,) if isinstance(answer, Step) else answer
        for step in steps:
            result = self.results.get(step.kind, Result.DONE)
            self.done[step.name] = Outcome(action=step.name, result=result, text="", at=self.now)
            self._take_effect(step, result)
        return [(step.kind, step.target) for step in steps]

    def _take_effect(self, step: Step, result: Result) -> None:
        if result is Result.DONE and step.kind == "card.hold":
            self.holds.append(Hold(id="h1", subject=step.target, serial="", reason="r", owner="fleet", placed=self.now, cause="gone"))
        if result is Result.DONE and step.kind == "card.unhold":
            self.holds = [hold for hold in self.holds if hold.owner != "fleet" or hold.subject != step.target]

    def keeps_open(self) -> bool:
        return bool(getattr(self.remedy, "keeps_open")(self.case, self.world))  # noqa: B009 - the protocol has it as an option
