"""Readings and verdicts as one row per port. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from supernoded.messages import Link
from supernoded.model import Level, Reading, Severity, State, Verdict
from supernoded.topology import Topology

STATE, NEIGHBOUR = "link.state", "link.neighbour"
_KINDS = ("link.", "nic.")
_WEIGHT = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}
_LEVELS = (Level.RAISED, Level.UNSURE, Level.CLEAR)  # the worst first
LANE = re.compile(r"/lane\d+$", re.ASCII)

Seen = Mapping[str, list[Reading]]


def list_links(readings: Iterable[Reading], verdicts: Iterable[Verdict], topology: Topology) -> tuple[Link, ...]:
    """All ports with a link, sorted so that card10 comes after card9. Lanes are part of their port."""
    seen, said = dict[str, dict[str, list[Reading]]](), dict[str, list[Verdict]]()
    for reading in readings:
        if reading.quantity.startswith("link.") and not LANE.search(reading.subject):
            seen.setdefault(reading.subject, {}).setdefault(reading.quantity, []).append(reading)
    for verdict in verdicts:
        if verdict.kind.startswith(_KINDS):
            said.setdefault(verdict.subject, []).append(verdict)
    ports = sorted((subject for subject, by_quantity in seen.items() if STATE in by_quantity), key=natural)
    return tuple(_make_link(port, seen[port], said.get(port, ()), topology) for port in ports)


def natural(subject: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts numbers in names as numbers."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", subject) if part)


def _make_link(port: str, seen: Seen, verdicts: Sequence[Verdict], topology: Topology) -> Link:
    worst = min(verdicts, key=_rank, default=None)
    width, fec, neighbour = _first(seen, "link.width"), _first(seen, "link.fec"), _first(seen, NEIGHBOUR)
    return Link(
        subject=port,
        peer=topology.peer(port),
        neighbour=neighbour if isinstance(neighbour, str) else "",
        state=_find_state(seen[STATE]),
        speed=_number(_first(seen, "link.speed")),
        width=_number(width),
        fec=fec if isinstance(fec, str) else "",
        rx_power=_number(_first(seen, "link.rx_power")),
        ber=_number(_first(seen, "link.ber.post_fec")),
        level=worst.level if worst is not None else Level.UNSURE,
        severity=worst.severity if worst is not None else Severity.INFO,
        kinds=tuple(sorted(verdict.kind for verdict in verdicts if verdict.level is Level.RAISED)),
        text=worst.text if worst is not None else "no rule has judged it",
    )


def _rank(verdict: Verdict) -> tuple[int, int, str]:
    return _LEVELS.index(verdict.level), -_WEIGHT[verdict.severity], verdict.kind


def _find_state(readings: Sequence[Reading]) -> str:
    values = {reading.value for reading in readings if reading.state is State.GOOD}
    if len(values) != 1:
        return "conflict" if values else "unknown"
    return "up" if 1.0 in values else "down"


def _first(seen: Seen, quantity: str) -> object:
    return next((reading.value for reading in seen.get(quantity, ()) if reading.state is State.GOOD), None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
