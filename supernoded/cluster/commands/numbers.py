"""The numbers of signed commands: ours never fall, whatever becomes of clock and daemon; of the others none is taken twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from supernoded.clock import Clock
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.journal.writer import Journal

T = TypeVar("T")

BLOCK = 1_000  # numbers that one write reserves
PATIENCE = 2.0  # seconds for the journal; a command is soon too old anyway


class Numbers:
    """Numbers for what one key signs. Of a lost journal the next life begins by the wall clock, in milliseconds."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal, self._clock = journal, clock
        self._next, self._reserved, self._key = 0, 0, ""
        self._lock = asyncio.Lock()

    async def next(self, key: str) -> int:
        """The next number of `key`; durable before it is given out. Raises JournalError."""
        while key != self._key or self._next >= self._reserved:
            async with self._lock:
                await self._reserve(key)
        self._next += 1
        return self._next - 1

    async def _reserve(self, key: str) -> None:
        if key == self._key and self._next < self._reserved:
            return  # another has waited for the lock before
        if key != self._key:
            known = await _within(self._journal.ask(entries.read_counters()))
            self._next = max(known.get(key, 0), int(self._clock.wall() * 1000))
        await _within(self._journal.commit(entries.raise_counter(key, self._next + BLOCK)))
        self._key, self._reserved = key, self._next + BLOCK


class Taken:
    """The highest numbers that were taken, by key. What changes something is durable before it is acted on."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._highest: dict[str, int] = {}
        self._loaded = False

    async def load(self) -> None:
        """Find out what earlier lives have taken. Raises JournalError."""
        if not self._loaded:
            for key, number in (await _within(self._journal.ask(entries.read_counters()))).items():
                self._highest[key] = max(number, self._highest.get(key, -1))
            self._loaded = True

    def find_highest(self, key: str) -> int:
        """The highest number of a key, -1 = none yet."""
        return self._highest.get(key, -1)

    def take(self, key: str, number: int) -> None:
        """This number and all below are used up, for as long as this life lasts."""
        self._highest[key] = max(number, self._highest.get(key, -1))

    async def keep(self, key: str, number: int) -> None:
        """Durable on return, for later lives too. Raises JournalError."""
        await _within(self._journal.commit(entries.raise_counter(key, number)))


async def _within(answer: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(PATIENCE):
            return await answer
    except TimeoutError as error:
        raise JournalError(f"the journal gave no answer within {PATIENCE:g} s") from error
