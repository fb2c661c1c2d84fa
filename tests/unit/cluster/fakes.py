"""A clock moved by hand, a store in memory and a broker in memory, for tests of the session."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from random import Random

from supernoded.cluster.link.fabric import Message, SubscribeDeniedError
from supernoded.cluster.link.outbox import Letter, Outbox
from supernoded.cluster.link.session import Session, Timing
from supernoded.cluster.topics import matches
from supernoded.errors import JournalError, PublishDeniedError, SessionError

LOG = logging.getLogger("supernoded.cluster.link.session")


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait in real time, for what real time decides."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.002)


class HandClock:
    """Time stands still until `advance`."""

    def __init__(self, at: float = 1000.0) -> None:
        self._at = at
        self._timers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = 0
        self.slept: list[float] = []

    def now(self) -> float:
        return self._at

    def wall(self) -> float:
        return self._at

    async def sleep(self, seconds: float) -> None:
        self._number += 1
        self.slept.append(seconds)
        timer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._timers, (self._at + seconds, self._number, timer))
        await timer

    def stream(self, name: str) -> Random:
        return Random(name)

    async def advance(self, seconds: float) -> None:
        end = self._at + seconds
        await settle()
        while self._timers and self._timers[0][0] <= end:
            self._at, _, timer = heapq.heappop(self._timers)
            if not timer.done():
                timer.set_result(None)
            await settle()
        self._at = end


class MemoryStore:
    """See `Store`; raises JournalError while `broken`."""

    def __init__(self) -> None:
        self.letters: dict[str, Letter] = {}
        self.broken = False

    def _check(self) -> None:
        if self.broken:
            raise JournalError("disk is full")

    async def put_message(self, letter: Letter) -> bool:
        self._check()
        return self.letters.setdefault(letter.id, letter) is letter

    async def next_messages(self, count: int) -> Sequence[Letter]:
        self._check()
        return list(self.letters.values())[:count]

    async def delete_messages(self, ids: Sequence[str]) -> None:
        self._check()
        for ident in ids:
            self.letters.pop(ident, None)

    async def count_messages(self) -> int:
        self._check()
        return len(self.letters)

    async def trim_messages(self, limit: int) -> int:
        self._check()
        order = sorted(self.letters.values(), key=lambda letter: letter.critical)
        gone = order[: max(len(order) - limit, 0)]
        for letter in gone:
            del self.letters[letter.id]
        return len(gone)


class MemoryLink:
    def __init__(self, fabric: MemoryFabric, client_id: str, will: Message) -> None:
        self.fabric, self.client_id, self.will = fabric, client_id, will
        self.filters: list[str] = []
        self.inbox: asyncio.Queue[Message | None] = asyncio.Queue()
        self.lost = False

    async def publish(self, message: Message) -> None:
        await asyncio.sleep(0)
        if self.fabric.hangs:
            await asyncio.Event().wait()
        if self.lost:
            raise SessionError("the link is lost")
        if message.topic in self.fabric.denied:
            raise PublishDeniedError(f"broker refuses {message.topic}")
        self.fabric.accept(message)
        if self.fabric.breaks_after is not None:
            self.fabric.breaks_after -= 1
            if self.fabric.breaks_after < 0:
                self.fabric.breaks_after = None
                self.fabric.cut()
                raise SessionError("the link is lost")

    async def subscribe(self, filters: Sequence[str]) -> None:
        if self.lost:
            raise SessionError("the link is lost")
        for name in filters:
            if name in self.fabric.denied:
                raise SubscribeDeniedError(f"broker refuses to let us hear {name}")
            self.filters.append(name)
            for topic, message in sorted(self.fabric.retained.items()):
                if matches(name, topic):
                    self.inbox.put_nowait(message)

    async def unsubscribe(self, filters: Sequence[str]) -> None:
        if self.lost:
            raise SessionError("the link is lost")
        self.filters = [name for name in self.filters if name not in filters]

    async def messages(self) -> AsyncIterator[Message]:
        while (message := await self.inbox.get()) is not None:
            yield message
        raise SessionError("the link is lost")


class MemoryFabric:
    """A broker with switches for what may go wrong."""

    def __init__(self) -> None:
        self.links: list[MemoryLink] = []
        self.taken: list[Message] = []
        self.retained: dict[str, Message] = {}
        self.denied: set[str] = set()
        self.refusal: SessionError | None = None
        self.slow: Callable[[float], Awaitable[None]] | None = None
        self.hangs = False
        self.breaks_after: int | None = None  # publishes

    def accept(self, message: Message) -> None:
        self.taken.append(message)
        if message.retain:
            self.retained[message.topic] = message
        for link in self.links:
            if any(matches(name, message.topic) for name in link.filters):
                link.inbox.put_nowait(Message(topic=message.topic, payload=message.payload))

    def cut(self) -> None:
        for link in self.links:
            link.lost = True
            link.inbox.put_nowait(None)

    def on(self, topic: str) -> list[bytes]:
        return [message.payload for message in self.taken if message.topic == topic]

    @asynccontextmanager
    async def connect(self, client_id: str, will: Message) -> AsyncIterator[MemoryLink]:
        if self.slow is not None:
            await self.slow(20.0)
        if self.refusal is not None:
            raise self.refusal
        link = MemoryLink(self, client_id, will)
        self.links.append(link)
        try:
            yield link
        finally:
            self.links.remove(link)
            if link.lost:
                self.accept(will)


class Bench:
    """One session with everything round it."""

    def __init__(
        self, fabric: MemoryFabric | None = None, clock: HandClock | None = None, life: str = "life1", timing: Timing | None = None
    ) -> None:
        self.fabric, self.clock, self.store = fabric or MemoryFabric(), clock or HandClock(), MemoryStore()
        self.outbox = Outbox(self.store, self.clock, LOG)
        self.session = Session(self.fabric, "n0", "c0", life, self.clock, self.outbox, LOG, timing=timing)
        self.task: asyncio.Task[None] | None = None

    async def start(self, seconds: float = 3.0) -> None:
        self.task = asyncio.create_task(self.session.run())
        await self.clock.advance(seconds)

    async def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def send(self, count: int, first: int = 0) -> None:
        for number in range(first, first + count):
            await self.session.send(Message(topic="supernode/v1/c0/node/n0/event", payload=b"%d" % number), f"e{number}")
