"""What was seen in one run, as the verdict reads it: truth, what was told, what became of each fault. Times are the stage's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from supernoded.chaos.drive import Happened, Told
from supernoded.chaos.plan import Plan, Planned
from supernoded.chaos.probes import Probe


@dataclass(frozen=True)
class Edge:
    """From `at` on the probe held, or did not, or nothing could be seen (None); `shown` is the value that said so."""

    at: float
    held: bool | None
    shown: str = ""


@dataclass
class Fault:
    """What became of one planned fault."""

    planned: Planned
    injected: float | None = None
    seen_before: str = ""  # what showed before it was there
    shown: float | None = None
    lifted: float | None = None
    undone: float | None = None
    sight: str = ""  # what the probe said last
    next_stage: int = 0  # of planned.stages

    @property
    def in_place(self) -> bool:
        """Whether it has to be lifted yet."""
        return self.injected is not None and self.lifted is None

    @property
    def ended(self) -> bool:
        """Whether its last stage is over."""
        return self.next_stage >= len(self.planned.stages)


@dataclass
class Record:
    """One run. The director writes it; whoever reads it later changes nothing."""

    plan: Plan
    start: float | None = None  # when the timeline began; None = steady state was not reached
    ended: float = 0.0
    converging: float | None = None  # when the recovery began
    converged: float | None = None
    faults: list[Fault] = field(default_factory=list)
    edges: dict[Probe, list[Edge]] = field(default_factory=dict)
    latest: dict[Probe, str] = field(default_factory=dict)  # the value of the last look
    happened: Sequence[Happened] = ()
    told: Sequence[Told] = ()
    aborted: str = ""
    refused: str = ""  # why a fault could not be put in place
    stuck: str = ""  # why a fault could not be lifted
    _entries: dict[Probe, tuple[int, list[Told | Happened]]] = field(default_factory=dict)  # how far each probe has read, and what it found

    def look(self, probe: Probe, at: float, held: bool | None, shown: str) -> None:
        """Note what a probe of the truth says."""
        edges = self.edges.setdefault(probe, [])
        self.latest[probe] = shown
        if not edges or edges[-1].held is not held:
            edges.append(Edge(at, held, shown))

    def list_entries(self, probe: Probe) -> Sequence[Told | Happened]:
        """What was told, or happened, that this probe is about; oldest first."""
        everything: Sequence[Told | Happened] = self.told if probe.condition.told else self.happened
        read, found = self._entries.get(probe, (0, []))
        if read < len(everything):
            found += [entry for entry in everything[read:] if probe.matches(entry)]
            self._entries[probe] = (len(everything), found)
        return found
