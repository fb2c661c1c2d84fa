"""What must reach the others in the end: durable, bounded, in order, each id once in the queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from supernoded.clock import Clock
from supernoded.cluster.link.fabric import Message
from supernoded.journal.outbox import Letter

__all__ = ["Letter", "Outbox", "Store"]

LIMIT = 10_000  # messages; a node that sends one event a second bridges 2.7 hours without a broker


class Store(Protocol):
    """Where letters are kept. Every method raises JournalError when it could not."""

    async def put_message(self, letter: Letter) -> bool:
        """Durable when it returns; False when the id is already waiting."""
        ...

    async def next_messages(self, count: int) -> Sequence[Letter]:
        """The first `count`, in the order in which they were put."""
        ...

    async def delete_messages(self, ids: Sequence[str]) -> None:
        """Forget these; ids that are not there are no error."""
        ...

    async def count_messages(self) -> int:
        """How many wait."""
        ...

    async def trim_messages(self, limit: int) -> int:
        """Drop the oldest that are not critical, then the oldest critical ones, until `limit` are left; how many went."""
        ...


class Outbox:
    """The queue before the broker. It is said once when it begins to overflow, and once when it is empty again."""

    def __init__(self, store: Store, clock: Clock, log: logging.Logger, limit: int = LIMIT) -> None:
        self._store, self._clock, self._log, self._limit = store, clock, log, limit
        self._waiting: int | None = None  # not yet counted
        self._overflowing = False
        self._news = asyncio.Event()
        self.dropped = 0  # in this life, because the queue was full

    @property
    def waiting(self) -> int:
        """How many wait, as far as is known."""
        return self._waiting or 0

    async def put(self, message: Message, id_: str, *, critical: bool = False) -> None:
        """Keep one message until the broker has it. Raises JournalError; then nothing was kept."""
        if self._waiting is None:
            self._waiting = await self._store.count_messages()
        if await self._store.put_message(self._letter(message, id_, critical)):
            self._waiting += 1
        if self.waiting > self._limit:
            await self._trim()
        self.wake()

    async def next(self, count: int) -> Sequence[Letter]:
        """The first letters; waits until there is one. Raises JournalError."""
        while True:
            self._news.clear()
            letters = await self._store.next_messages(count)
            if letters:
                return letters
            self._recover()
            await self._news.wait()

    async def delete(self, ids: Sequence[str]) -> None:
        """The broker has these, or will never take them. Raises JournalError: then they are sent once more."""
        if ids:
            await self._store.delete_messages(ids)
            self._waiting = await self._store.count_messages()

    def wake(self) -> None:
        """Tell whoever waits in `next` that something was put."""
        self._news.set()

    async def recount(self) -> None:
        """Others have written into the store: keep the bound, and wake who waits. Raises JournalError."""
        self._waiting = await self._store.count_messages()
        if self.waiting > self._limit:
            await self._trim()
        self.wake()

    def _letter(self, message: Message, id_: str, critical: bool) -> Letter:
        return Letter(
            id=id_,
            topic=message.topic,
            payload=message.payload,
            at=self._clock.now(),
            retain=message.retain,
            expiry=message.expiry,
            critical=critical,
        )

    async def _trim(self) -> None:
        gone = await self._store.trim_messages(self._limit)
        self._waiting = self._limit
        self.dropped += gone
        if gone and not self._overflowing:
            self._overflowing = True
            self._log.error(
                "outbox is full at %d messages: the oldest that are not critical are dropped until the broker is back", self._limit
            )

    def _recover(self) -> None:
        self._waiting = 0
        if self._overflowing:
            self._overflowing = False
            self._log.warning("outbox is empty again; %d messages were dropped in this life, the journal has their events", self.dropped)
