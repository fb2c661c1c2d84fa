"""Modest rules about the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from supernoded.plugin import NODE, Level, Reading, State, Verdict, View

CLOCK_WINDOW = 600.0  # seconds; a step counts as long as the time before it is in view


class Memory(msgspec.Struct, frozen=True):
    """The subjects that are over their limit and not yet clear again."""

    raised: tuple[str, ...] = ()


def is_unseen(reading: Reading | None) -> tuple[str, ...]:
    """What of it cannot be seen and why; empty when it is GOOD."""
    if reading is None:
        return ("never read",)
    return () if reading.state is State.GOOD else (f"{reading.quantity} is {reading.state.value}: {reading.note}",)


@dataclass(frozen=True)
class ThresholdRule:
    """A share above `limit` is raised, and clear again when it has fallen `hysteresis` below it."""

    kind: str
    quantity: str
    limit: float
    hysteresis: float
    sentence: str  # with {0} for the value
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """Only the newest reading counts."""
        return {self.quantity: 60.0}

    def start(self) -> Memory:
        """Nothing is raised."""
        return Memory()

    def judge(self, seen: View, memory: Memory) -> tuple[Memory, Sequence[Verdict]]:
        """The level of every subject."""
        raised, verdicts = set(memory.raised), list[Verdict]()
        for subject in seen.subjects(self.quantity):
            value = seen.number(self.quantity, subject)
            if value is None:
                unseen = is_unseen(seen.newest(self.quantity, subject))
                text = f"{subject}: cannot be judged, {unseen[0]}"
                verdicts.append(Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=unseen))
                continue
            bad = value > self.limit or (subject in raised and value > self.limit - self.hysteresis)
            (raised.add if bad else raised.discard)(subject)
            text = f"{subject}: {self.sentence.format(value)}, the limit is {self.limit:g} %"
            verdicts.append(Verdict(kind=self.kind, subject=subject, level=Level.RAISED if bad else Level.CLEAR, text=text, at=seen.now))
        return Memory(tuple(sorted(raised))), verdicts


@dataclass(frozen=True)
class HogRule:
    """A process that is none of the job's takes so much of the machine that ranks may wait; it is named with its pid (H3)."""

    kind: str = "host.hog"
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """Only the newest reading counts."""
        return {"host.hog": 60.0}

    def start(self) -> None:
        """It needs no memory: a reading names all there are."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every subject."""
        return memory, [self._judge(seen, subject) for subject in seen.subjects("host.hog")]

    def _judge(self, seen: View, subject: str) -> Verdict:
        named = seen.text("host.hog", subject)
        if named is None:
            unseen = is_unseen(seen.newest("host.hog", subject)) or ("nothing was read lately",)
            text = f"{subject}: whether anybody takes it from its ranks cannot be judged, {unseen[0]}"
            return Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=unseen)
        if not named:
            return Verdict(
                kind=self.kind, subject=subject, level=Level.CLEAR, text=f"{subject}: nobody takes it from its ranks", at=seen.now
            )
        text = f"{subject}: {named}, and is none of the job's: end it, or move it, before a card is blamed for a slow rank"
        return Verdict(kind=self.kind, subject=subject, level=Level.RAISED, text=text, at=seen.now)


@dataclass(frozen=True)
class ClockRule:
    """The wall clock was set by more than `limit` seconds within the last ten minutes; slewing stays below that."""

    limit: float
    kind: str = "host.clock_stepped"
    scope: str = NODE

    @property
    def watches(self) -> Mapping[str, float]:
        """How far the clock was set, lately."""
        return {"host.clock_step": CLOCK_WINDOW}

    def start(self) -> None:
        """It needs no memory: the window is enough."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every subject."""
        return memory, [self._judge(seen, subject) for subject in seen.subjects("host.clock_step")]

    def _judge(self, seen: View, subject: str) -> Verdict:
        window = seen.window("host.clock_step", subject)
        offsets = [reading.value for reading in window if isinstance(reading.value, int | float)]
        unseen = is_unseen(seen.newest("host.clock_step", subject))
        if unseen or not offsets:
            text = f"{subject}: the wall clock cannot be judged, {unseen[0] if unseen else 'nothing was read lately'}"
            return Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=unseen)
        step = max(offsets) - min(offsets)
        level = Level.RAISED if step > self.limit else Level.CLEAR
        text = f"{subject}: the wall clock was set by {step:.1f} s within {CLOCK_WINDOW:g} s, the limit is {self.limit:g} s"
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now)
