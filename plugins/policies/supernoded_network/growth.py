"""How far counters have grown lately, each by its own source. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from supernoded.plugin import Reading, State, Value, View


def grow(readings: Sequence[Reading]) -> float | None:
    """Growth from the first GOOD total to the last; a total that falls is a new baseline. None with fewer than two of them."""
    totals = [one.value for one in readings if one.state is State.GOOD and isinstance(one.value, int | float)]
    if len(totals) < 2:
        return None
    return float(sum(max(after - before, 0.0) for before, after in pairwise(totals)))


def grow_most(seen: View, quantity: str, subject: str) -> float | None:
    """The largest growth that any source shows; None when none shows any two totals."""
    found = [grow(seen.window(quantity, subject, source)) for source in seen.sources(quantity, subject)]
    return max((one for one in found if one is not None), default=None)


def grow_any(seen: View, quantities: Iterable[str], subject: str) -> float | None:
    """The largest growth of any of these; None when none of them is counted."""
    found = [grow_most(seen, quantity, subject) for quantity in quantities]
    return max((one for one in found if one is not None), default=None)


class Meter:
    """Growth of totals, by somebody who asks again and again: the window is walked only for a total that has moved."""

    def __init__(self) -> None:
        self._still: dict[tuple[str, str, str], Value] = {}  # what has not grown within the window, and its total

    def grow_most(self, seen: View, quantity: str, subject: str) -> float | None:
        """The largest growth that any source shows; None when none shows any two totals, or none that grew and it is silent now."""
        found = [self._grow(seen, quantity, subject, source) for source in seen.sources(quantity, subject)]
        return max((one for one in found if one is not None), default=None)

    def grow_any(self, seen: View, quantities: Iterable[str], subject: str) -> float | None:
        """The largest growth of any of these; None when none of them is known."""
        found = [self.grow_most(seen, quantity, subject) for quantity in quantities]
        return max((one for one in found if one is not None), default=None)

    def _grow(self, seen: View, quantity: str, subject: str, source: str) -> float | None:
        key, newest = (quantity, subject, source), seen.good(quantity, subject, source)
        if newest is not None and self._still.get(key) == newest.value:
            return 0.0
        growth = grow(seen.window(quantity, subject, source))
        if newest is None:
            return growth or None
        if growth == 0.0:
            self._still[key] = newest.value
        else:
            self._still.pop(key, None)
        return growth


def list_subjects(seen: View, quantities: Iterable[str]) -> list[str]:
    """Every subject of any of these, lanes of ports left out, sorted."""
    return sorted({subject for quantity in quantities for subject in seen.subjects(quantity) if "/lane" not in subject})


def say_why(seen: View, quantity: str, subject: str) -> str:
    """Why a quantity of a subject tells nothing, for `unseen`."""
    newest = seen.newest(quantity, subject)
    if newest is None:
        return f"{quantity}: never read"
    if newest.state is State.GOOD:
        return f"{quantity}: only a baseline so far"
    return f"{quantity}: {newest.note or newest.state.value}"
