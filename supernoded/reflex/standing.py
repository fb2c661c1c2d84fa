"""How the lines stand, for whoever asks: each state is one word and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.reflex.bridge import Bridge, Shed
from supernoded.reflex.deciding import LATE
from supernoded.reflex.line import OwnedLine
from supernoded.reflex.looks import Look
from supernoded.wire.reflex import Standing, Told

SHOWN = 600.0  # seconds for which a trigger that was refused is shown, so that whoever asks now and then sees it; ours
TRIGGER_COUNTS = ("fired", "late", "held", "blind")


def describe(bridge: Bridge, now: float) -> Told:
    """All lines."""
    looks: tuple[Look, ...] = (*bridge.registers, *bridge.contacts)
    lines = tuple(_describe_line(bridge, line, [look for look in looks if look.line is line], now) for line in bridge.lines)
    return Told(lines=lines, counts={word: bridge.counts[word] for word in TRIGGER_COUNTS})


def _describe_line(bridge: Bridge, line: OwnedLine, looks: Sequence[Look], now: float) -> Standing:
    shed = next((shed for shed in bridge.sheds if shed.line is line), None)
    state, text = _judge(bridge, line, looks, shed, now)
    counts = {**line.counts, "looks_refused": sum(look.refused for look in looks)}
    if shed is None:
        return Standing(line=line.settings.name, state=state, text=text, counts=counts)
    return Standing(line=line.settings.name, state=state, text=text, firings=shed.firings, delay_ms=shed.delay_ms, counts=counts)


def _judge(bridge: Bridge, line: OwnedLine, looks: Sequence[Look], shed: Shed | None, now: float) -> tuple[str, str]:
    if line.port is None:
        return "blind", f"it is lost: {line.trouble}"
    for look in looks:
        if not look.flag.is_known(now):
            return "blind", f"feed {look.trigger.feed} has not been seen for {_say_age(now - look.flag.seen)}"
    if shed is not None and bridge.trip.newest == LATE and now - bridge.trip.judged < SHOWN:
        return "late", f"the newest trigger was refused, it was older than {1e3 * bridge.trip.deadline:g} ms"
    flagged = [look.trigger.feed for look in looks if look.flag.is_flagged(now)]
    return "ok", f"flagged: {', '.join(flagged)}" if flagged else "ready"


def _say_age(seconds: float) -> str:
    return "ever" if seconds == float("inf") else f"{seconds:.1f} s"
