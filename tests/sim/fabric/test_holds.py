"""Holds of five daemons over the broker in memory: partitions, a broker restored from an old copy, a late joiner."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from sim_hardware.fabric import Broker
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.holds_told import HoldPost, connect_holds
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import HoldTold, PayloadError
from supernoded.holds import Holds
from supernoded.journal.writer import open_journal
from supernoded.model import Hold
from tests.unit.cluster.fakes import MemoryStore

T = TypeVar("T")
LOG = logging.getLogger("supernoded.cluster.link.session")
NODES = [f"n{number}" for number in range(5)]
LONG = 40.0  # seconds: the longest pause before a session connects again, and some


async def run_inline(work: Callable[[], T]) -> T:
    return work()


class Member:
    """One daemon's session and holds."""

    def __init__(self, site: Site, node: str, life: str = "life1") -> None:
        self.node, self._clock = node, SimClock(site.loop, node)
        journal = open_journal(site.folder / f"{node}.db", self._clock, run=run_inline)
        self.session = Session(site.broker, node, "c0", life, self._clock, Outbox(MemoryStore(), self._clock, LOG), LOG)
        self.post = HoldPost(Speaker(node, "c0", life), self._clock, self.session.publish)
        self.holds = Holds(node, journal, self._clock, self.post.tell)
        connect_holds(self.holds, self.post, self.session, "c0")

    async def main(self) -> None:
        await self.holds.take_up()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.session.run())
            group.create_task(self.holds.run())

    async def place(self, id_: str, card: str) -> Hold:
        now = self._clock.now()
        return await self.holds.place(Hold(id=id_, subject=card, serial="", reason="silent", owner="p", placed=now, node=self.node))


class Site:
    """A broker and five daemons, each in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = SimLoop(1)
        self.net = Net(self.loop)
        self.broker = Broker(self.net)
        self.members = [Member(self, node) for node in NODES]

    def play(self, scenario: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            self.broker.start()
            for member in self.members:
                self.loop.spawn(member.node, member.main)
            await asyncio.sleep(5.0)
            await scenario()

        play(self.loop, main())
        assert self.loop.failures == []

    def standing(self) -> list[list[str]]:
        return [[hold.id for hold in member.holds.standing()] for member in self.members]

    def are_equal(self) -> bool:
        first, *others = [member.holds.everything() for member in self.members]
        return all(other == first for other in others)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_all_nodes_know_what_one_places_and_lifts(site: Site) -> None:
    async def scenario() -> None:
        await site.members[0].place("h1", "n3/card1")
        await asyncio.sleep(1.0)
        assert site.standing() == [["h1"]] * 5
        await site.members[4].holds.lift("h1", "operator alice")
        await asyncio.sleep(1.0)
        assert site.standing() == [[]] * 5

    site.play(scenario)
    assert site.are_equal()


def test_both_sides_of_a_partition_place_and_lift_and_all_agree_when_it_heals(site: Site) -> None:
    async def scenario() -> None:
        await site.members[0].place("h0", "n0/card0")
        await asyncio.sleep(1.0)
        for node in ("n3", "n4"):
            site.net.partition("broker", node)
        await asyncio.sleep(LONG)
        await site.members[1].place("h1", "n1/card1")
        await site.members[3].place("h3", "n3/card3")
        await site.members[4].holds.lift("h0", "operator alice")
        await asyncio.sleep(1.0)
        assert site.standing() == [["h0", "h1"], ["h0", "h1"], ["h0", "h1"], ["h0", "h3"], []]
        for node in ("n3", "n4"):
            site.net.heal("broker", node)
        await asyncio.sleep(LONG)
        assert site.standing() == [["h1", "h3"]] * 5

    site.play(scenario)
    assert site.are_equal()


def test_a_broker_that_was_restored_from_an_old_copy_revives_nothing(site: Site) -> None:
    async def scenario() -> None:
        await site.members[0].place("h1", "n0/card0")
        await asyncio.sleep(1.0)
        saved = copy.deepcopy(site.broker.retained)
        await site.members[3].holds.lift("h1", "operator alice")
        await site.members[2].place("h2", "n0/card1")
        await asyncio.sleep(1.0)
        site.broker.stop(keep_sessions=False)
        await asyncio.sleep(1.0)
        site.broker.retained = saved
        site.broker.start()
        await asyncio.sleep(LONG)
        assert site.standing() == [["h2"]] * 5
        late = Member(site, "n9")
        site.members.append(late)
        site.loop.spawn("n9", late.main)
        await asyncio.sleep(LONG)
        assert site.standing()[-1] == ["h2"]

    site.play(scenario)
    assert site.are_equal()


def test_garbage_and_what_stands_on_anothers_topic_are_refused(site: Site) -> None:
    member = site.members[0]
    hold = Hold(id="h1", subject="n0/card0", serial="", reason="", owner="p", placed=1.0)
    told = HoldTold(node="n1", life="life1", at=1.0, hold=hold)
    good = Message(topic=topics.hold("c0", "n1", "h1"), payload=topics.encode(told))
    bad = [
        msgspec.structs.replace(good, topic=topics.hold("c0", "n2", "h1")),
        msgspec.structs.replace(good, topic=topics.hold("c0", "n1", "h2")),
        msgspec.structs.replace(good, payload=b"\x00"),
        msgspec.structs.replace(good, payload=topics.encode(msgspec.structs.replace(told, hold=msgspec.structs.replace(hold, subject="")))),
    ]

    async def scenario() -> None:
        for message in bad:
            with pytest.raises(PayloadError):
                member.post.hear(member.holds, message)
        member.post.hear(member.holds, msgspec.structs.replace(good, payload=b""))
        assert member.holds.everything() == ()
        member.post.hear(member.holds, good)
        assert member.holds.everything() == (hold,)

    site.play(scenario)
