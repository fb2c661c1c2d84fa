"""Which readings are worth a row: on change, at most once a minute and at least once a day (design section 6). Pure.

What turns (a state, a word of a fixed few, flags, what is 0 or 1) passes at once: it is what people look for afterwards. Free texts wait
like numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.model import Reading
from supernoded.quantities import VOCABULARY

LEAST_INTERVAL = 60.0  # seconds between two rows of one quantity of one subject
LONGEST_INTERVAL = 86_400.0  # seconds after which one that does not change is written again: rows are kept for a week

TURNING = frozenset(  # words of a fixed few, and what is 0 or 1
    name for name, one in VOCABULARY.items() if one.words is not None or (one.unit, one.low, one.high) == ("1", 0.0, 1.0)
)


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
        if last is not None:
            is_same = last.value == reading.value and last.state is reading.state
            if reading.at - last.at < (LONGEST_INTERVAL if is_same else self._least) and (is_same or not _turns(last, reading)):
                return False
        self._last[key] = reading
        return True

    def forget(self, horizon: float) -> None:
        """Drop what has had no row since."""
        self._last = {key: reading for key, reading in self._last.items() if reading.at >= horizon}


def _turns(last: Reading, reading: Reading) -> bool:
    if last.state is not reading.state:
        return True
    turns = reading.quantity in TURNING or isinstance(reading.value, frozenset)
    return turns and last.value != reading.value
