"""When a check held, by a record. Pure.

A check is an event (each entry of what was told or happened is a moment) or a state (held from an edge on; a moment is when it has held
for its time).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from supernoded.chaos.drive import Happened, Told
from supernoded.chaos.probes import Check, Probe
from supernoded.chaos.record import Edge, Record


def list_moments(check: Check, record: Record, since: float, until: float) -> list[tuple[float, str]]:
    """When it came about from `since` to `until`, and what was seen; a state that holds at `since` came about then."""
    event = check.as_event()
    if event is not None:
        return [(one.at, _say(one)) for one in record.list_entries(event) if since <= one.at <= until and _is_wanted(event, one)]
    found = []
    for edge, end in _spans(list_levels(check, record), math.inf):
        begun = max(edge.at, since)
        if edge.held and begun + check.hold < end and begun + check.hold <= until:
            found.append((begun + check.hold, edge.shown))
    return found


def list_levels(check: Check, record: Record) -> list[Edge]:
    """The edges of the whole check: false when one probe is, unseen when one is and none is false."""
    tracks = [_list_edges(probe, record) for probe in check.probes]
    if len(tracks) == 1:
        return tracks[0]
    levels: list[Edge] = []
    for at in sorted({edge.at for track in tracks for edge in track}):
        now = [_level_at(track, at) for track in tracks]
        worst = min(now, key=lambda edge: {False: 0, None: 1, True: 2}[edge.held])
        if not levels or levels[-1].held is not worst.held:
            levels.append(Edge(at, worst.held, worst.shown))
    return levels


def list_window(check: Check, record: Record, since: float, until: float) -> list[Edge]:
    """The levels within a window; the first begins at `since`."""
    return [
        Edge(max(edge.at, since), edge.held, edge.shown)
        for edge, end in _spans(list_levels(check, record), math.inf)
        if edge.at <= until and end > since
    ]


def held_since(check: Check, record: Record) -> float | None:
    """Since when it has held without a break, at the end of the record; None when it does not hold."""
    levels = list_levels(check, record)
    return levels[-1].at if levels and levels[-1].held else None


def _spans(edges: list[Edge], end: float) -> Iterator[tuple[Edge, float]]:
    ends = [edge.at for edge in edges[1:]] + [end]
    yield from zip(edges, ends, strict=True)


def _level_at(track: list[Edge], at: float) -> Edge:
    return next((edge for edge in reversed(track) if edge.at <= at), Edge(at, None, "not yet looked at"))


def _list_edges(probe: Probe, record: Record) -> list[Edge]:
    if probe.condition.truth:
        return record.edges.get(probe, [])
    states, edges = dict[object, bool](), [Edge(-math.inf, probe.condition.not_, "nothing of it")]
    for entry in record.list_entries(probe):
        if isinstance(entry, Told):
            states[entry.node, entry.kind, entry.subject] = entry.raised
            held = any(states.values()) if probe.condition.raised else not any(states.values())
        else:
            held = True
        if held is not (edges[-1].held is not probe.condition.not_):
            edges.append(Edge(entry.at, held is not probe.condition.not_, _say(entry)))
    return edges


def _is_wanted(probe: Probe, entry: Told | Happened) -> bool:
    return not isinstance(entry, Told) or entry.raised is probe.condition.raised


def _say(entry: Told | Happened) -> str:
    by = f"{entry.node} told " if isinstance(entry, Told) else ""
    cleared = " cleared" if isinstance(entry, Told) and not entry.raised else ""
    return f"{by}{entry.kind}{cleared} of {entry.subject}" + (f": {entry.text}" if entry.text else "")
