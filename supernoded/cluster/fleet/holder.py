"""The work of the role `fleet`: hear every beat of the site while the seat is held, hand on what is news, and tell who asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.fleet.muster import ROUND, Muster
from supernoded.cluster.fleet.probing import Take
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.router import Handler
from supernoded.cluster.topics import FleetTold, NodeTold

LOOK = 0.25  # seconds between two looks (ours): a dead node is late within 3 s
FRESH = 2.5 * ROUND * LOOK  # seconds: each node is told once a round, however well it is
TELL_EVERY = 5.0  # seconds between two tellings of all nodes (design section 10: as digests)
PART = 150  # nodes of one message, fewer where much is said of them: some 250 bytes each of those that are well


class Ear(Protocol):
    """What is needed of the session."""

    def on(self, filter_: str, handler: Handler) -> None:
        """See `Session.on`."""
        ...

    def off(self, filter_: str, handler: Handler) -> None:
        """See `Session.off`."""
        ...

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """See `Session.publish`."""
        ...


class Fleet:
    """Works while `find_take` gives where readings go: to the duty of the role, whose seat it therefore follows within a look.

    `list_nodes` says how every node is by all that is known here.
    """

    def __init__(
        self,
        who: Speaker,
        muster: Muster,
        ear: Ear,
        clock: Clock,
        find_take: Callable[[], Take | None],
        list_nodes: Callable[[], Sequence[NodeTold]],
    ) -> None:
        self._who, self.muster, self._ear, self._clock = who, muster, ear, clock
        self._find_take, self.list_nodes = find_take, list_nodes
        self._filter = topics.of_nodes(who.cluster, "beat")
        self._take: Take | None = None
        self._told = 0.0

    @property
    def holds_seat(self) -> bool:
        """Whether it hears the site now."""
        return self._take is not None

    async def run(self) -> None:
        """For ever."""
        try:
            while True:
                self._look(self._clock.now())
                await self._clock.sleep(LOOK)
        finally:
            self._leave()

    def _look(self, now: float) -> None:
        take = self._find_take()
        if take != self._take:  # lost, or gained, or lost and gained again since the last look
            self._leave()
            if take is not None:
                self._enter(take, now)
        if self._take is None:
            return
        readings = self.muster.read(now)
        if readings:
            self._take(readings, FRESH)
        if len(self.muster.nodes) > 1 and not 0.0 <= now - self._told < TELL_EVERY:
            self._told = now
            self._tell(now)

    def _enter(self, take: Take, now: float) -> None:
        self._take = take
        self.muster.start(now)
        self._ear.on(self._filter, self._hear)

    def _leave(self) -> None:
        if self._take is not None:
            self._take = None
            self._ear.off(self._filter, self._hear)

    def _hear(self, message: Message) -> None:
        self.muster.hear(message, self._clock.now())

    def _tell(self, now: float) -> None:
        """Retained, in parts, below our own node: whoever wants to know subscribes for a moment."""
        who = self._who

        def make(nodes: tuple[NodeTold, ...], part: int, parts: int) -> FleetTold:
            return FleetTold(node=who.node, life=who.life, at=now, part=part, parts=parts, nodes=nodes)

        for part, data in enumerate(topics.pack(self.list_nodes(), PART, make)):
            self._ear.publish(topics.fleet(who.cluster, who.node, part), data, retain=True)


async def hear_told(ear: Ear, cluster: str, holder: str, within: float) -> list[FleetTold]:
    """What the holder of the role tells, all parts of it; empty when that has not come within so many seconds."""
    parts: dict[int, FleetTold] = {}
    whole = asyncio.Event()

    def hear(message: Message) -> None:
        told = topics.decode(message.payload, FleetTold)
        if told.node == holder and 0 <= told.part < told.parts:
            others = [one for one in parts.values() if one.parts != told.parts]  # of an earlier telling, in fewer or more parts
            if any(one.at > told.at for one in others):
                return
            for one in others:
                del parts[one.part]
            parts[told.part] = told
            if all(part in parts for part in range(told.parts)):
                whole.set()

    ear.on(topics.of_fleet(cluster, holder), hear)
    try:
        async with asyncio.timeout(within):
            await whole.wait()
    except TimeoutError:
        return []
    finally:
        ear.off(topics.of_fleet(cluster, holder), hear)
    return [parts[part] for part in sorted(parts)]
