"""Lanes of one port that are not alike, or are missing. A trend that people are told of, never a reason to take anything out.

Errors before correction grow so steeply as light falls that healthy lanes, half a decibel apart, differ by thirty times in what they
have to correct; so only far more than that is odd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.health.ports import FORGET, Ports
from supernoded_link_ber.health.seeing import STATE, is_down, list_lanes, list_ports, say_span
from supernoded_link_ber.settings import LinkBerSettings

CORRECTED, POWER, WIDTH = "link.fec.corrected", "link.rx_power", "link.width"
SPAN = 3600.0  # seconds over which corrected bits are compared, ours
DIMMER = 10.0  # times less light than the next lane, ours: 10 dB, where lanes of one module lie within 1 or 2
HYSTERESIS = 0.5  # share of the ratio below which lanes are alike again, ours


class Counts(msgspec.Struct, frozen=True):
    """Corrected bits of the lanes by one source at the begin of a span, and what was last found."""

    at: float = -1.0
    totals: dict[int, float] = {}
    found: str = ""


class LanesMemory(msgspec.Struct, frozen=True):
    """What is remembered of ports."""

    counts: dict[str, dict[str, Counts]] = {}  # port -> source -> counts
    widest: dict[str, tuple[float, float]] = {}  # port -> most lanes it had lately, and when
    dim: tuple[str, ...] = ()  # ports that had one lane much darker than the others


class LanesRule:
    """Raises a port with a lane that has far more to correct, or far less light, than the others; and one with fewer lanes than it had."""

    kind, scope = "link.lanes", NODE
    watches: Mapping[str, float] = {CORRECTED: 60.0, POWER: 60.0, WIDTH: 60.0, STATE: 60.0}

    def __init__(self, ports: Ports, settings: LinkBerSettings) -> None:
        self._ports, self._ratio, self._least = ports, settings.lane_ratio, settings.lane_counts

    def start(self) -> LanesMemory:
        """No lane was ever seen."""
        return LanesMemory()

    def judge(self, seen: View, memory: LanesMemory) -> tuple[LanesMemory, Sequence[Verdict]]:
        """The level of every port with lanes, or with a width."""
        corrected, powers = list_lanes(seen, CORRECTED), list_lanes(seen, POWER)
        counts = {port: known for port, known in memory.counts.items() if any(seen.now - one.at < FORGET for one in known.values())}
        widest = {port: one for port, one in memory.widest.items() if seen.now - one[1] < FORGET}
        verdicts, dim = list[Verdict](), list[str]()
        for port in sorted({*corrected, *powers, *list_ports(seen, WIDTH)}):
            counts[port], loaded = self._compare_counts(seen, corrected.get(port, {}), counts.get(port, {}))
            dark = self._compare_light(seen, powers.get(port, {}), was_dim=port in memory.dim)
            if dark:
                dim.append(port)
            narrow = self._compare_width(seen, port, widest)
            verdicts.append(self._say(seen, port, [text for text in (narrow, loaded, dark) if text]))
        return LanesMemory(counts, widest, tuple(dim)), verdicts

    def _say(self, seen: View, port: str, found: Sequence[str]) -> Verdict:
        level, text = (Level.RAISED, "; ".join(found)) if found else (Level.CLEAR, "its lanes are alike")
        unseen: tuple[str, ...] = ()
        if is_down(seen, port):
            level, text, unseen = Level.UNSURE, "the link is down, its lanes cannot be compared", (STATE,)
        return Verdict(kind=self.kind, subject=port, level=level, text=f"{port}: {text}", at=seen.now, unseen=unseen)

    def _compare_counts(self, seen: View, lanes: Mapping[int, str], known: Mapping[str, Counts]) -> tuple[dict[str, Counts], str]:
        """By each source; the totals of a first sight are compared as they are, later what was added since."""
        kept = dict(known)
        for source in sorted({source for lane in lanes.values() for source in seen.sources(CORRECTED, lane)}):
            told = {lane: seen.number(CORRECTED, subject, source) for lane, subject in lanes.items()}
            totals = {lane: value for lane, value in told.items() if value is not None}
            if len(totals) > 1:
                kept[source] = self._compare_totals(kept.get(source), totals, seen.now, source)
        return kept, next((one.found for one in kept.values() if one.found), "")

    def _compare_totals(self, before: Counts | None, totals: dict[int, float], now: float, source: str) -> Counts:
        if before is None:
            return Counts(now, totals, self._find_odd(totals, f"since its counters began (by {source or 'its source'})", self._ratio))
        if before.totals.keys() != totals.keys() or any(totals[lane] < was for lane, was in before.totals.items()):
            return Counts(now, totals, before.found)
        added = {lane: total - before.totals[lane] for lane, total in totals.items()}
        ratio = self._ratio * HYSTERESIS if before.found else self._ratio
        over = now - before.at >= SPAN
        if max(added.values()) < self._least:
            return Counts(now, totals) if over else before  # an hour with next to nothing to correct is well
        found = self._find_odd(added, f"within {say_span(now - before.at)} (by {source or 'its source'})", ratio)
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

    def _compare_light(self, seen: View, lanes: Mapping[int, str], *, was_dim: bool) -> str:
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

    def _compare_width(self, seen: View, port: str, widest: dict[str, tuple[float, float]]) -> str:
        """Against what is declared, else against the most it had in the last week."""
        width, declared = seen.number(WIDTH, port), self._ports.expect_lanes(port)
        if width is None or is_down(seen, port):
            return ""
        most, at = widest.get(port, (0.0, 0.0))
        if width > most or (width == most and not 0.0 <= seen.now - at < SPAN):
            widest[port] = width, seen.now
        if declared is not None:
            return f"it runs on {width:g} of the {declared} lanes that are declared" if width < declared else ""
        return f"it runs on {width:g} lanes, it had {most:g}" if width < most else ""
