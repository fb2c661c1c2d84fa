"""Stamps of log lines, as seconds since the log's first one. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

LONGEST_GAP = 32 * 86_400.0  # seconds; a longer step is a stamp that is wrong
STEP = 1e-3  # seconds between two lines of the same stamp, so that their order is kept
LEAP_YEAR = 2024  # so that a 29 February without a year can be read

_BOOT = re.compile(r"(?:<\d>)?\s*\[\s*(?P<seconds>\d{1,10}\.\d{1,9})\]", re.ASCII)
_ISO = re.compile(r"(?:<\d+>)?\s*(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)", re.ASCII)
_SYSLOG = re.compile(r"(?:<\d+>)?\s*(?P<syslog>[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d)\b", re.ASCII)
_CTIME = re.compile(r"(?:<\d>)?\s*\[(?P<ctime>[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4})\]", re.ASCII)


def _read_iso(text: str) -> float:
    moment = datetime.fromisoformat(text.replace(",", "."))
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _read_syslog(text: str) -> float:
    return datetime.strptime(f"{LEAP_YEAR} {text}", "%Y %b %d %H:%M:%S").replace(tzinfo=UTC).timestamp()


def _read_ctime(text: str) -> float:
    return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()


_KINDS: Mapping[str, tuple[re.Pattern[str], Callable[[str], float]]] = {
    "seconds": (_BOOT, float),
    "iso": (_ISO, _read_iso),
    "syslog": (_SYSLOG, _read_syslog),
    "ctime": (_CTIME, _read_ctime),
}


def is_stamped(line: str) -> bool:
    """Whether a line begins as those of a log do."""
    return any(pattern.match(line) is not None for pattern, _ in _KINDS.values())


class Stamps:
    """The time of each line on a scale that begins at `at` and never goes back, whatever kinds of stamps are mixed."""

    def __init__(self, at: float) -> None:
        self._now = at
        self._last: dict[str, float] = {}

    def read(self, line: str) -> float:
        """When this line was written. One without a stamp, or with one that goes back, belongs to the line before it."""
        for kind, (pattern, parse) in _KINDS.items():
            found = pattern.match(line)
            if found is not None:
                self._move(kind, parse, found[kind])
                break
        return self._now

    def tick(self) -> float:
        """A moment after, for something that must not be at the same time."""
        self._now += STEP
        return self._now

    def _move(self, kind: str, parse: Callable[[str], float], text: str) -> None:
        try:
            stamp = parse(text)
        except (ValueError, OverflowError):
            return
        before, self._last[kind] = self._last.get(kind, stamp), stamp
        step = stamp - before
        if 0.0 < step <= LONGEST_GAP:
            self._now += step
