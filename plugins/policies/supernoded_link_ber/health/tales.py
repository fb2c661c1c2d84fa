"""How often a link went down, as one source tells it. Each source tells of the same times, so the tales are never added up. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from supernoded.plugin import Reading
from supernoded_link_ber.health.seeing import as_number

MOST = 40  # entries of one tale; ours


class Tale(msgspec.Struct, frozen=True, array_like=True):
    """One quantity by one source: what it last said, and when how many downs were seen, newest first."""

    at: float = -1.0
    value: float | None = None
    downs: tuple[tuple[float, float], ...] = ()

    def count(self, since: float) -> float:
        """Downs after a time."""
        return sum(number for at, number in self.downs if at > since)


def hear(tale: Tale, readings: Iterable[Reading], window: float, *, falls: bool) -> Tale:
    """Take in newer readings. A counter tells by its rises, a state by its `falls`.

    A first sight is a baseline, and so is what comes after a gap longer than the window, and a counter that fell.
    """
    before, value, downs = tale.at, tale.value, list(tale.downs)
    for reading in readings:
        if reading.at <= tale.at or (number := as_number(reading)) is None:
            continue
        rise = 0.0 if value is None else value - number if falls else number - value
        if rise > 0.0 and reading.at - before <= window:
            downs.insert(0, (reading.at, rise))
        before, value = reading.at, number
    if before == tale.at:
        return tale
    return Tale(before, value, _bound([one for one in downs if one[0] > before - window]))


def _bound(downs: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """At most `MOST`: the oldest are told as one."""
    if len(downs) <= MOST:
        return tuple(downs)
    return (*downs[: MOST - 1], (downs[MOST - 1][0], sum(number for _, number in downs[MOST - 1 :])))
