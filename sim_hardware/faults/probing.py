"""How probes are made of readings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sim_hardware.faults.kind import P, Probe
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import NoAnswerError, ReadingError

T = TypeVar("T")
Read = Callable[[Place], Awaitable[T]]  # may raise ReadingError

COUNTED_S = 1.0  # of two readings that make a rate: counters go on in steps of the plant, two in this time
PAUSE_S = 0.6  # between two readings of one probe: longer than any device of ours keeps a value


def sees(read: Read[T], test: Callable[[T, P], bool]) -> Probe[P]:
    """It shows when what is read now passes the test."""

    async def probe(place: Place, parameters: P) -> bool:
        return test(await read(place), parameters)

    return probe


def differs(read: Read[T], test: Callable[[T, T, P], bool]) -> Probe[P]:
    """It shows when the first that was ever read, and what is read now, pass the test; the first reading itself never does."""

    async def probe(place: Place, parameters: P) -> bool:
        now = await read(place)
        return test(place.remember("before", now), now, parameters)

    return probe


def counts(read: Read[float]) -> Probe[Any]:
    """It shows when a counter has moved since the last probe."""

    async def probe(place: Place, _: object) -> bool:
        now = await read(place)
        before = place.replace("counted", now)
        return before is not None and now > before

    return probe


def hangs(read: Read[Any], first: Read[None] | None = None) -> Probe[Any]:
    """It shows by silence, once `first` has found that it could be told from that of something else."""

    async def probe(place: Place, _: object) -> bool:
        if first is not None:
            await first(place)
        try:
            await read(place)
        except NoAnswerError:
            return True
        return False

    return probe


async def stands_still(place: Place, read: Read[Any], pause_s: float = PAUSE_S) -> bool | None:
    """Whether something that is known to move does not; None for what has never been seen to."""
    first = await read(place)
    await asyncio.sleep(pause_s)
    second = await read(place)
    if first != second:
        place.replace("moves", value=True)
        return False
    return True if place.recall("moves") else None


def combine(*reads: Read[T]) -> Read[tuple[T, ...]]:
    """Several readings, one after the other."""

    async def read(place: Place) -> tuple[T, ...]:
        return tuple([await one(place) for one in reads])

    return read


def require(value: T | None, what: str) -> T:
    """The value. Raises ReadingError when there is none."""
    if value is None:
        raise ReadingError(f"{what} shows nothing")
    return value
