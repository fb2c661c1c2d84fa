"""Lanes of one port that are not alike, or are missing. A trend that people are told of, never a reason to take anything out.

Errors before correction grow so steeply as light falls that healthy lanes, half a decibel apart, differ by thirty times in what they
have to correct; so only far more than that is odd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.health.seeing import STATE, as_number, name_source, say_span
from supernoded_link_ber.looking import OF_LANES, Glimpse
from supernoded_link_ber.recalling import FORGET, Recall
from supernoded_link_ber.settings import LinkBerSettings

CORRECTED, POWER, WIDTH = "link.fec.corrected", "link.rx_power", "link.width"
SPAN = 3600.0  # seconds over which corrected bits are compared, ours
LEFT = {
    "link.effective_errors": "effective errors",
    "link.fec.uncorrected": "uncorrectable blocks",
    "link.symbol_errors": "symbol errors",
}
DIMMER = 10.0  # times less light than the next lane, ours: 10 dB, where lanes of one module lie within 1 or 2
HYSTERESIS = 0.5  # share of the ratio below which lanes are alike again, ours


class Counts(msgspec.Struct, frozen=True):
    """Corrected bits of the lanes by one source at the begin of a span, and what was last found."""

    at: float = -1.0
    totals: dict[int, float] = {}
    found: str = ""


class Lanes(msgspec.Struct, frozen=True):
    """What is remembered of the lanes of one port."""

    counts: dict[str, Counts] = {}  # by source
    widest: float = 0.0  # most lanes it had lately
    at: float = 0.0  # and when
    is_dim: bool = False  # it had one lane much darker than the others


class LanesMemory(msgspec.Struct, frozen=True):
    """Port -> what is remembered of its lanes."""

    ports: dict[str, Lanes] = {}


class LanesRule:
    """Raises a port with a lane that has far more to correct, or far less light, than the others; and one with fewer lanes than it had."""

    kind, scope = "link.lanes", NODE

    def __init__(self, ports: Ports, settings: LinkBerSettings) -> None:
        self._ports, self._ratio, self._least = ports, settings.lane_ratio, settings.lane_counts
        self.watches: Mapping[str, float] = ports.gallery.watches
        self._recall = Recall[Lanes](ports.gallery, self.kind, (f"{CORRECTED}{OF_LANES}", f"{POWER}{OF_LANES}", WIDTH))

    def start(self) -> LanesMemory:
        """No lane was ever seen."""
        return LanesMemory()

    def judge(self, seen: View, memory: LanesMemory) -> tuple[LanesMemory, Sequence[Verdict]]:
        """The level of every port with lanes, or with a width."""
        ports, verdicts = self._recall.ask(self._recall.look(seen), memory.ports, self._judge, _find_date)
        return LanesMemory(ports), verdicts

    def _judge(self, seen: Glimpse, known: Lanes | None) -> tuple[Lanes, Verdict]:
        before = known or Lanes()
        counts, loaded = self._compare_counts(seen, before.counts)
        dark = self._compare_light(seen, seen.lanes.get(POWER, {}), was_dim=before.is_dim)
        widest, at, narrow = self._compare_width(seen, before.widest, before.at)
        found = [text for text in (narrow, loaded, dark) if text]
        level, text = (Level.RAISED, "; ".join(found)) if found else (Level.CLEAR, "its lanes are alike")
        unseen: tuple[str, ...] = ()
        if seen.is_down:
            level, text, unseen = Level.UNSURE, "the link is down, its lanes cannot be compared", (STATE,)
        words = f"{seen.port}: {text}"
        verdict = Verdict(kind=self.kind, subject=seen.port, level=level, text=words, at=seen.now, unseen=unseen)
        return Lanes(counts, widest, at, bool(dark)), verdict

    def _compare_counts(self, seen: Glimpse, known: dict[str, Counts]) -> tuple[dict[str, Counts], str]:
        """By each source, what was added since its first sight; old totals only where the same source shows that correction did not do."""
        by_source: dict[str, dict[int, float]] = {}
        for lane, subject in seen.lanes.get(CORRECTED, {}).items():
            for source, reading in seen.told(CORRECTED, subject).items():
                value = as_number(reading)
                if value is not None:
                    by_source.setdefault(source, {})[lane] = value
        kept = dict(known)
        for source, totals in by_source.items():
            if len(totals) > 1:
                kept[source] = self._compare_totals(kept.get(source), totals, seen, source)
        return kept, next((one.found for one in kept.values() if one.found), "")

    def _compare_first(self, totals: Mapping[int, float], seen: Glimpse, source: str) -> str:
        """Totals of a first sight may be years old and healthy. Errors left after correction say that they are not."""
        left = [name for name in LEFT if (seen.number(name, seen.port, source) or 0.0) > 0.0]
        if not left:
            return ""
        found = self._find_odd(totals, f"since its counters began (by {name_source(source)})", self._ratio)
        return f"{found}, and {LEFT[left[0]]} are left after correction" if found else ""

    def _compare_totals(self, before: Counts | None, totals: dict[int, float], seen: Glimpse, source: str) -> Counts:
        now = seen.now
        if before is None:
            return Counts(now, totals, self._compare_first(totals, seen, source))
        if before.totals.keys() != totals.keys() or any(totals[lane] < was for lane, was in before.totals.items()):
            return Counts(now, totals, before.found)
        added = {lane: total - before.totals[lane] for lane, total in totals.items()}
        ratio = self._ratio * HYSTERESIS if before.found else self._ratio
        over = now - before.at >= SPAN
        if max(added.values()) < self._least:
            return Counts(now, totals) if over else before  # an hour with next to nothing to correct is well
        found = self._find_odd(added, f"within {say_span(now - before.at)} (by {name_source(source)})", ratio)
        if over:
            return Counts(now, totals, found)
        return before if bool(found) == bool(before.found) else msgspec.structs.replace(before, found=found)

    def _find_odd(self, numbers: Mapping[int, float], span: str, ratio: float) -> str:
        worst = max(numbers, key=lambda lane: numbers[lane])
        most, second = numbers[worst], max(value for lane, value in numbers.items() if lane != worst)
        if most < self._least or most <= ratio * second:
            return ""
        text = f"lane {worst} had {most:.0f} bits to correct {span}, the next lane {second:.0f}"
        return f"{text}; more than {ratio:g} times as many is imbalance"

    def _compare_light(self, seen: Glimpse, lanes: Mapping[int, str], *, was_dim: bool) -> str:
        told = {lane: seen.number(POWER, subject) for lane, subject in lanes.items()}
        powers = {lane: value for lane, value in told.items() if value is not None}
        if len(powers) < 2:
            return ""
        worst = min(powers, key=lambda lane: powers[lane])
        least, next_least = powers[worst], min(value for lane, value in powers.items() if lane != worst)
        ratio = DIMMER * HYSTERESIS if was_dim else DIMMER
        if next_least <= 0.0 or least * ratio >= next_least:
            return ""
        text = f"lane {worst} receives {least:.4g} mW, the next lane {next_least:.4g} mW"
        return f"{text}; less than 1/{ratio:g} of it is imbalance"

    def _compare_width(self, seen: Glimpse, most: float, at: float) -> tuple[float, float, str]:
        """Against what is declared, else against the most it had in the last week; with that most, and when it was seen."""
        width, declared = seen.number(WIDTH, seen.port), self._ports.expect_lanes(seen.port)
        if seen.now - at >= FORGET:
            most, at = 0.0, 0.0
        if width is None or seen.is_down:
            return most, at, ""
        if width > most or (width == most and not 0.0 <= seen.now - at < SPAN):
            most, at = width, seen.now
        if declared is not None:
            return most, at, f"it runs on {width:g} of the {declared} lanes that are declared" if width < declared else ""
        return most, at, f"it runs on {width:g} lanes, it had {most:g}" if width < most else ""


def _find_date(lanes: Lanes) -> float:
    return max((one.at for one in lanes.counts.values()), default=lanes.at)
