"""A site with two UPSes, and readings of it, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

import supernoded_power
from supernoded.history import History, View
from supernoded.limits import Limits
from supernoded.model import Incident, Level, Outcome, Reading, Result, Severity, State, Step, Value, Verdict
from supernoded.parts import Case, Remedy, Rule, World
from supernoded.plugin import Node
from supernoded.quantities import VOCABULARY
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded_power.settings import PowerSettings

START = 1_000_000.0  # of the clock of these tests
POWER = "power/site"
JOB = "job/train"

FANS = [{"number": 3, "load": "n0/fan*", "sheddable": True}, {"number": 4, "load": "n1/fan*", "sheddable": True}]
NODES = [{"number": 1, "load": "n0"}, {"number": 2, "load": "n1"}]
OTHERS = [{"number": 5, "load": "cdu/0"}, {"number": 6, "load": "switch/s1"}]
SITE: dict[str, Any] = {
    "nodes": [
        {"name": "n0", "cards": 2, "feeds": ["A", "B"], "loop": "cdu0"},
        {"name": "n1", "cards": 2, "feeds": ["A", "B"], "loop": "cdu0"},
    ],
    "ups": [{"name": name, "rated_va": 9000.0, "energy_wh": 1000.0, "efficiency": 0.9} for name in "AB"],
    "pdus": [{"name": f"{feed}1", "feed": feed, "outlets": [*NODES, *FANS, *OTHERS]} for feed in "AB"],
    "loops": [{"name": "cdu0"}],
    "switches": [{"name": "s1"}],
}


def make_site(**changes: Any) -> Topology:
    return msgspec.convert({**SITE, **changes}, Topology)


def make_node(folder: Path, site: Topology | None = None, maintenance: tuple[str, ...] = ()) -> Node:
    return Node(
        name="n0",
        topology=site or make_site(),
        limits=Limits(),
        wires=MemoryWires(),
        clock=ManualClock(),
        host=MemoryHost(),
        state=folder,
        maintenance=maintenance,
    )


def find_rule(
    kind: str, settings: PowerSettings | None = None, site: Topology | None = None, maintenance: tuple[str, ...] = ()
) -> Rule[Any]:
    rules = supernoded_power.supernoded_rules(settings or PowerSettings(), make_node(Path(), site, maintenance))
    (rule,) = [rule for rule in rules if rule.kind == kind]
    return rule


def find_remedy(kind: str, settings: PowerSettings | None = None, site: Topology | None = None) -> Any:
    remedies: Iterable[Remedy] = supernoded_power.supernoded_remedies(settings or PowerSettings(), make_node(Path(), site))
    (remedy,) = [remedy for remedy in remedies if remedy.answers == kind]
    return remedy


def read(subject: str, quantity: str, value: Value | set[str], at: float = 0.0, source: str = "s", note: str = "") -> Reading:
    """One reading, `at` seconds after the start; None is UNKNOWN."""
    state = State.GOOD if value is not None else State.UNKNOWN
    whole = frozenset(value) if isinstance(value, set) else float(value) if isinstance(value, int) else value
    return Reading(
        subject=subject,
        quantity=quantity,
        value=whole,
        unit=VOCABULARY[quantity].unit,
        at=START + at,
        state=state,
        note=note,
        source=source,
    )


def ups(
    name: str, flags: str | None, volts: float | None = 230.0, at: float = 0.0, pdu: float | None = None, **more: float
) -> list[Reading]:
    """What is read of a UPS and its PDU; flags None = no data. `more` are quantities below `ups.`."""
    found = [
        read(f"ups/{name}", "ups.status", None if flags is None else set(flags.split()), at, note="no answer" if flags is None else "")
    ]
    found += [read(f"ups/{name}", "ups.input_voltage.nominal", 230.0, at)]
    found += [read(f"ups/{name}", "ups.input_voltage", volts, at)]
    found += [read(f"pdu/{name}1", "pdu.voltage", pdu, at)] if pdu is not None else []
    return found + [read(f"ups/{name}", f"ups.{quantity.replace('__', '.')}", value, at) for quantity, value in more.items()]


def job(at: float = 0.0, state: str = "running", *, source: str = "j", **more: Value) -> list[Reading]:
    """What is read of the job; `more` are quantities below `job.`."""
    return [read(JOB, "job.state", state, at, source), *(read(JOB, f"job.{name}", value, at, source) for name, value in more.items())]


class Bench:
    """A rule with what it has seen and what it remembers, which every step takes through JSON as a restart would."""

    def __init__(self, rule: Rule[Any], fresh_for: float = 5.0) -> None:
        self.rule, self.history, self.memory = rule, History(rule.watches), rule.start()
        self._fresh_for = fresh_for

    def see(self, readings: Iterable[Reading]) -> None:
        self.history.add([one for one in readings if one.quantity in self.rule.watches], self._fresh_for)

    def ask(self, at: float) -> dict[str, Verdict]:
        """The verdict on each subject at so many seconds."""
        self.memory = msgspec.json.decode(msgspec.json.encode(self.memory), type=type(self.memory))
        self.memory, verdicts = self.rule.judge(self.history.view(START + at, self.rule.watches), self.memory)
        return {verdict.subject: verdict for verdict in verdicts}

    def tell(self, *readings: list[Reading]) -> dict[str, Verdict]:
        """Take in readings, and ask at the time of the newest."""
        everything = [one for some in readings for one in some]
        self.see(everything)
        return self.ask(max(one.at for one in everything) - START)


def level(bench: Bench, subject: str, *readings: list[Reading]) -> Level:
    return bench.tell(*readings)[subject].level


def view(watches: Mapping[str, float], readings: Iterable[Reading], at: float = 0.0, fresh_for: float = 5.0) -> View:
    history = History(watches)
    history.add([one for one in readings if one.quantity in watches], fresh_for)
    return history.view(START + at, watches)


class Trouble:
    """An incident that a remedy works: time and readings go on by hand, steps are ended by hand."""

    def __init__(self, remedy: Any, *, subject: str = POWER, severity: Severity = Severity.CRITICAL, world: World | None = None) -> None:
        self.remedy, self.raised, self.now = remedy, True, 0.0
        self.world = world or World(topology=make_site())
        self.history = History(remedy.watches)
        self.done: dict[str, Outcome] = {}
        self.running: set[str] = set()
        self.incident = Incident(
            id="i1", kind=remedy.answers, subject=subject, scope=POWER, opened=START, severity=severity, text="what was seen"
        )

    def see(self, *readings: list[Reading]) -> None:
        for some in readings:
            self.history.add([one for one in some if one.quantity in self.remedy.watches], 5.0)
            self.now = max(self.now, *(one.at - START for one in some))

    def ask(self) -> tuple[Step, ...]:
        case = Case(
            incident=self.incident,
            done=dict(self.done),
            still_raised=self.raised,
            seen=self.history.view(START + self.now, self.remedy.watches),
            running=frozenset(self.running),
        )
        steps = tuple(self.remedy.next(case, self.world, START + self.now))
        assert not {step.name for step in steps} & set(self.done)
        return tuple(step for step in steps if step.name not in self.running)

    def end(self, steps: Iterable[Step], result: Result = Result.DONE) -> None:
        for step in steps:
            self.running.discard(step.name)
            self.done[step.name] = Outcome(action=f"i1/{step.name}", result=result, text="", at=START + self.now)

    def play(self) -> Iterator[tuple[Step, ...]]:
        """Batch after batch, each seen to work at once."""
        while steps := self.ask():
            self.end(steps)
            yield steps


def kinds(steps: Iterable[Step]) -> list[tuple[str, str]]:
    return [(step.kind, step.target) for step in steps]
