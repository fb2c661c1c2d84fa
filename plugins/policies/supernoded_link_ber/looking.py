"""What is seen of one port and its lanes, and what any view of readings can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from supernoded.plugin import Reading, State, View

STATE = "link.state"
OF_LANES = " of lanes"  # behind the name of a quantity that is read of the lanes of a port

Place = tuple[str, str]  # quantity and subject
Told = Mapping[str, Reading]  # source -> its newest reading
Lanes = Mapping[str, Mapping[int, str]]  # quantity -> number of a lane -> its subject


class Seen(Protocol):
    """What a view of everything and a glimpse of one port can both be asked."""

    @property
    def now(self) -> float:
        """The moment of it."""
        ...

    def sources(self, quantity: str, subject: str) -> list[str]:
        """Who has read it."""
        ...

    def told(self, quantity: str, subject: str) -> Told:
        """Who has read it, and its newest reading with its state."""
        ...

    def newest(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading with its state."""
        ...

    def good(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading if it is GOOD and fresh."""
        ...

    def number(self, quantity: str, subject: str, source: str | None = None) -> float | None:
        """Its value if it is a number."""
        ...

    def text(self, quantity: str, subject: str, source: str | None = None) -> str | None:
        """Its value if it is a text."""
        ...


class Glimpse:
    """One port and its lanes as they were looked at. Another `mark` is another look; with the same one nothing new was read."""

    __slots__ = ("is_down", "lanes", "mark", "noted", "now", "port", "quantities", "read", "seen", "states", "work")

    def __init__(
        self,
        port: str,
        mark: int,
        seen: View,
        read: Mapping[Place, Told],
        lanes: Lanes,
        quantities: frozenset[str],
        noted: Sequence[Reading],
        work: str,
    ) -> None:
        self.port, self.mark, self.now, self.seen = port, mark, seen.now, seen
        self.read = read
        self.lanes = lanes
        self.quantities = quantities  # that are read of it, and with `OF_LANES` of its lanes
        self.noted = noted  # readings with a note
        self.work = work  # who is at work on it
        self.states = _find_states(self)
        self.is_down = bool(self.states) and not any(self.states.values())

    def sources(self, quantity: str, subject: str) -> list[str]:
        """Who has read it."""
        return list(self.read.get((quantity, subject), ()))

    def told(self, quantity: str, subject: str) -> Told:
        """Source -> its newest reading, whatever its state."""
        return self.read.get((quantity, subject), {})

    def newest(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading with its state; without a source, of the first that is GOOD."""
        told = self.read.get((quantity, subject))
        if not told:
            return None
        return told.get(source) if source is not None else _choose(told)

    def good(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading if it is GOOD and fresh."""
        reading = self.newest(quantity, subject, source)
        return reading if reading is not None and reading.state is State.GOOD else None

    def number(self, quantity: str, subject: str, source: str | None = None) -> float | None:
        """Its value if it is a number."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, int | float) else None

    def text(self, quantity: str, subject: str, source: str | None = None) -> str | None:
        """Its value if it is a text."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, str) else None

    def flags(self, quantity: str, subject: str) -> frozenset[str] | None:
        """Its value if it is a set of flags."""
        reading = self.good(quantity, subject)
        return reading.value if reading is not None and isinstance(reading.value, frozenset) else None

    def list_all(self, quantities: Iterable[str]) -> Iterator[tuple[str, Reading]]:
        """Every newest reading of these, with its subject: the port or a lane of it."""
        for quantity in quantities:
            for subject in (self.port, *self.lanes.get(quantity, {}).values()):
                for reading in self.told(quantity, subject).values():
                    yield subject, reading


def _choose(told: Told) -> Reading:
    for reading in told.values():
        if reading.state is State.GOOD:
            return reading
    return next(iter(told.values()))


def _find_states(glimpse: Glimpse) -> Mapping[str, float]:
    """Source -> whether the link is up, of those that were read since the newest change that anybody saw.

    A slow source that has not looked since does not contradict a fast one.
    """
    told = glimpse.told(STATE, glimpse.port)
    good = {s: one for s, one in told.items() if one.state is State.GOOD and isinstance(one.value, int | float)}
    change = 0.0
    if len({one.value for one in good.values()}) > 1:
        change = max(find_change(glimpse.seen.window(STATE, glimpse.port, source)) for source in good)
    return {source: float(one.value) for source, one in good.items() if one.at >= change and isinstance(one.value, int | float)}


def find_change(readings: Sequence[Reading]) -> float:
    """When the newest value was first read after another one; 0 = there is no other."""
    good = [reading for reading in readings if reading.state is State.GOOD]
    after = next((n for n in range(len(good) - 1, 0, -1) if good[n].value != good[n - 1].value), 0)
    return good[after].at if after else 0.0
