"""What the unit tests of the core share: virtual time, and words with sensible defaults."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from random import Random
from typing import Any, TypeVar

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from supernoded.history import DEFAULT_WINDOW, History
from supernoded.model import Reading, State, Value
from supernoded.supervisor import Health

T = TypeVar("T")
LOG = logging.getLogger("test")


class LoopClock:
    """The clock port on the running loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        return self.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(seconds, 0.0))

    def stream(self, name: str) -> Random:
        return Random(name)


def run(work: Coroutine[Any, Any, T], seed: int = 1) -> T:
    """Run in virtual time; whatever vanished in a callback fails the test."""
    loop = SimLoop(seed)
    answer = play(loop, work)
    assert loop.failures == []
    return answer


def health() -> Health:
    return Health(LoopClock(), LOG)


def reading(value: Value = 1.0, at: float = 0.0, quantity: str = "host.load", subject: str = "n0", unit: str = "1") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state)


def history(windows: Mapping[str, float] | None = None) -> History:
    return History(windows or {"host.load": DEFAULT_WINDOW})
