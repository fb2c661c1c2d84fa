"""An incident that a remedy works: time and readings go on by hand, steps are ended by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from supernoded.history import History
from supernoded.model import Incident, Outcome, Reading, Result, Severity, Step
from supernoded.parts import Case, World
from supernoded.topology import Topology
from supernoded_thermal.remedies import make_remedies
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, START, Change, make_node, make_site, read

JOB = "job/train"


def find_remedy(kind: str, settings: ThermalSettings | None = None, site: Topology | None = None, name: str = "n0") -> Any:
    (remedy,) = [one for one in make_remedies(settings or ThermalSettings(), make_node(site, name=name)) if one.answers == kind]
    return remedy


class Trouble:
    """One incident of a kind, on a subject."""

    def __init__(
        self,
        kind: str,
        subject: str = CDU,
        *,
        severity: Severity = Severity.WARNING,
        members: tuple[str, ...] = (),
        settings: ThermalSettings | None = None,
        site: Topology | None = None,
        others: tuple[Incident, ...] = (),
        name: str = "n0",
    ) -> None:
        self.remedy, self.raised, self.now = find_remedy(kind, settings, site, name), True, 0.0
        self.world = World(topology=site or make_site(), incidents=others)
        self.history = History(self.remedy.watches)
        self.done: dict[str, Outcome] = {}
        self.running: set[str] = set()
        self.incident = make_incident(kind, subject, severity, members)

    def see(self, changes: Mapping[tuple[str, str], Change]) -> None:
        found = [read(subject, quantity, value, self.now) for (subject, quantity), value in changes.items()]
        self.history.add([one for one in found if one.quantity in self.remedy.watches], 5.0)

    def hear(self, readings: Iterable[Reading]) -> None:
        self.history.add([one for one in readings if one.quantity in self.remedy.watches], 5.0)

    def make_case(self) -> Case:
        return Case(
            incident=self.incident,
            done=dict(self.done),
            still_raised=self.raised,
            seen=self.history.view(START + self.now, self.remedy.watches),
            running=frozenset(self.running),
        )

    def ask(self) -> tuple[Step, ...]:
        steps = tuple(self.remedy.next(self.make_case(), self.world, START + self.now))
        assert not {step.name for step in steps} & set(self.done)
        assert len({step.name for step in steps}) == len(steps)
        return tuple(step for step in steps if step.name not in self.running)

    def end(self, steps: Iterable[Step], result: Result = Result.DONE, text: str = "") -> None:
        for step in steps:
            self.running.discard(step.name)
            self.done[step.name] = Outcome(action=f"i1/{step.name}", result=result, text=text, at=START + self.now)

    def play(
        self, seconds: float, changes: Mapping[tuple[str, str], Change], results: Mapping[str, Result] | None = None, every: float = 5.0
    ) -> Iterator[tuple[float, Step]]:
        """A look every few seconds with these readings; each step ends at once, as `results` by kind say; yields when what was ordered."""
        end = self.now + seconds
        while self.now < end:
            self.see(changes)
            for _ in range(20):
                steps = self.ask()
                for step in steps:
                    self.end([step], (results or {}).get(step.kind, Result.DONE))
                    yield self.now, step
                if not steps:
                    break
            self.now += every


def make_incident(kind: str, subject: str, severity: Severity = Severity.WARNING, members: tuple[str, ...] = ()) -> Incident:
    return Incident(
        id=f"i-{kind}",
        kind=kind,
        subject=subject,
        scope=CDU,
        opened=START,
        severity=severity,
        text=f"{kind} at 22.4; look",
        members=members,
    )


def dies(celsius: float, **nodes: float) -> dict[tuple[str, str], Change]:
    """All dies at one temperature, those of some nodes at another."""
    return {(f"{name}/card{n}", "card.temperature"): nodes.get(name, celsius) + n for name in NAMES for n in (0, 1)}


def job(state: str = "running", **more: Change) -> dict[tuple[str, str], Change]:
    """What is read of the job; `more` are quantities below `job.`."""
    return {(JOB, "job.state"): state, **{(JOB, f"job.{name}"): value for name, value in more.items()}}


def orders(steps: Iterable[tuple[float, Step]]) -> list[str]:
    """The kinds in their order, each once in a row; notices left out."""
    kinds: list[str] = []
    for _, step in steps:
        word = step.kind if step.kind != "power.cap" else f"cap {step.amount:g}" if step.amount is not None else "lift"
        if step.kind != "notify" and (not kinds or kinds[-1] != word):
            kinds.append(word)
    return kinds
