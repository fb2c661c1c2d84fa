"""Nodes and breakers as the daemon answers them: on the holder of the role, beside it, and where nobody has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from supernoded.admin.mustering import reset_breaker, tell_breakers, tell_nodes
from supernoded.cluster import topics
from supernoded.cluster.digests import Speaker
from supernoded.cluster.fleet.breakers import Want
from supernoded.cluster.fleet.grantor import Grantor
from supernoded.cluster.fleet.holder import Fleet, hear_told
from supernoded.cluster.fleet.muster import Muster
from supernoded.cluster.fleet.rollcall import list_nodes
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat, Vitals
from supernoded.errors import AdminError
from supernoded.journal.writer import open_journal
from supernoded.messages import BreakerReset
from supernoded.model import Hold, Level, Verdict
from supernoded.settings import Breakers
from supernoded.topology import Supernode, Topology
from tests.unit.cluster.fakes import LOG, HandClock, settle

NOW = 1000.0
NAMES = ("n0", "n1", "n2")


class Broker:
    """What one session says, another hears; retained."""

    def __init__(self) -> None:
        self.retained: dict[str, Message] = {}
        self.handlers: list[tuple[str, Any]] = []
        self.state = SimpleNamespace(connected=True)

    def on(self, filter_: str, handler: Any) -> None:
        self.handlers.append((filter_, handler))
        for message in list(self.retained.values()):
            if topics.matches(filter_, message.topic):
                handler(message)

    def off(self, filter_: str, handler: Any) -> None:
        self.handlers.remove((filter_, handler))

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        message = Message(topic=topic, payload=payload, retain=retain)
        self.retained[topic] = message
        for filter_, handler in list(self.handlers):
            if topics.matches(filter_, topic):
                handler(message)
        return True


class Site:
    """n0 and n1 beat, n2 never did; n0 has the role, unless a test says otherwise."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.broker = HandClock(NOW), Broker()
        self.held, self.roles = True, {"fleet": "n0", "spares": "n1"}
        self.journal = open_journal(folder / "j.db", self.clock, log=LOG)
        self.hold = Hold(id="h1", subject="n1/card0", serial="", reason="it is silent", owner="isolation", placed=NOW, cause="silent")
        self.muster = Muster("c0", "n0", NAMES)
        self.verdicts = [Verdict(kind="node.clock", subject="n1", level=Level.RAISED, text="n1: its clock is off", at=NOW)]
        self.fleet = Fleet(
            Speaker("n0", "c0", "l"), self.muster, self.broker, self.clock, lambda: self.take if self.held else None, self.list_nodes
        )
        self.grantor = Grantor(
            Breakers(cards_out=1),
            self.clock,
            lambda: [self.hold],
            lambda: self.muster.find_split(self.clock.now()),
            lambda: (self.journal, 0),
        )

    def take(self, readings: object, fresh_for: float) -> None:
        del readings, fresh_for

    def list_nodes(self) -> list[topics.NodeTold]:
        return list_nodes(self.muster, self.verdicts, self.clock.now())

    def house(self, node: str) -> Any:
        """A daemon's, as far as it is asked here."""
        own = SimpleNamespace(holds_seat=node == "n0" and self.fleet.holds_seat, list_nodes=self.list_nodes)
        return SimpleNamespace(
            clock=self.clock,
            settings=SimpleNamespace(
                node=node,
                cluster="c0",
                topology=Topology(nodes=tuple(Supernode(name=name, cards=1) for name in NAMES)),
                breakers=Breakers(cards_out=1),
                journal=SimpleNamespace(database=""),
            ),
            seats=SimpleNamespace(roles=self.roles),
            holds=SimpleNamespace(standing=lambda: (self.hold,)),
            session=self.broker,
            office=SimpleNamespace(fleet=own, muster=self.muster, grantor=self.grantor),
        )

    async def beat(self, seconds: int) -> None:
        for _ in range(seconds):
            for name in ("n0", "n1"):
                told = Beat(node=name, life="a", at=self.clock.now(), since=1.0, version="0.1.0", vitals=Vitals(power=5.0, step=7))
                self.broker.publish(topics.beat("c0", name), topics.encode(told))
            await self.clock.advance(1.0)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    made = Site(tmp_path)
    tasks = [asyncio.create_task(made.fleet.run()), asyncio.create_task(made.journal.run())]
    await settle()
    await made.beat(7)
    yield made
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await made.journal.close()


@pytest.mark.parametrize("node", ["n0", "n1"])
async def test_every_node_is_told_by_the_holders_ears_wherever_one_asks(site: Site, node: str) -> None:
    told = await tell_nodes(site.house(node))
    assert [(row.name, row.state) for row in told.nodes] == [("n0", "up"), ("n1", "up"), ("n2", "unknown")]
    first, second, third = told.nodes
    assert (told.told_by, told.trouble, first.roles, second.roles) == ("n0", "", ("fleet",), ("spares",))
    assert told.told_age == pytest.approx(0.0 if node == "n0" else 2.0, abs=1.0)
    assert (second.power, second.step, second.version, second.text) == (5.0, 7, "0.1.0", "n1: its clock is off")
    assert second.holds == ("n1/card0 by isolation: it is silent",)
    assert first.beat_age == pytest.approx(1.0, abs=0.3)
    assert (third.beat_age, third.text) == (None, "not heard yet")


async def test_where_nobody_has_the_role_only_what_is_known_here_is_told(site: Site) -> None:
    site.roles = {}
    told = await tell_nodes(site.house("n1"))
    assert {row.state for row in told.nodes} == {"unknown"}
    assert told.trouble == "nobody is known to have the role fleet: give it a node under [roles], or a database to lease it in"
    house = site.house("n1")
    house.settings.journal.database = "postgresql://db/fleet"
    assert "look at the database that leases it" in (await tell_nodes(house)).trouble
    house.session = SimpleNamespace(state=SimpleNamespace(connected=False))
    assert "no link to the broker" in (await tell_nodes(house)).trouble
    with pytest.raises(AdminError, match="until somebody has, nothing is taken out"):
        await tell_breakers(site.house("n1"))


async def test_a_holder_that_tells_nothing_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supernoded.admin.mustering.WITHIN", 0.01)
    site.roles = {"fleet": "n2"}
    told = await tell_nodes(site.house("n1"))
    assert (told.told_by, told.trouble) == ("", "n2, which has the role fleet, has told nothing for 0.01 s")
    assert site.broker.handlers == [(topics.of_nodes("c0", "beat"), site.fleet._hear)]
    with pytest.raises(AdminError, match="kept by n2"):
        await tell_breakers(site.house("n1"))


async def test_breakers_are_told_and_reset_where_the_role_is(site: Site) -> None:
    told = await tell_breakers(site.house("n0"))
    assert [(row.name, row.subjects, row.limit, row.tripped) for row in told.breakers][:2] == [
        ("cards_out", ("n1/card0",), 1, False),
        ("nodes_out", (), 2, False),
    ]
    assert not (await site.grantor.grant(Want(subject="n0/card0", cause="x", incident="i", owner="isolation"))).granted
    told = await tell_breakers(site.house("n0"))
    assert [row.name for row in told.breakers if row.tripped] == ["cards_out"]
    done = await reset_breaker(site.house("n0"), "cards_out", BreakerReset(reason="seen to"), "alice")
    assert (done.name, done.by, "n0/card0 would be one more card" in done.text) == ("cards_out", "alice", True)
    for name, words in (("cards_out", "has not tripped"), ("all", "there are cards_out, nodes_out, per_cause, per_hour")):
        with pytest.raises(AdminError, match=words):
            await reset_breaker(site.house("n0"), name, BreakerReset(reason="x"), "alice")


async def test_a_thousand_nodes_fit_into_messages(tmp_path: Path) -> None:
    site = Site(tmp_path)
    names = [f"node-with-a-long-name-{number:04d}" for number in range(1024)]
    site.muster = Muster("c0", names[0], names)
    site.muster.start(NOW)
    for name in names:
        told = Beat(
            node=name, life="1800000000.123", at=NOW, since=1.0, version="0.1.0", vitals=Vitals(power=3000.5, hottest=70.0, step=10**9)
        )
        site.muster.hear(Message(topic=topics.beat("c0", name), payload=topics.encode(told)), NOW)
    site.verdicts = [Verdict(kind="node.late", subject=name, level=Level.RAISED, text="x" * 500, at=NOW) for name in names]
    fleet = Fleet(Speaker(names[0], "c0", "l"), site.muster, site.broker, site.clock, lambda: site.take, site.list_nodes)
    fleet._tell(NOW)
    assert max(len(message.payload) for message in site.broker.retained.values()) < topics.MAX_PAYLOAD
    assert sum(len(topics.decode(message.payload, topics.FleetTold).nodes) for message in site.broker.retained.values()) == 1024
    site.journal.abandon()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
async def test_what_is_left_of_a_telling_in_more_parts_is_not_mixed_in(site: Site, order: tuple[int, ...]) -> None:
    old, new = (topics.NodeTold(name="n0", state=state) for state in ("late", "up"))
    told = [
        topics.FleetTold(node="n9", life="l", at=NOW - 5.0, part=1, parts=3, nodes=(old,)),
        topics.FleetTold(node="n9", life="l", at=NOW - 5.0, part=2, parts=3, nodes=(old,)),
        topics.FleetTold(node="n9", life="l", at=NOW, part=0, parts=1, nodes=(new,)),
    ]
    hearing = asyncio.ensure_future(hear_told(site.broker, "c0", "n9", 1.0))
    await settle()
    for number in order:
        site.broker.publish(topics.fleet("c0", "n9", told[number].part), topics.encode(told[number]))
    assert await hearing == [told[2]]
