"""Every port as it was last looked at, for all rules of links at once: they are asked together, and mostly there is nothing new to see.

They all watch the same, so that they are asked at the same moments: whoever asks first looks, and the others are shown what it saw.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from supernoded.plugin import Reading, View
from supernoded_link_ber.looking import OF_LANES, STATE, Glimpse, Lanes, Place

LOOK_AGAIN = 5.0  # seconds after which a port is judged again without news, so that age and excuses are seen: as the daemon asks (ours)
LIST_AGAIN = 15.0  # seconds after which it is looked anew who reads what, ours
APART = frozenset({STATE, "link.downed", "link.symbol_errors", "link.effective_errors"})  # each looked at by itself at every moment

_LANE = re.compile(r"(?P<port>.+)/lane(?P<lane>\d{1,3})", re.ASCII)


class Portrait:
    """All that is read of one port. Places that a source read at one moment are expected to change together: one of them is watched."""

    def __init__(self, port: str, places: Sequence[tuple[str, str, Sequence[str]]], lanes: Lanes) -> None:
        self._port, self._lanes = port, lanes
        self._read: dict[Place, dict[str, Reading]] = {(quantity, subject): {} for quantity, subject, sources in places if sources}
        self._quantities = frozenset([name if place == port else f"{name}{OF_LANES}" for name, place in self._read])
        self._places: dict[str, list[tuple[str, str, dict[str, Reading]]]] = {}  # by source
        self._tellers = {quantity: len(sources) for quantity, subject, sources in places if quantity in APART and subject == port}
        for quantity, subject, sources in places:
            for source in sources:
                self._places.setdefault(source, []).append((quantity, subject, self._read[quantity, subject]))
        self._watched: dict[str, list[tuple[str, str, Reading]]] = {}  # by source: one place of each group, and what was read
        self._noted: dict[str, list[Reading]] = {}  # by source: readings with a note
        self.glimpse: Glimpse | None = None

    def is_old(self, seen: View) -> bool:
        """Whether it is to be judged again without news."""
        return self.glimpse is None or not 0.0 <= seen.now - self.glimpse.now < LOOK_AGAIN

    def has_newcomer(self, seen: View) -> bool:
        """Whether somebody tells of its state or its errors who never did."""
        return any(len(seen.sources(quantity, self._port)) != number for quantity, number in self._tellers.items())

    def find_news(self, seen: View) -> Sequence[str]:
        """The sources that have read something since."""
        if self.glimpse is None:
            return sorted(self._places)
        return [source for source, places in self._watched.items() if any(_is_new(seen, *place) for place in places)]

    def look(self, seen: View, news: Iterable[str], mark: int, work: str) -> Glimpse:
        """Look at what these sources have read; `mark` names the look."""
        for source in news:
            self._look_at(seen, source)
        noted = [reading for readings in self._noted.values() for reading in readings]
        self.glimpse = Glimpse(self._port, mark, seen, self._read, self._lanes, self._quantities, noted, work)
        return self.glimpse

    def _look_at(self, seen: View, source: str) -> None:
        watched, noted, moments = list[tuple[str, str, Reading]](), list[Reading](), set[float]()
        for quantity, subject, told in self._places[source]:
            reading = seen.newest(quantity, subject, source)
            if reading is None:
                continue
            told[source] = reading
            if reading.note:
                noted.append(reading)
            if reading.at not in moments or (quantity in APART and subject == self._port):
                moments.add(reading.at)
                watched.append((quantity, subject, reading))
        self._watched[source], self._noted[source] = watched, noted


def _is_new(seen: View, quantity: str, subject: str, before: Reading) -> bool:
    newest = seen.newest(quantity, subject, before.source)
    if newest is before:
        return False
    return newest is None or newest.at != before.at or newest.state is not before.state or newest.value != before.value


class Gallery:
    """The portraits of all ports. `find_work` says who is at work on one."""

    def __init__(self, watches: Mapping[str, float], find_work: Callable[[str], str]) -> None:
        self.watches = watches
        self._quantities = sorted(quantity for quantity in watches if quantity.startswith("link."))
        self._find_work = find_work
        self._subjects: dict[str, list[str]] = {}
        self._portraits: dict[str, Portrait] = {}
        self._now, self._listed, self._marks = -1.0, -1.0, 0
        self._shown: set[str] = set()  # who has seen this moment
        self._glimpses: list[Glimpse] = []

    def look(self, seen: View, asker: str) -> Sequence[Glimpse]:
        """Every port, sorted; all that ask in one moment are shown the same, and who asks twice wants another look."""
        again = seen.now == self._now and asker in self._shown
        if again or seen.now != self._now:
            self._now = seen.now
            self._shown.clear()
            self._glimpses = self._refresh(seen, again=again)
        self._shown.add(asker)
        return self._glimpses

    def _refresh(self, seen: View, *, again: bool) -> list[Glimpse]:
        subjects = {quantity: seen.subjects(quantity) for quantity in self._quantities}
        again = again or subjects != self._subjects or not 0.0 <= seen.now - self._listed < LIST_AGAIN
        if again or any(portrait.has_newcomer(seen) for portrait in self._portraits.values()):
            self._subjects, self._listed = subjects, seen.now
            self._portraits = self._paint(seen)
        for port, portrait in self._portraits.items():
            news = portrait.find_news(seen)
            if news or portrait.is_old(seen):
                self._marks += 1
                portrait.look(seen, news, self._marks, self._find_work(port))
        return [portrait.glimpse for portrait in self._portraits.values() if portrait.glimpse is not None]

    def _paint(self, seen: View) -> dict[str, Portrait]:
        places: dict[str, list[tuple[str, str, Sequence[str]]]] = {}
        lanes: dict[str, dict[str, dict[int, str]]] = {}
        for quantity, subjects in self._subjects.items():
            for subject in subjects:
                found = _LANE.fullmatch(subject)
                port = found["port"] if found else subject
                places.setdefault(port, []).append((quantity, subject, seen.sources(quantity, subject)))
                if found:
                    lanes.setdefault(port, {}).setdefault(quantity, {})[int(found["lane"])] = subject
        return {port: Portrait(port, places[port], _sort(lanes.get(port, {}))) for port in sorted(places)}


def _sort(lanes: Mapping[str, Mapping[int, str]]) -> Lanes:
    return {quantity: dict(sorted(those.items())) for quantity, those in lanes.items()}
