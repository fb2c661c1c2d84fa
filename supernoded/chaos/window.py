"""In which window an expectation is judged, by a record as far as it goes. Pure."""

from __future__ import annotations

import math

from supernoded.chaos.durations import say_seconds
from supernoded.chaos.moments import list_moments
from supernoded.chaos.plan import Watched
from supernoded.chaos.record import Record


def find_watched(record: Record, name: str) -> Watched:
    """The expectation of this name."""
    return next(one for one in record.plan.watched if one.name == name)


def find_since(record: Record, watched: Watched) -> float | None:
    """When its window opens; None as long as it has not."""
    asked, start = watched.asked, record.start
    if asked.of:
        injected = [fault.injected for fault in record.faults if fault.planned.move == asked.of and fault.injected is not None]
        return min(injected, default=None)
    if asked.after:
        return find_first(record, find_watched(record, asked.after))
    return start


def find_until(watched: Watched, since: float) -> float:
    """When its window closes at the latest."""
    return since + watched.asked.within if watched.asked.within is not None else math.inf


def find_first(record: Record, watched: Watched) -> float | None:
    """When it came about first within its window; None as long as it has not."""
    since = find_since(record, watched)
    if since is None:
        return None
    moments = list_moments(watched.check, record, since, min(find_until(watched, since), record.ended))
    return moments[0][0] if moments else None


def find_end(record: Record) -> float:
    """When everything on the timeline is over and every window is closed, as far as can be known now."""
    start = record.start if record.start is not None else record.ended
    ends = [start + (record.plan.scenario.lasts or 0.0)]
    for fault in record.faults:
        planned = fault.planned
        latest = planned.at if planned.at is not None else planned.within
        begun = fault.injected if fault.injected is not None else start + latest
        ends.append(begun + max(planned.injection.seconds, 0.0 if fault.shown is not None else planned.shows_within))
    last = max(ends)
    return max([last, *(_find_close(record, watched, start, last) for watched in record.plan.watched)])


def _find_close(record: Record, watched: Watched, start: float, last: float) -> float:
    """When its window closes, at the latest; without `within` it stays open to the end and asks for no time of its own."""
    if watched.asked.within is None:
        return start
    since = find_since(record, watched)
    if since is None and watched.asked.after:
        since = _find_close(record, find_watched(record, watched.asked.after), start, last)
    elif since is None:
        since = last
    return since + watched.asked.within


def find_untested(record: Record) -> str:
    """Why the run tests nothing: a fault that showed before it was there, or that never started, or that never showed."""
    start, now = record.start if record.start is not None else 0.0, record.ended
    for fault in record.faults:
        planned, name = fault.planned, fault.planned.injection.name
        if fault.seen_before:
            return f"{name} shows before it is there, so its probe cannot tell: {fault.seen_before}"
        if fault.injected is None and planned.at is None and now > start + planned.within:
            return f"{name} never started: {planned.after} did not come within {say_seconds(planned.within)}"
        if fault.injected is not None and fault.shown is None and now >= fault.injected + planned.shows_within - 1e-6:
            return f"{name} did not show within {say_seconds(planned.shows_within)}: {fault.sight or 'nothing was seen'}"
    return ""
