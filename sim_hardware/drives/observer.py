"""Somebody at the broker who writes down what daemons tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from supernoded.chaos.drive import Told
from supernoded.cluster import topics
from supernoded.cluster.fabric import Fabric, Message
from supernoded.cluster.topics import EventTold
from supernoded.errors import SessionError

NAME = "chaos-observer"
AGAIN = 0.5  # s after a lost link


class Observer:
    """`told` is what was heard so far, each event once, at the time at which it was heard; `news` is called for each."""

    def __init__(self, fabric: Fabric, cluster: str, now: Callable[[], float], news: Callable[[], object]) -> None:
        self.told: list[Told] = []
        self.listening = asyncio.Event()
        self._fabric, self._filter = fabric, topics.of_nodes(cluster, "event")
        self._now, self._news = now, news
        self._known: set[str] = set()

    async def run(self) -> None:
        """Listen until cancelled; a lost link is taken up again."""
        while True:
            try:
                await self._listen()
            except SessionError:
                self.listening.clear()
                await asyncio.sleep(AGAIN)

    async def _listen(self) -> None:
        async with self._fabric.connect(NAME, Message(topic=f"{NAME}/gone", payload=b"")) as link:
            await link.subscribe([self._filter])
            self.listening.set()
            async for message in link.messages():
                self._hear(topics.decode(message.payload, EventTold))

    def _hear(self, told: EventTold) -> None:
        event = told.event
        if event.id in self._known:
            return
        self._known.add(event.id)
        self.told.append(Told(self._now(), told.node, event.kind, event.subject, event.raised, event.text))
        self._news()
