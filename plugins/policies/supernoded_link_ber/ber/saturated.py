"""Error counters that have reached their ceiling, where they stay whatever happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, State, Verdict, View
from supernoded_link_ber.ber.counting import is_saturated
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall

COUNTERS = {
    "link.symbol_errors": "symbol errors",
    "link.effective_errors": "effective errors",
    "link.receive_errors": "receive errors",
    "link.fec.uncorrected": "uncorrectable blocks",
    "link.recoveries": "link recoveries",
    "link.downed": "times the link went down",
    "link.discards": "discards",
}
LIVE, REACHED = "live", "reached"


class SaturatedMemory(msgspec.Struct, frozen=True):
    """Subject -> quantity and source -> `live` (it did count) or `reached` (it counted, and then reached its ceiling)."""

    lives: dict[str, dict[str, str]] = {}


class SaturatedRule:
    """Raises a counter that reaches its ceiling from a live baseline; one that stood there when first seen is only unsure."""

    kind, scope = "link.saturated", NODE

    def __init__(self, gallery: Gallery) -> None:
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[dict[str, str]](gallery, self.kind, COUNTERS)

    def start(self) -> SaturatedMemory:
        """No counter was ever seen."""
        return SaturatedMemory()

    def judge(self, seen: View, memory: SaturatedMemory) -> tuple[SaturatedMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        lives, verdicts = self._recall.ask(self._recall.look(seen), memory.lives, self._judge)
        return SaturatedMemory(lives), verdicts

    def _judge(self, seen: Glimpse, lives: dict[str, str] | None) -> tuple[dict[str, str] | None, Verdict | None]:
        kept, full, unseen, subject = dict(lives or {}), list[str](), list[str](), seen.port
        for quantity in COUNTERS:
            for source, reading in seen.told(quantity, subject).items():
                key = f"{quantity} {source}"
                if reading.state is State.GOOD:
                    kept[key] = LIVE
                elif is_saturated(reading):
                    full.append(_name(key))
                    if key in kept:
                        kept[key] = REACHED
                else:
                    unseen.append(f"{quantity} is {reading.state.value}: {reading.note}")
        reached = [_name(key) for key, life in kept.items() if life == REACHED]
        level, text = _describe(reached, full, unseen)
        words = f"{subject}: {text}"
        return kept, Verdict(kind=self.kind, subject=subject, level=level, text=words, at=seen.now, unseen=tuple(unseen))


def _name(key: str) -> str:
    quantity, _, source = key.partition(" ")
    return f"{COUNTERS.get(quantity, quantity)} of {source or 'its source'}"


def _describe(reached: Sequence[str], full: Sequence[str], unseen: Sequence[str]) -> tuple[Level, str]:
    if reached:
        text = f"the counter of {' and of '.join(reached)} has reached its ceiling and counts no more; reset it or read another source"
        return Level.RAISED, text
    if full:
        text = f"the counter of {' and of '.join(full)} stands at its ceiling since it was first read; it measures nothing until reset"
        return Level.UNSURE, text
    if unseen:
        return Level.UNSURE, "; ".join(unseen)
    return Level.CLEAR, "no counter is at its ceiling"
