"""The protocols that parts follow; with properties, so that frozen dataclasses fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from supernoded.history import View
from supernoded.model import Action, Cause, Reading, Setpoint, Severity, Sight, Step, Verdict
from supernoded.parts.words import Case, Fidelity, Finding, Undo, World

M = TypeVar("M")
P = TypeVar("P", contravariant=True)  # noqa: PLC0105 - short names read better in the protocols below


class Sensor(Protocol):
    """Reads one source. It judges nothing; what it cannot read it returns as UNKNOWN or raises WireError for."""

    @property
    def name(self) -> str:
        """Unique within the node."""
        ...

    @property
    def scope(self) -> str:
        """`NODE` or a role."""
        ...

    @property
    def period(self) -> float:
        """Seconds between the starts of two reads."""
        ...

    @property
    def timeout(self) -> float:
        """Seconds after which a read is given up and its readings are UNKNOWN."""
        ...

    async def read(self) -> Sequence[Reading]:
        """One read. Raises WireError when the source cannot be read at all."""
        ...


class Rule(Protocol[M]):
    """Judges what was read: pure, with memory. Memory is a msgspec Struct (or None); it survives a restart."""

    @property
    def kind(self) -> str:
        """The kind of its verdicts, unique among rules."""
        ...

    @property
    def scope(self) -> str:
        """`NODE` or a role."""
        ...

    @property
    def watches(self) -> Mapping[str, float]:
        """Quantity -> window in seconds."""
        ...

    def start(self) -> M:
        """The memory of a first life."""
        ...

    def judge(self, seen: View, memory: M) -> tuple[M, Sequence[Verdict]]:
        """The level of every subject; asked whenever something watched was read, and every few seconds."""
        ...


class Diagnosis(Protocol):
    """Says why: pure, without memory. Asked when a remedy is, and by `supernodectl diagnose`."""

    @property
    def name(self) -> str:
        """Unique among diagnoses."""
        ...

    @property
    def scope(self) -> str:
        """`NODE` or a role."""
        ...

    @property
    def watches(self) -> Mapping[str, float]:
        """Quantity -> window in seconds."""
        ...

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """What explains the trouble of a subject, the best first; none for a subject that it knows nothing of."""
        ...


class Loop(Protocol[M]):
    """Steers one handle: pure, with memory.

    One that can be held by hand has a method `hold(seen, memory, value)` beside `steer`, with the same answer: it is asked in its
    place while a person holds the device at `value`. It keeps what must never be broken, and its memory follows, so that there is no
    bump when the hand is taken off. One that turns one thing to hold another has a method `aim(memory)`: what it holds now, such as
    the supply temperature in C by a valve; people are shown it.
    """

    @property
    def name(self) -> str:
        """Unique within the node."""
        ...

    @property
    def scope(self) -> str:
        """`NODE` or a role."""
        ...

    @property
    def watches(self) -> Mapping[str, float]:
        """Quantity -> window in seconds."""
        ...

    @property
    def period(self) -> float:
        """Seconds between two outputs; an output lives for three of them."""
        ...

    @property
    def target(self) -> str:
        """The target of the handle it turns."""
        ...

    def start(self, now_at: Setpoint | None) -> M:
        """Bumpless: from what the device shows now, None when it shows nothing."""
        ...

    def steer(self, seen: View, memory: M) -> tuple[M, Setpoint | None]:
        """The next output, or None to leave the device alone: what was put last expires, and the device falls back by itself."""
        ...


class Remedy(Protocol):
    """Says what to do next about an incident: pure.

    One that needs readings has a property `watches` as a rule has (quantity -> window), and finds them in `Case.seen`. One whose doing
    may have to stand for longer than its trouble has a method `keeps_open(case, world)`: whether something of it still stands and will
    be undone later. Its incident is not closed meanwhile.
    """

    @property
    def answers(self) -> str:
        """The kind of verdict it answers."""
        ...

    def next(self, case: Case, world: World, now: float) -> Step | Sequence[Step] | None:
        """The next step, or several to be performed at once; None or empty when there is none.

        Asked at every news, also while steps are under way: those are in `case.running`, and are not doubled.
        """
        ...


class Actuator(Protocol):
    """Performs action kinds on targets. `observe` before and after is what makes an action safe to ask for twice."""

    @property
    def kinds(self) -> frozenset[str]:
        """The action kinds it performs."""
        ...

    @property
    def targets(self) -> Sequence[str]:
        """The subjects it performs them on, as shell patterns (`n0/card*`)."""
        ...

    async def apply(self, action: Action) -> None:
        """Send the order. Raises WireError; returning proves nothing, `observe` does."""
        ...

    async def observe(self, action: Action) -> Sight:
        """What the device shows of the action's effect."""
        ...


class Handle(Protocol):
    """What a loop turns.

    One that nothing would give back after a crash has a method `is_left()`: whether an earlier life of this daemon has left it
    engaged. It is then handed back in whatever mode the next life starts.
    """

    @property
    def target(self) -> str:
        """Subject and what of it, such as `cdu/0/valve`."""
        ...

    @property
    def quantity(self) -> str:
        """The quantity its setpoints are in."""
        ...

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Write one setpoint, and be the heartbeat of whoever watches over us; asks the pen for `scope`. Raises WireError.

        YieldedError: another hand is on it, and it is left to him until it is handed back. LapsedError: it has gone back to its own
        control since it was taken, or may have; nothing was written, and `now_at` is asked before the next one.
        """
        ...

    async def now_at(self) -> Setpoint | None:
        """Where the device stands; None when it cannot be read.

        Raises WireError when it must not be taken now: another hand is on it, or its own fallback has not been proven.
        """
        ...

    async def hand_back(self, scope: str) -> Sight:
        """Give the device back to its own control and look (safety rule 3). PRESENT = it has it back."""
        ...


class Check(Protocol):
    """One preflight check."""

    @property
    def id(self) -> str:
        """Unique among checks."""
        ...

    @property
    def source(self) -> str:
        """Where it comes from: an id of docs/sources.md."""
        ...

    @property
    def stage(self) -> str:
        """One of compute, storage, comm, cluster (E8)."""
        ...

    @property
    def severity(self) -> Severity:
        """How bad a failure is."""
        ...

    async def check(self, world: World) -> Finding:
        """Look. Raises WireError when it cannot."""
        ...


class Fault(Protocol[P]):
    """One kind of injectable fault."""

    @property
    def kind(self) -> str:
        """Unique among faults."""
        ...

    @property
    def parameters(self) -> type[msgspec.Struct]:
        """The type of its parameters."""
        ...

    @property
    def danger(self) -> str:
        """Its danger class."""
        ...

    def fidelity(self, drive: str) -> Fidelity:
        """How true it is on `sim`, `bench` or `live`."""
        ...

    async def inject(self, target: str, with_: P) -> Undo:
        """Inject; what is returned was written down first."""
        ...

    async def manifest(self) -> Sight:
        """Whether the fault can be seen to be there."""
        ...
