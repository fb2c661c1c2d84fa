"""An operator at one node takes a card of another one out, by signed commands over the broker in memory."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from sim_hardware.loop.play import play
from supernoded.admin.card_desk import CardDesk, serve_hands
from supernoded.admin.desk import Caller
from supernoded.cards.room import Cards, Outlook
from supernoded.cluster.commands.commander import Commander
from supernoded.cluster.digests import Speaker
from supernoded.cluster.holds_told import HoldPost, connect_holds
from supernoded.holds import Holds
from supernoded.house import House
from supernoded.messages import IsolateAsk, ReleaseAsk, TestAsk
from supernoded.model import Incident, Reading
from supernoded.settings import Settings
from supernoded.supervisor import Health
from supernoded.testing import MemoryHost, MemoryWires
from supernoded.topology import Supernode, Topology
from supernoded.wire import Node
from tests.sim.fabric.commanding import Life, Site

SITE = Topology(nodes=(Supernode(name="n0", cards=1), Supernode(name="n1", cards=1)))
ALICE = Caller(1, 1001, 1)


async def find_name(uid: int) -> str:
    return f"user{uid}"


@dataclass
class Rooms:
    """As much of a house as the desk asks."""

    settings: Settings
    clock: object
    holds: Holds
    cards: Cards
    commander: Commander
    incidents: list[Incident] = field(default_factory=list)

    def readings(self) -> list[Reading]:
        return []


async def furnish(life: Life, folder: Path) -> Rooms:
    """Holds and cards of one life."""
    settings = Settings(node=life.node, topology=SITE, state=folder / life.node, runtime=folder / life.node / "run")
    post = HoldPost(Speaker(life.node, "c0", "life1"), life.clock, life.session.publish)
    holds = Holds(life.node, life.journal, life.clock, post.tell)
    connect_holds(holds, post, life.session, "c0")
    await holds.take_up()
    node = Node(life.node, SITE, settings.limits, MemoryWires(), life.clock, MemoryHost(), settings.state)
    outlook = Outlook(list, list, list)
    cards = Cards(settings, node, holds, life.journal, Health(life.clock, logging.getLogger("cards")), outlook)
    rooms = Rooms(settings, life.clock, holds, cards, life.commander)
    serve_hands(cast("House", rooms))
    return rooms


def test_a_card_of_another_node_is_isolated_tested_and_given_back(tmp_path: Path) -> None:
    site = Site(tmp_path)

    async def main() -> None:
        site.broker.start()
        n0, n1 = site.start("n0"), site.start("n1")
        here, there = await furnish(n0, tmp_path), await furnish(n1, tmp_path)
        await site.up(n0, n1)
        desk = CardDesk(cast("House", here), find_name)
        told = await desk.isolate("n1/card0", IsolateAsk(reason="fan rattles"), ALICE)
        assert told.undone == ()
        assert there.cards.fence.is_fenced("n1/card0") is True
        assert [hold.owner for hold in there.holds.standing()] == ["operator user1001"]
        tested = await desk.test("n1/card0", TestAsk(), ALICE)
        await n0.clock.sleep(20.0)
        tested = await desk.find_test("n1/card0", tested.test)
        assert (tested.passed, "it did not answer once in 15.0 s" in tested.text) == (False, True)
        back = await desk.release("n1/card0", ReleaseAsk(reason="fan replaced"), ALICE)
        assert back.undone == ()
        assert there.cards.fence.is_fenced("n1/card0") is False
        assert there.holds.standing() == ()
        assert "card" in next(verb for verb, _ in await n1.requests())

    play(site.loop, main())
    assert site.loop.failures == []
