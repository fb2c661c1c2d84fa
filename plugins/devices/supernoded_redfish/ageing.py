"""How old a BMC's reading is, told without trusting its clock: a time stamp that does not move is that of an old reading."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

PERIODS = 3.0  # of the monitor's own, after which a stamp that has not moved is old (ours)


class Stamp(NamedTuple):
    """A time stamp and when it was first seen, on our clock."""

    text: str
    since: float


class Ages:
    """The time stamps of everything that one BMC reads."""

    def __init__(self) -> None:
        self._stamps: dict[tuple[str, str], Stamp] = {}

    def note(self, subject: str, quantity: str, text: str, now: float) -> float:
        """For how many seconds the stamp has been this one."""
        known = self._stamps.get((subject, quantity))
        if known is None or known.text != text:
            known = self._stamps[subject, quantity] = Stamp(text, now)
        return now - known.since

    def keep(self, keys: Collection[tuple[str, str]]) -> None:
        """Forget all others."""
        self._stamps = {key: stamp for key, stamp in self._stamps.items() if key in keys}
