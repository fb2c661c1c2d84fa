"""Which readings are worth a row: on change, and at most once a minute (design section 6). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.model import Reading

LEAST_INTERVAL = 60.0  # seconds between two rows of one quantity of one subject


class Sieve:
    """Remembers the last row of each (subject, quantity). A change of state passes at once: it is what people look for."""

    def __init__(self, least_interval: float = LEAST_INTERVAL) -> None:
        self._least = least_interval
        self._last: dict[tuple[str, str], Reading] = {}

    def sift(self, readings: Iterable[Reading]) -> list[Reading]:
        """Those that go to the journal."""
        return [reading for reading in readings if self._passes(reading)]

    def _passes(self, reading: Reading) -> bool:
        key = reading.subject, reading.quantity
        last = self._last.get(key)
        if last is not None and last.state is reading.state and (last.value == reading.value or reading.at - last.at < self._least):
            return False
        self._last[key] = reading
        return True
