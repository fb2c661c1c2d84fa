"""What must be remembered of attributes between two reads: the last text, how often it failed since, and whether it ever moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from supernoded.plugin import WireError
from supernoded_hwmon.values import UNLIKELY_HOT, Worth


class Heard(NamedTuple):
    """What an attribute said and when; None and why it says nothing."""

    text: str | None
    at: float
    note: str = ""


@dataclass
class _Last:
    text: str = ""
    at: float = 0.0
    misses: int = 0
    heard: bool = False


class Patience:
    """Drivers fail now and then (EIO, EAGAIN, ENXIO): for `most` reads in a row the last text stands, as old as it is (facility row 20)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last: dict[str, _Last] = {}

    def hear(self, key: str, found: str | WireError, now: float) -> Heard:
        """What to go by."""
        last = self._last.setdefault(key, _Last())
        if isinstance(found, str):
            last.text, last.at, last.misses, last.heard = found, now, 0, True
            return Heard(found, now)
        last.misses += 1
        if last.heard and last.misses <= self._most:
            return Heard(last.text, last.at, f"last read before {last.misses} failures: {found}")
        return Heard(None, now, f"failsafe: {last.misses} reads in a row failed: {found}")


class Pins:
    """Inputs that nothing is connected to say something unlikely, and never anything else."""

    def __init__(self) -> None:
        self._first: dict[str, float] = {}
        self._moved: set[str] = set()

    def doubt_celsius(self, key: str, worth: Worth) -> Worth:
        """The same, or None and why: as long as it has never moved from 0, from below, or from something very hot."""
        if worth.value is None or self._has_moved(key, worth.value) or 0.0 < worth.value < UNLIKELY_HOT / 1000.0:
            return worth
        return Worth(None, f"{worth.value:g} C since it was first read, and never anything else: nothing may be connected")

    def doubt_rpm(self, key: str, worth: Worth) -> Worth:
        """The same, or None and why: of a fan that nobody has declared, as long as it has never turned."""
        if worth.value is None or self._has_moved(key, worth.value) or worth.value > 0.0:
            return worth
        return Worth(None, "it was never seen to turn: an empty header, or a dead fan; name it in `fans` if there is one")

    def _has_moved(self, key: str, value: float) -> bool:
        if value != self._first.setdefault(key, value):
            self._moved.add(key)
        return key in self._moved
