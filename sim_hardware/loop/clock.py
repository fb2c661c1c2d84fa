"""The daemon's clock in virtual time."""

from __future__ import annotations

import asyncio
from random import Random

from sim_hardware.loop.simloop import SimLoop


class SimClock:
    """A node's clock, `skew` seconds ahead of the site's. Setting `jump` moves its wall clock alone, as an operator does."""

    def __init__(self, loop: SimLoop, name: str, *, skew: float = 0.0) -> None:
        self._loop, self._name, self._skew = loop, name, skew
        self._set = 0.0  # by earlier lives' jumps, from which a later life's `now` begins
        self.jump = 0.0

    @property
    def error(self) -> float:
        """By how much its wall clock was set, s."""
        return self._set + self.jump

    def begin_life(self) -> None:
        """What begins now takes the wall clock as it is, and never sees it jump."""
        self._set, self.jump = self._set + self.jump, 0.0

    def now(self) -> float:
        """Seconds since the Unix epoch; never jumps."""
        return self._loop.wall() + self._skew + self._set

    def wall(self) -> float:
        """Seconds since the Unix epoch as the machine shows them."""
        return self.now() + self.jump

    async def sleep(self, seconds: float) -> None:
        """Wait; a time of zero or less yields once."""
        await asyncio.sleep(max(seconds, 0.0))

    def stream(self, name: str) -> Random:
        """A stream of chance of this node's own."""
        return self._loop.stream(f"{self._name}/{name}")
