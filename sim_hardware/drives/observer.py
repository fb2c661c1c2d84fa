"""Somebody at the broker who writes down what daemons tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from supernoded.chaos.drive import ACTION, Told
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Fabric, Message
from supernoded.cluster.topics import EventTold, OutcomeTold
from supernoded.errors import SessionError
from supernoded.model import Result

NAME = "chaos-observer"
AGAIN = 0.5  # s after a lost link


class Observer:
    """`told` is what was heard so far, each event once, at the time at which it was heard; `news` is called for each."""

    def __init__(self, fabric: Fabric, cluster: str, now: Callable[[], float], news: Callable[[], object]) -> None:
        self.told: list[Told] = []
        self.listening = asyncio.Event()
        self._fabric, self._filters = fabric, [topics.of_nodes(cluster, leaf) for leaf in ("event", "outcome")]
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
            await link.subscribe(self._filters)
            self.listening.set()
            async for message in link.messages():
                if topics.matches(self._filters[0], message.topic):
                    event = topics.decode(message.payload, EventTold)
                    self._note(
                        event.event.id, event.node, event.event.kind, event.event.subject, event.event.text, raised=event.event.raised
                    )
                else:
                    self._hear_outcome(topics.decode(message.payload, OutcomeTold))

    def _hear_outcome(self, told: OutcomeTold) -> None:
        if told.outcome.result is Result.DONE:
            self._note(told.outcome.action, told.node, f"{ACTION}{told.kind}", told.target, told.reason, raised=True)

    def _note(self, id_: str, node: str, kind: str, subject: str, text: str, *, raised: bool) -> None:
        if id_ not in self._known:
            self._known.add(id_)
            self.told.append(Told(self._now(), node, kind, subject, raised, text))
            self._news()
