"""The time and chance ports: nothing else in the house asks for the time or for randomness."""

from __future__ import annotations

import asyncio
import time
from random import Random
from typing import Protocol


class Clock(Protocol):
    """Time for everything that decides, and seeded streams of chance."""

    def now(self) -> float:
        """Seconds since the Unix epoch on a scale that never jumps within one life."""
        ...

    def wall(self) -> float:
        """Seconds since the Unix epoch as the machine shows them now; may jump."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a time of zero or less yields once."""
        ...

    def stream(self, name: str) -> Random:
        """A stream of chance of its own for `name`."""
        ...


class SystemClock:
    """The machine's time, anchored once: wall time at the start plus what the loop's clock has counted since.

    A wall clock that is set back or forth therefore moves no deadline; `wall() - now()` shows by how much it did.
    """

    def __init__(self) -> None:
        self._anchor = time.time() - time.monotonic()

    def now(self) -> float:
        """See `Clock.now`."""
        return self._anchor + time.monotonic()

    def wall(self) -> float:
        """See `Clock.wall`."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """See `Clock.sleep`."""
        await asyncio.sleep(max(seconds, 0.0))

    def stream(self, name: str) -> Random:
        """See `Clock.stream`; seeded by the system, whatever the name."""
        del name
        return Random()
