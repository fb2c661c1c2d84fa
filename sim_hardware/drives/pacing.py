"""The plant's clock on the bench."""

from __future__ import annotations

from collections.abc import Callable

STRIDE = 2.0  # s; ours: four ticks of the plant, so that devices still answer between two of them


class PlantClock:
    """Seconds from 0, as the wall's go on, but never more than `STRIDE` from one look to the next.

    So the plant of a rack that is too big for this machine goes more slowly, instead of falling ever further behind; the same after the
    process was stopped. `lost` has the seconds that it is behind the wall by that.
    """

    def __init__(self, wall: Callable[[], float]) -> None:
        self.lost = 0.0
        self._wall, self._seen, self._now = wall, wall(), 0.0

    def __call__(self) -> float:
        """The plant's time now."""
        wall = self._wall()
        passed, self._seen = wall - self._seen, wall
        self._now += min(passed, STRIDE)
        self.lost += max(passed - STRIDE, 0.0)
        return self._now
