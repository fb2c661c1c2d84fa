"""Which readings are worth a row: on change, at most once a minute and at least once a day (design section 6). Pure.

What turns (a state, a word of a fixed few, flags) passes at once: it is what people look for afterwards. Free texts wait like numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.model import Reading
from supernoded.quantities import VOCABULARY

LEAST_INTERVAL = 60.0  # seconds between two rows of one quantity of one subject
LONGEST_INTERVAL = 86_400.0  # seconds after which one that does not change is written again: rows are kept for a week


class Sieve:
    """Remembers the last row of each (subject, quantity, source)."""

    def __init__(self, least_interval: float = LEAST_INTERVAL) -> None:
        self._least = least_interval
        self._last: dict[tuple[str, str, str], Reading] = {}

    def sift(self, readings: Iterable[Reading]) -> list[Reading]:
        """Those that go to the journal."""
        return [reading for reading in readings if self._passes(reading)]

    def _passes(self, reading: Reading) -> bool:
        key = reading.subject, reading.quantity, reading.source
        last = self._last.get(key)
        if last is not None and not _turns(last, reading):
            age = reading.at - last.at
            if age < self._least or (age < LONGEST_INTERVAL and last.value == reading.value):
                return False
        self._last[key] = reading
        return True

    def forget(self, horizon: float) -> None:
        """Drop what has had no row since."""
        self._last = {key: reading for key, reading in self._last.items() if reading.at >= horizon}


def _turns(last: Reading, reading: Reading) -> bool:
    if last.state is not reading.state:
        return True
    quantity = VOCABULARY.get(reading.quantity)
    is_word = isinstance(reading.value, frozenset) or (quantity is not None and quantity.words is not None)
    return is_word and last.value != reading.value
