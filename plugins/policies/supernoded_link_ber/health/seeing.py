"""What several sources say of a port and of its lanes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from supernoded.plugin import Reading, State, View

STATE = "link.state"
_LANE = re.compile(r"(?P<port>.+)/lane(?P<lane>\d{1,3})", re.ASCII)


def find_port(subject: str) -> str:
    """The port of a lane; any other subject is its own."""
    found = _LANE.fullmatch(subject)
    return found["port"] if found else subject


def list_ports(seen: View, *quantities: str) -> list[str]:
    """Every port, or other subject that is no lane, of which one of these was read; sorted."""
    return sorted({subject for quantity in quantities for subject in seen.subjects(quantity) if _LANE.fullmatch(subject) is None})


def list_lanes(seen: View, quantity: str) -> Mapping[str, Mapping[int, str]]:
    """Port -> number of a lane -> its subject."""
    lanes: dict[str, dict[int, str]] = {}
    for subject in seen.subjects(quantity):
        found = _LANE.fullmatch(subject)
        if found is not None:
            lanes.setdefault(found["port"], {})[int(found["lane"])] = subject
    return {port: dict(sorted(its.items())) for port, its in lanes.items()}


def list_told(seen: View, quantity: str, subject: str) -> Mapping[str, Reading]:
    """Source -> its newest reading, where that is GOOD and fresh."""
    told = ((source, seen.good(quantity, subject, source)) for source in seen.sources(quantity, subject))
    return {source: reading for source, reading in told if reading is not None}


def list_numbers(seen: View, quantity: str, subject: str) -> Mapping[str, float]:
    """Source -> its newest number, where that is GOOD and fresh."""
    told = list_told(seen, quantity, subject)
    return {source: float(reading.value) for source, reading in told.items() if isinstance(reading.value, int | float)}


def list_states(seen: View, port: str) -> Mapping[str, float]:
    """Source -> whether the link is up, of those that were read since the newest change that anybody saw.

    A slow source that has not looked since does not contradict a fast one.
    """
    told = list_told(seen, STATE, port)
    change = max((_find_change(seen.window(STATE, port, source)) for source in told), default=0.0)
    return {source: float(one.value) for source, one in told.items() if one.at >= change and isinstance(one.value, int | float)}


def _find_change(readings: Sequence[Reading]) -> float:
    """When the newest value was first read after another one; 0 = there is no other."""
    good = [reading for reading in readings if reading.state is State.GOOD]
    after = next((n for n in range(len(good) - 1, 0, -1) if good[n].value != good[n - 1].value), 0)
    return good[after].at if after else 0.0


def is_down(seen: View, port: str) -> bool:
    """Whether all who can tell say that the link is down."""
    states = list_states(seen, port)
    return bool(states) and not any(states.values())


def as_number(reading: Reading) -> float | None:
    """The value of a GOOD number."""
    value = reading.value
    return float(value) if reading.state is State.GOOD and isinstance(value, int | float) else None


def name_source(source: str) -> str:
    """A source in a sentence."""
    return source or "its source"


def name_all(names: Iterable[str], most: int = 8) -> str:
    """Some names in a sentence, and how many more there are."""
    several = list(names)
    more = f" and {len(several) - most} more" if len(several) > most else ""
    return ", ".join(several[:most]) + more


def say_span(seconds: float) -> str:
    """A time in words: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
