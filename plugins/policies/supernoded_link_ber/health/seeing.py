"""What several sources say of a port and of its lanes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from supernoded.plugin import Reading, State, View
from supernoded_link_ber.looking import Seen

STATE = "link.state"
_LANE = re.compile(r"(?P<port>.+)/lane(?P<lane>\d{1,3})", re.ASCII)


def find_port(subject: str) -> str:
    """The port of a lane; any other subject is its own."""
    found = _LANE.fullmatch(subject)
    return found["port"] if found else subject


def list_ports(seen: View, *quantities: str) -> list[str]:
    """Every port, or other subject that is no lane, of which one of these was read; sorted."""
    return sorted({subject for quantity in quantities for subject in seen.subjects(quantity) if _LANE.fullmatch(subject) is None})


def list_told(seen: Seen, quantity: str, subject: str) -> Mapping[str, Reading]:
    """Source -> its newest reading, where that is GOOD and fresh."""
    return {source: reading for source, reading in seen.told(quantity, subject).items() if reading.state is State.GOOD}


def list_numbers(seen: Seen, quantity: str, subject: str) -> Mapping[str, float]:
    """Source -> its newest number, where that is GOOD and fresh."""
    told = list_told(seen, quantity, subject)
    return {source: float(reading.value) for source, reading in told.items() if isinstance(reading.value, int | float)}


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
