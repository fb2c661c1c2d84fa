"""Many nodes' worth of MQTT clients in one process: each says what a node's daemon says, as often, and hears what such a daemon hears."""

from __future__ import annotations

import asyncio
import random
import resource
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.light_mqtt import LightLink, make_connect
from benchmarks.saying import say
from supernoded import __version__
from supernoded.cluster import topics
from supernoded.cluster.columns import Column, pack_columns
from supernoded.cluster.digests import EVERY, MOST
from supernoded.cluster.presence import BEAT_EXPIRY
from supernoded.cluster.topics import Beat, Digest, Presence, Vitals
from supernoded.model import Reading

CLUSTER = "c0"
SLOTS = 50  # of a second: nodes of one slot speak in the same 20 ms
AT_ONCE = 64  # connections that are opened side by side
PATIENCE = 30.0  # seconds for one connection
SPARE_FILES = 256  # file descriptors for all but the clients
SESSION = 300  # seconds for which the broker keeps a session


def allow_files(clients: int) -> None:
    """Raise the limit of open files for so many clients and for what is started later. Raises SystemExit when it cannot."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = clients + SPARE_FILES
    if soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, hard)))
    except (ValueError, OSError) as error:
        raise SystemExit(f"{clients} clients need {wanted} open files, {hard} are allowed: run `ulimit -n {wanted}` as root") from error


@dataclass
class SwarmNode:
    """One node: its link and what it says."""

    name: str
    readings: Sequence[Reading]
    since: float
    link: LightLink = field(init=False)
    columns: Sequence[Column] = field(init=False)
    mute: bool = False  # connected, and says nothing: a daemon that hangs
    told: int = 0  # digests, in this life
    beats: int = 0  # since they were last counted
    said_at: float = 0.0  # its last beat, monotonic
    seen: float = 0.0  # its own last beat came back, monotonic

    def __post_init__(self) -> None:
        """Give it a link of its own. What is told of it goes into one message."""
        self.link = LightLink(self.hear)
        self.columns, rest = pack_columns(self.readings)
        assert not rest
        assert len(self.readings) <= MOST

    @property
    def life(self) -> str:
        """Of its daemon."""
        return f"{self.since:.3f}"

    @property
    def filters(self) -> list[str]:
        """What a daemon without a role subscribes to."""
        return [
            topics.beat(CLUSTER, self.name),
            topics.presence(CLUSTER, self.name),
            topics.command(CLUSTER, self.name),
            topics.answer(CLUSTER, self.name),
            topics.of_holds(CLUSTER),
            topics.of_role_views(CLUSTER),
        ]

    def presence(self, *, online: bool) -> bytes:
        """What is retained of it, and its will."""
        return topics.encode(Presence(node=self.name, life=self.life, at=time.time(), since=self.since, online=online, version=__version__))

    async def connect(self, port: int) -> None:
        """As `Session` does it: will, subscriptions, presence."""
        topic = topics.presence(CLUSTER, self.name)
        connect = make_connect(f"{self.name}-{self.life}", topic, self.presence(online=False), SESSION)
        await self.link.open(port, connect, self.filters, PATIENCE)
        self.link.publish(topic.encode(), self.presence(online=True), qos=1, retain=True)

    def beat(self, now: float) -> None:
        """One beat."""
        vitals = Vitals(power=6200.0, hottest=61.5, step=int(now))
        payload = Beat(node=self.name, life=self.life, at=time.time(), since=self.since, vitals=vitals)
        self.link.publish(topics.beat(CLUSTER, self.name).encode(), topics.encode(payload), qos=1, expiry=BEAT_EXPIRY)
        self.said_at, self.beats = now, self.beats + 1

    def digest(self) -> None:
        """What role-scoped parts watch of it, read just now."""
        at = time.time()
        columns = tuple(msgspec.structs.replace(column, at=at) for column in self.columns)
        self.told += 1
        payload = Digest(node=self.name, life=self.life, at=at, number=self.told, columns=columns, rest=())
        self.link.publish(topics.digest(CLUSTER, self.name).encode(), topics.encode(payload))

    def hear(self, topic: str, payload: bytes) -> None:
        """Its own beat comes back, which a daemon takes for the proof that its link works."""
        del payload
        if topic.endswith("/beat"):
            self.seen = time.monotonic()


@dataclass
class Swarm:
    """All of them, driven by one clock: a second has `SLOTS` slots, and every node its own of them by chance."""

    nodes: Sequence[SwarmNode]
    port: int
    every: float = EVERY  # seconds between two digests of a node
    lags: list[float] = field(default_factory=list)  # seconds by which a slot came late
    echoes: list[float] = field(default_factory=list)  # seconds from a beat to its coming back, of a sample

    async def connect(self, nodes: Iterable[SwarmNode]) -> None:
        """Open the links of these, some side by side."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def connect(node: SwarmNode) -> None:
            async with gate:
                await node.connect(self.port)

        await asyncio.gather(*(connect(node) for node in nodes))

    async def run(self) -> None:
        """Beat and tell, for ever."""
        chance = random.Random(0)
        slots: list[list[SwarmNode]] = [[] for _ in range(SLOTS)]
        for node in self.nodes:
            slots[chance.randrange(SLOTS)].append(node)
        turns, due = round(self.every), time.monotonic()
        for turn in range(1 << 62):
            due += 1 / SLOTS
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            now = time.monotonic()
            self.lags.append(max(now - due, 0.0))
            second = turn // SLOTS
            for index, node in enumerate(slots[turn % SLOTS]):
                self._speak(node, now, tells=(second + index) % turns == 0)

    def _speak(self, node: SwarmNode, now: float, *, tells: bool) -> None:
        if node.mute or not node.link.is_open:
            return
        if node.seen > node.said_at > 0.0:
            self.echoes.append(node.seen - node.said_at)
        node.beat(now)
        if tells:
            node.digest()

    def forget(self) -> None:
        """Begin a new window."""
        self.lags.clear()
        self.echoes.clear()
        for node in self.nodes:
            node.link.sent = node.link.heard = node.beats = 0

    def count_beats(self) -> int:
        """Beats said by all nodes since `forget`: one a second by each of them that keeps up."""
        return sum(node.beats for node in self.nodes)

    def count(self) -> tuple[int, int]:
        """Messages sent and heard by all clients since `forget`."""
        return sum(node.link.sent for node in self.nodes), sum(node.link.heard for node in self.nodes)


def make_swarm(names: Sequence[str], port: int, apart: Collection[str] = ()) -> Swarm:
    """Clients for all of the site's nodes but those that are there as daemons."""
    since = time.time()
    return Swarm([SwarmNode(name, say(name, index), since) for index, name in enumerate(names) if name not in apart], port)
