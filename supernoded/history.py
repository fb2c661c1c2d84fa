"""Recent readings per (quantity, subject, source), bounded, and the view a rule or loop may have of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

import msgspec

from supernoded.errors import PluginError
from supernoded.model import Reading, State

DEFAULT_WINDOW = 600.0  # seconds; design section 6
FORGET_AFTER = 86_400.0  # seconds after which what its source no longer reports is forgotten: mounts and ports come and go for years
_NOBODY: Mapping[str, Mapping[str, Series]] = {}
_NUMBER = (int, float)  # as a tuple, which is looked through in half the time
MOST_READINGS = 200_000  # over all windows: about 32 MB (design section 6) at 160 bytes a reading


class Series:
    """The readings of one quantity of one subject by one source, oldest first, and for how long the newest counts as fresh."""

    __slots__ = ("fresh_for", "readings", "window")

    def __init__(self, window: float) -> None:
        self.readings: deque[Reading] = deque()
        self.fresh_for = 0.0
        self.window = window  # seconds that are kept

    def take(self, reading: Reading) -> bool:
        """In the order of time, in which they nearly always come. Gives whether it has turned from the newest before."""
        readings = self.readings
        place = len(readings)
        turned = not place or has_turned(readings[-1], reading)
        while place and readings[place - 1].at > reading.at:
            place -= 1
        if place == len(readings):
            readings.append(reading)
        else:
            readings.insert(place, reading)
        return turned

    def trim(self) -> int:
        """Drop what is older than the window; how many went."""
        readings, dropped = self.readings, 0
        horizon = readings[-1].at - self.window
        while readings[0].at < horizon:
            readings.popleft()
            dropped += 1
        return dropped

    def cut(self, most: int) -> int:
        """Drop the oldest beyond so many; how many went."""
        dropped = max(len(self.readings) - most, 0)
        for _ in range(dropped):
            self.readings.popleft()
        return dropped


class History:
    """What one scope has read lately. `windows` says for how many seconds each quantity is kept."""

    def __init__(self, windows: Mapping[str, float], most: int = MOST_READINGS) -> None:
        self._windows = windows
        self._most = most
        self._count = self._size = 0  # readings, and series
        self._turns = 0  # how often something was added
        self._series: dict[str, dict[str, dict[str, Series]]] = {}  # quantity -> subject -> source -> series
        self._grown: set[str] = set()  # quantities with a new series, which are not in order yet
        self.shape = 0  # changes whenever a series begins or is forgotten

    def add(self, readings: Iterable[Reading], fresh_for: float) -> set[str]:
        """Take in what a sensor read; each counts as fresh for `fresh_for` seconds. Gives the quantities of which one has turned."""
        turned = set[str]()
        self._turns += 1
        for reading in readings:
            try:
                series = self._series[reading.quantity][reading.subject][reading.source]
            except KeyError:
                series = self._begin(reading)
            if series.take(reading):
                turned.add(reading.quantity)
            series.fresh_for = fresh_for
            self._count += 1 - series.trim()
            if self._count > self._most:  # a site of thousands is always over it: each series keeps its share, and two at least
                self._count -= series.cut(max(self._most // self._size, 2))
        if self._count > max(self._most, 2 * self._size):
            self._thin()
        return turned

    def _begin(self, reading: Reading) -> Series:
        self.shape += 1
        self._size += 1
        self._grown.add(reading.quantity)
        views = self._series.setdefault(reading.quantity, {}).setdefault(reading.subject, {})
        series = views[reading.source] = Series(self._windows.get(reading.quantity, DEFAULT_WINDOW))
        return series

    def _sort(self, quantity: str) -> None:
        """Subjects and sources are kept in order, from the next question on: they are asked for far oftener than there is a new one."""
        self._grown.discard(quantity)
        subjects = self._series[quantity]
        self._series[quantity] = {name: _sort_views(subjects[name]) for name in sorted(subjects)}

    def _walk(self) -> Iterator[Series]:
        return (series for subjects in self._series.values() for views in subjects.values() for series in views.values())

    def _thin(self) -> None:
        """Far over the bound: every series gives up its older half."""
        for series in self._walk():
            for _ in range(len(series.readings) // 2):
                series.readings.popleft()
                self._count -= 1

    def forget(self, horizon: float) -> None:
        """Drop what nobody has reported since, not even as UNKNOWN."""
        self.shape += 1
        for quantity, subjects in self._series.items():
            kept: dict[str, dict[str, Series]] = {}
            for subject, views in subjects.items():
                young = {source: series for source, series in views.items() if series.readings[-1].at >= horizon}
                self._size -= len(views) - len(young)
                self._count -= sum(len(series.readings) for source, series in views.items() if source not in young)
                if young:
                    kept[subject] = young
            self._series[quantity] = kept

    def view(self, now: float, watches: Mapping[str, float]) -> View:
        """What somebody who watches these quantities sees at `now`."""
        if self._grown:
            for quantity in self._grown.intersection(watches):
                self._sort(quantity)
        return View(self._series, now, watches, self._turns)

    def count(self, quantities: Iterable[str]) -> int:
        """How many subjects these quantities were read for, each quantity's apart."""
        return sum(len(self._series.get(quantity, ())) for quantity in quantities)

    def newest(self, now: float, sources: Collection[str] | None = None, quantities: Collection[str] | None = None) -> list[Reading]:
        """The newest reading of everything, or of what these have read of these, as of `now`, by subject, quantity and source."""
        kept = (subjects for name, subjects in self._series.items() if quantities is None or name in quantities)
        told = (item for subjects in kept for views in subjects.values() for item in views.items())
        found = [_as_of(series, now) for source, series in told if sources is None or source in sources]
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


def _sort_views(views: dict[str, Series]) -> dict[str, Series]:
    """Nearly every subject has one source: of thousands that are told for the first time that spares most of the work."""
    return views if len(views) == 1 else dict(sorted(views.items()))


def _as_of(series: Series, now: float) -> Reading:
    last = series.readings[-1]
    if now - last.at <= series.fresh_for or last.state is not State.GOOD:
        return last
    note = f"last read {now - last.at:.1f} s ago, fresh for {series.fresh_for:.1f} s"
    return msgspec.structs.replace(last, state=State.STALE, note=note)


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
            self._refuse(quantity)
        return self._series.get(quantity, _NOBODY)

    def _refuse(self, quantity: str) -> NoReturn:
        raise PluginError(f"{quantity} is read but not watched; add it to `watches`")

    def _choose(self, quantity: str, subject: str, source: str | None) -> Series | None:
        if quantity not in self._watches:
            self._refuse(quantity)
        views = self._series.get(quantity, _NOBODY).get(subject)
        if views is None:
            return None
        if source is not None:
            return views.get(source)
        several = iter(views.values())
        first = next(several)
        if len(views) == 1 or self._is_good(first):
            return first
        return next((series for series in several if self._is_good(series)), first)

    def _is_good(self, series: Series) -> bool:
        last = series.readings[-1]
        return last.state is State.GOOD and not self.now - last.at > series.fresh_for

    def subjects(self, quantity: str) -> list[str]:
        """Every subject this quantity was read for within a day or so, sorted."""
        return list(self._of(quantity))

    def sources(self, quantity: str, subject: str) -> list[str]:
        """Who has read it within a day or so, sorted."""
        return list(self._of(quantity).get(subject, ()))

    def told(self, quantity: str, subject: str) -> dict[str, Reading]:
        """Who has read it within a day or so, sorted, and its newest reading with its state as of now: all sources in one question."""
        views = self._of(quantity).get(subject)
        return {source: _as_of(series, self.now) for source, series in views.items()} if views else {}

    def newest(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading with its state as of now (STALE when it is too old); None when there was none for a day."""
        series = self._choose(quantity, subject, source)
        return None if series is None else _as_of(series, self.now)

    def good(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading if it is GOOD and fresh."""
        series = self._choose(quantity, subject, source)
        return series.readings[-1] if series is not None and self._is_good(series) else None

    def number(self, quantity: str, subject: str, source: str | None = None) -> float | None:
        """The newest value if it is GOOD, fresh and a number."""
        reading = self.good(quantity, subject, source)
        return reading.value if reading is not None and isinstance(reading.value, _NUMBER) else None

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
        if series.readings[0].at >= horizon:
            return list(series.readings)
        return [reading for reading in series.readings if reading.at >= horizon]

    def last_good(self, quantity: str, subject: str, source: str | None = None) -> Reading | None:
        """The newest reading of the watched window that was GOOD, be it fresh or not; None when there is none."""
        series = self._choose(quantity, subject, source)
        horizon = self.now - self._watches[quantity]
        for reading in reversed(series.readings) if series is not None else ():
            if reading.at < horizon:
                return None
            if reading.state is State.GOOD:
                return reading
        return None
