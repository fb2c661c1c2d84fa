"""The daemon's session, unchanged, on the broker in memory."""

from __future__ import annotations

import asyncio
import logging

from sim_hardware.fabric import Broker
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session
from supernoded.cluster.topics import Presence
from tests.unit.cluster.fakes import MemoryStore

LOG = logging.getLogger("supernoded.cluster.link.session")
EVENT, PRESENCE = (topics.of_node("c0", "n0", leaf) for leaf in ("event", "presence"))


class Site:
    """A broker and its daemons' sessions, each in a process of its own."""

    def __init__(self, seed: int = 1) -> None:
        self.loop = SimLoop(seed)
        self.broker = Broker(Net(self.loop))
        self.heard: list[bytes] = []

    def session(self, node: str, life: str) -> Session:
        clock, store = SimClock(self.loop, node), MemoryStore()
        return Session(self.broker, node, "c0", life, clock, Outbox(store, clock, LOG), LOG)

    def listen(self, session: Session) -> None:
        session.on(EVENT, lambda message: self.heard.append(message.payload))

    def present(self) -> Presence:
        return topics.decode(self.broker.retained[PRESENCE].message.payload, Presence)


def test_events_outlive_the_broker() -> None:
    site = Site()
    speaker, listener = site.session("n0", "life1"), site.session("n1", "life9")
    site.listen(listener)

    async def scenario() -> None:
        site.broker.start()
        for name, session in (("n0", speaker), ("n1", listener)):
            site.loop.spawn(name, session.run)
        await asyncio.sleep(5.0)
        for number in range(300):
            await speaker.send(Message(topic=EVENT, payload=b"%d" % number), f"e{number}")
            await asyncio.sleep(0.1)
            if number % 100 == 50:
                site.broker.stop()
                await asyncio.sleep(3.0)
                site.broker.start()
        await asyncio.sleep(60.0)

    play(site.loop, scenario())
    assert site.loop.failures == []
    assert list(dict.fromkeys(site.heard)) == [b"%d" % number for number in range(300)]
    assert speaker.counts.links == 4


def test_a_killed_daemon_is_seen_off_line_and_its_next_life_takes_the_name() -> None:
    site = Site()
    first, second = site.session("n0", "life1"), site.session("n0", "life2")

    async def scenario() -> None:
        site.broker.start()
        process = site.loop.spawn("n0", first.run)
        await asyncio.sleep(10.0)
        assert site.present().online
        site.loop.kill(process)
        await asyncio.sleep(1.0)
        assert (site.present().life, site.present().online) == ("life1", False)
        site.loop.spawn("n0", second.run)
        await asyncio.sleep(10.0)

    play(site.loop, scenario())
    assert (site.present().life, site.present().online) == ("life2", True)


def test_two_of_one_name() -> None:
    site = Site()
    first, second = site.session("n0", "life1"), site.session("n0", "life2")
    taken_over: list[bool] = []

    async def scenario() -> None:
        site.broker.start()
        process = site.loop.spawn("n0", first.run)
        await asyncio.sleep(10.0)
        site.loop.spawn("other", second.run)
        await asyncio.sleep(60.0)
        assert (first.state.connected, first.counts.links) == (True, 1)
        assert not second.state.connected
        assert "another daemon calls itself n0 (life life1)" in second.state.text
        site.loop.kill(process)
        await asyncio.sleep(60.0)
        taken_over.append(second.state.connected)

    play(site.loop, scenario())
    assert taken_over == [True]
    assert site.present().life == "life2"
