"""Every shape of two sides over five nodes: sessions and the fleet's holder alone, without the rest of a daemon."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from sim_hardware.fabric import Broker
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.fleet.breakers import Want
from supernoded.cluster.fleet.grantor import Grantor
from supernoded.cluster.fleet.holder import Fleet
from supernoded.cluster.fleet.muster import Muster
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import Beat
from supernoded.journal.writer import open_journal
from supernoded.model import Reading
from supernoded.settings import Breakers
from tests.unit.cluster.fakes import MemoryStore

LOG = logging.getLogger("supernoded.cluster.link.session")
NODES = tuple(f"n{number}" for number in range(5))
SIDES = [frozenset(side) for size in (1, 2) for side in itertools.combinations(NODES, size)]


class Light:
    """Five sessions; n0 hears them all."""

    def __init__(self, folder: Path) -> None:
        self.loop = SimLoop(1)
        self.net = Net(self.loop)
        self.broker, self.taken = Broker(self.net), list[Reading]()
        self.muster = Muster("c0", "n0", NODES)
        self.sessions = {name: self._open(name) for name in NODES}
        clock = SimClock(self.loop, "n0")
        self.held = True
        who, journal = Speaker("n0", "c0", "life"), open_journal(folder / "j.db", clock, log=LOG)
        self.loop.on_close.append(journal.abandon)
        self.journal = journal
        self.fleet = Fleet(who, self.muster, self.sessions["n0"], clock, lambda: self._take if self.held else None, list)
        self.grantor = Grantor(Breakers(), clock, list, lambda: self.muster.find_split(clock.now()), lambda: (journal, 0))

    def _open(self, name: str) -> Session:
        clock, store = SimClock(self.loop, name), MemoryStore()
        return Session(self.broker, name, "c0", f"life-{name}", clock, Outbox(store, clock, LOG), LOG)

    def _take(self, readings: Sequence[Reading], fresh_for: float) -> None:
        del fresh_for
        self.taken += readings

    def start(self, but: str = "", *, broker: bool = True) -> None:
        if broker:
            self.broker.start()
        for name, session in self.sessions.items():
            if name != but:
                self.loop.spawn(name, session.run)
        self.loop.spawn("n0/fleet", self.fleet.run, host="n0")
        self.loop.spawn("n0/journal", self.journal.run, host="n0")

    def cut(self, far: frozenset[str]) -> None:
        for here, there in itertools.product(sorted(far), sorted({*NODES, "broker"} - far)):
            self.net.partition(here, there)

    async def may_take_out(self) -> bool:
        return (await self.grantor.grant(Want(subject="n4/card0", cause="silent", incident="i", owner="isolation"))).granted


@pytest.mark.parametrize("side", SIDES, ids=lambda side: "-".join(sorted(side)))
def test_grants_are_given_on_the_greater_side_alone_and_only_with_the_broker(tmp_path: Path, side: frozenset[str]) -> None:
    """The far side is the one without the broker: once the lesser one, once the greater."""
    said: dict[frozenset[str], bool] = {}

    async def scene(far: frozenset[str]) -> None:
        light = lights[far]
        light.start()
        await asyncio.sleep(10.0)
        assert await light.may_take_out()
        light.cut(far)
        await asyncio.sleep(6.0)
        said[far] = await light.may_take_out()

    lesser, greater = side, frozenset(NODES) - side
    lights = {}
    for far in (lesser, greater):
        lights[far] = light = Light(tmp_path)
        play(light.loop, scene(far))
    assert said == {lesser: "n0" not in lesser, greater: False}


def test_who_has_lost_the_seat_hears_no_beats_any_more_and_who_has_it_again_begins_anew(tmp_path: Path) -> None:
    light = Light(tmp_path)

    def count() -> int:
        return sum(session.wants("supernode/v1/c0/node/n3/beat") for session in light.broker.sessions.values())

    async def scene() -> None:
        light.start()
        await asyncio.sleep(10.0)
        assert (count(), light.muster.count_heard()) == (2, 5)
        light.held = False
        await asyncio.sleep(2.0)
        assert count() == 1  # n3 itself
        light.taken.clear()
        await asyncio.sleep(10.0)
        assert light.taken == []
        light.held = True
        await asyncio.sleep(1.0)
        assert light.muster.list_late(light.muster.since + 1.0) == []
        await asyncio.sleep(5.0)
        assert (count(), light.muster.count_heard()) == (2, 5)

    play(light.loop, scene())


def test_what_a_broker_has_kept_of_the_dead_proves_no_life(tmp_path: Path) -> None:
    light = Light(tmp_path)
    beat = Beat(node="n3", life="old", at=light.loop.wall(), since=1.0)

    async def scene() -> None:
        light.broker.start()
        light.broker.publish(Message(topic=topics.beat("c0", "n3"), payload=topics.encode(beat), retain=True))
        light.start(but="n3", broker=False)
        await asyncio.sleep(20.0)
        assert light.muster.counts["retained"] == 1
        assert light.muster.list_late(light.loop.wall()) == ["n3"]

    play(light.loop, scene())


def test_two_of_one_name_that_cannot_hear_each_other_are_rivals(tmp_path: Path) -> None:
    """Each is told by the broker to whom it can, but neither hears the other: both go on."""
    light = Light(tmp_path)
    rival = Session(
        light.broker, "n3", "c0", "life-other", SimClock(light.loop, "n3"), Outbox(MemoryStore(), SimClock(light.loop, "n3"), LOG), LOG
    )
    for session in (rival, light.sessions["n3"]):
        session.off(topics.beat("c0", "n3"), session._hear_beat)

    async def scene() -> None:
        light.start()
        light.loop.spawn("n3x", rival.run)
        await asyncio.sleep(20.0)
        rivals = {reading.subject: reading.value for reading in light.taken if reading.quantity == "node.rival"}
        assert [name for name, life in rivals.items() if life] == ["n3"]

    play(light.loop, scene())
