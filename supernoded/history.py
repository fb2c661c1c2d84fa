"""Recent readings per (quantity, subject, source), bounded, and the view a rule or loop may have of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from supernoded.errors import PluginError
from supernoded.model import Reading, State

DEFAULT_WINDOW = 600.0  # seconds; design section 6
FORGET_AFTER = 86_400.0  # seconds after which what its source no longer reports is forgotten: mounts and ports come and go for years
MOST_READINGS = 200_000  # over all windows: about 32 MB (design section 6) at 160 bytes a reading


class Series:
    """The readings of one quantity of one subject by one source, oldest first, and for how long the newest counts as fresh."""

    __slots__ = ("fresh_for", "readings")

    def __init__(self) -> None:
        self.readings: deque[Reading] = deque()
        self.fresh_for = 0.0

    def insert(self, reading: Reading) -> None:
        """In the order of time, in which they nearly always come."""
        readings = self.readings
        place = len(readings)
        while place and readings[place - 1].at > reading.at:
            place -= 1
        if place == len(readings):
            readings.append(reading)
        else:
            readings.insert(place, reading)

    def trim(self, horizon: float) -> int:
        """Drop what is older than `horizon`, but never the newest; how many went."""
        readings, dropped = self.readings, 0
        while readings[0].at < horizon and len(readings) > 1:
            readings.popleft()
            dropped += 1
        return dropped


class History:
    """What one scope has read lately. `windows` says for how many seconds each quantity is kept."""

    def __init__(self, windows: Mapping[str, float], most: int = MOST_READINGS) -> None:
        self._windows = windows
        self._most = most
        self._count = 0
        self._turns = 0  # how often something was added
        self._series: dict[str, dict[str, dict[str, Series]]] = {}  # quantity -> subject -> source -> series
        self._grown: set[str] = set()  # quantities with a new series, which are not in order yet

    def add(self, readings: Iterable[Reading], fresh_for: float) -> set[str]:
        """Take in what a sensor read; each counts as fresh for `fresh_for` seconds. Gives the quantities of which one has turned."""
        turned = set[str]()
        self._turns += 1
        for reading in readings:
            views = self._series.setdefault(reading.quantity, {}).setdefault(reading.subject, {})
            series = views.get(reading.source)
            if series is None:
                series = views[reading.source] = Series()
                self._grown.add(reading.quantity)
            if not series.readings or has_turned(series.readings[-1], reading):
                turned.add(reading.quantity)
            series.fresh_for = fresh_for
            series.insert(reading)
            window = self._windows.get(reading.quantity, DEFAULT_WINDOW)
            self._count += 1 - series.trim(series.readings[-1].at - window)
        if self._count > self._most and self._count >= 2 * sum(1 for _ in self._walk()):  # fewer could not be halved
            self._thin()
        return turned

    def _sort(self, quantity: str) -> None:
        """Subjects and sources are kept in order, from the next question on: they are asked for far oftener than there is a new one."""
        self._grown.discard(quantity)
        self._series[quantity] = {subject: dict(sorted(views.items())) for subject, views in sorted(self._series[quantity].items())}

    def _walk(self) -> Iterator[Series]:
        return (series for subjects in self._series.values() for views in subjects.values() for series in views.values())

    def _thin(self) -> None:
        """Over the bound: every series gives up its older half."""
        for series in self._walk():
            for _ in range(len(series.readings) // 2):
                series.readings.popleft()
                self._count -= 1

    def forget(self, horizon: float) -> None:
        """Drop what nobody has reported since, not even as UNKNOWN."""
        for quantity, subjects in self._series.items():
            kept: dict[str, dict[str, Series]] = {}
            for subject, views in subjects.items():
                young = {source: series for source, series in views.items() if series.readings[-1].at >= horizon}
                self._count -= sum(len(series.readings) for source, series in views.items() if source not in young)
                if young:
                    kept[subject] = young
            self._series[quantity] = kept

    def view(self, now: float, watches: Mapping[str, float]) -> View:
        """What somebody who watches these quantities sees at `now`."""
        for quantity in self._grown.intersection(watches):
            self._sort(quantity)
        return View(self._series, now, watches, self._turns)

    def count(self, quantities: Iterable[str]) -> int:
        """How many subjects these quantities were read for, each quantity's apart."""
        return sum(len(self._series.get(quantity, ())) for quantity in quantities)

    def newest(self, now: float) -> list[Reading]:
        """The newest reading of everything, each with its state as of `now`, sorted by subject, quantity and source."""
        found = [_as_of(series, now) for series in self._walk()]
        return sorted(found, key=lambda reading: (reading.subject, reading.quantity, reading.source))

    def by_freshness(self) -> dict[float, list[Reading]]:
        """The newest reading of everything as it was read, by for how many seconds it counts as fresh."""
        found: dict[float, list[Reading]] = {}
        for series in self._walk():
            found.setdefault(series.fresh_for, []).append(series.readings[-1])
        return found

    def everything(self) -> list[Reading]:
        """Every reading that is kept, in no order."""
        return [reading for series in self._walk() for reading in series.readings]


def has_turned(before: Reading, after: Reading) -> bool:
    """Whether a reading says something else than the one before: another state, word or set of flags, on or off. Numbers only drift."""
    if after.state is not before.state:
        return True
    return after.value != before.value and (not isinstance(after.value, float) or after.value in (0.0, 1.0))


def _as_of(series: Series, now: float) -> Reading:
    last = series.readings[-1]
    age = now - last.at
    if age > series.fresh_for and last.state is State.GOOD:
        return msgspec.structs.replace(last, state=State.STALE, note=f"last read {age:.1f} s ago, fresh for {series.fresh_for:.1f} s")
    return last


class View:
    """Recent readings at one instant; a quantity that is not watched is refused.

    Where several sources read one quantity of one subject, a question without a source is answered by the first of them, in
    alphabetical order, that has a GOOD reading; counters of two sources have nothing to do with each other, so ask those by source.
    """

    __slots__ = ("_series", "_watches", "now", "turn")

    def __init__(
        self, series: Mapping[str, Mapping[str, Mapping[str, Series]]], now: float, watches: Mapping[str, float], turn: int = 0
    ) -> None:
        self._series, self._watches, self.now = series, watches, now
        self.turn = turn  # of the history: two views with one turn and one `now` show the same

    def _of(self, quantity: str) -> Mapping[str, Mapping[str, Series]]:
        if quantity not in self._watches:
            raise PluginError(f"{quantity} is read but not watched; add it to `watches`")
        return self._series.get(quantity, {})

    def _choose(self, quantity: str, subject: str, source: str | None) -> Series | None:
        views = self._of(quantity).get(subject)
        if views is None:
            return None
        if source is not None:
            return views.get(source)
        first, *others = views.values()
        if not others:
            return first
        return next((series for series in (first, *others) if _as_of(series, self.now).state is State.GOOD), first)

    def subjects(self, quantity: str) -> list[str]:
        """Every subject this quantity was read for within a day or so, sorted."""
        return list(self._of(quantity))

    def sources(self, quantity: str, subject: str) -> list[str]:
        """Who has read it within a day or so, sorted."""
        return list(self._of(quantity).get(subject, ()))

    def newest(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading with its state as of now (STALE when it is too old); None when there was none for a day."""
        series = self._choose(quantity, subject, source)
        return None if series is None else _as_of(series, self.now)

    def good(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading if it is GOOD and fresh."""
        reading = self.newest(quantity, subject, source)
        return reading if reading is not None and reading.state is State.GOOD else None

    def number(self, quantity: str, subject: str, source: str | None = None) -> float | None:
        """The newest value if it is GOOD, fresh and a number."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, int | float) else None

    def text(self, quantity: str, subject: str, source: str | None = None) -> str | None:
        """The newest value if it is GOOD, fresh and a text."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, str) else None

    def flags(self, quantity: str, subject: str, source: str | None = None) -> frozenset[str] | None:
        """The newest value if it is GOOD, fresh and a set of flags."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, frozenset) else None

    def window(self, quantity: str, subject: str, source: str | None = None) -> Sequence[Reading]:
        """All readings of the watched window, oldest first, whatever their state."""
        series = self._choose(quantity, subject, source)
        if series is None:
            return ()
        horizon = self.now - self._watches[quantity]
        return [reading for reading in series.readings if reading.at >= horizon]
