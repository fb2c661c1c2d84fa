"""Counters of 32 bits, which begin anew at 2^32: totals that go on."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from supernoded.plugin import Reading

WIDTH = 2**32
_HIGH, _LOW = 0.75 * WIDTH, 0.25 * WIDTH  # from above this to below that it has begun anew; any other fall is a reset of the device (ours)


class Totals:
    """The counters of one device by quantity and subject."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[float, float]] = {}  # what was read last, and what was added to it

    def go_on(self, readings: Iterable[Reading], wrapping: frozenset[str]) -> list[Reading]:
        """The readings, those of `wrapping` quantities as totals; a reset begins from what the device says."""
        return [self._add(reading) if reading.quantity in wrapping else reading for reading in readings]

    def _add(self, reading: Reading) -> Reading:
        if not isinstance(reading.value, float):
            return reading
        key = (reading.subject, reading.quantity)
        last, added = self._seen.get(key, (0.0, 0.0))
        if reading.value < last:
            added = added + WIDTH if last > _HIGH and reading.value < _LOW else 0.0
        self._seen[key] = reading.value, added
        return msgspec.structs.replace(reading, value=reading.value + added)
