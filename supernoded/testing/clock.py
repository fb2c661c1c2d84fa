"""A clock that is turned by hand."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count
from random import Random

BEGINNING = 1_800_000_000.0  # seconds since the epoch: a Friday in January 2027
YIELDS = 50  # turns of the loop after each moment, so that what was woken gets where it waits next


class ManualClock:
    """A clock that stands still until `advance` turns it. `wall_offset` is by how far the wall clock was set."""

    def __init__(self) -> None:
        self.wall_offset = 0.0
        self._now = BEGINNING
        self._order = count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """See `Clock.now`."""
        return self._now

    def wall(self) -> float:
        """See `Clock.wall`."""
        return self._now + self.wall_offset

    async def sleep(self, seconds: float) -> None:
        """See `Clock.sleep`; ends when `advance` has passed that moment."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (self._now + seconds, next(self._order), woken))
        await woken

    def stream(self, name: str) -> Random:
        """See `Clock.stream`: the same numbers for the same name in every run."""
        return Random(f"test/{name}")

    async def advance(self, seconds: float) -> None:
        """Turn the clock, stopping at every moment somebody waits for, in order."""
        end = self._now + seconds
        await _settle()
        while self._waiting and self._waiting[0][0] <= end:
            self._now, _, woken = heapq.heappop(self._waiting)
            if not woken.done():
                woken.set_result(None)
            await _settle()
        self._now = end


async def _settle() -> None:
    for _ in range(YIELDS):
        await asyncio.sleep(0)
