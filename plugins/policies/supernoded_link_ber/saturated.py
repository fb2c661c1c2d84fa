"""Error counters that have reached their ceiling, where they stay whatever happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, State, Verdict, View
from supernoded_link_ber.counting import is_saturated

COUNTERS = {
    "link.symbol_errors": "symbol errors",
    "link.receive_errors": "receive errors",
    "link.recoveries": "link recoveries",
    "link.downed": "times the link went down",
    "link.discards": "discards",
}
LIVE, REACHED = "live", "reached"


class SaturatedMemory(msgspec.Struct, frozen=True):
    """Subject -> quantity -> `live` (it did count) or `reached` (it counted, and then reached its ceiling)."""

    lives: dict[str, dict[str, str]] = {}


class SaturatedRule:
    """Raises a counter that reaches its ceiling from a live baseline; one that stood there when first seen is only unsure."""

    kind, scope = "link.saturated", NODE
    watches: Mapping[str, float] = dict.fromkeys(COUNTERS, 60.0)

    def start(self) -> SaturatedMemory:
        """No counter was ever seen."""
        return SaturatedMemory()

    def judge(self, seen: View, memory: SaturatedMemory) -> tuple[SaturatedMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        lives, verdicts = dict(memory.lives), list[Verdict]()
        for subject in sorted({subject for quantity in COUNTERS for subject in seen.subjects(quantity)}):
            lives[subject], verdict = self._judge(seen, subject, lives.get(subject, {}))
            verdicts.append(verdict)
        return SaturatedMemory(lives), verdicts

    def _judge(self, seen: View, subject: str, lives: Mapping[str, str]) -> tuple[dict[str, str], Verdict]:
        kept, full, unseen = dict(lives), list[str](), list[str]()
        for quantity, name in COUNTERS.items():
            reading = seen.newest(quantity, subject)
            if reading is None:
                continue
            if reading.state is State.GOOD:
                kept[quantity] = LIVE
            elif is_saturated(reading):
                full.append(name)
                if quantity in kept:
                    kept[quantity] = REACHED
            else:
                unseen.append(f"{quantity} is {reading.state.value}: {reading.note}")
        reached = [COUNTERS[quantity] for quantity, life in kept.items() if life == REACHED and quantity in COUNTERS]
        level, text = _describe(reached, full, unseen)
        return kept, Verdict(kind=self.kind, subject=subject, level=level, text=f"{subject}: {text}", at=seen.now, unseen=tuple(unseen))


def _describe(reached: Sequence[str], full: Sequence[str], unseen: Sequence[str]) -> tuple[Level, str]:
    if reached:
        return (
            Level.RAISED,
            f"the counter of {' and of '.join(reached)} has reached its ceiling and counts no more; reset it or read another source",
        )
    if full:
        return (
            Level.UNSURE,
            f"the counter of {' and of '.join(full)} stands at its ceiling since it was first read; it measures nothing until reset",
        )
    if unseen:
        return Level.UNSURE, "; ".join(unseen)
    return Level.CLEAR, "no counter is at its ceiling"
