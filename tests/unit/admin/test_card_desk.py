"""Cards and holds by hand, here and on another node's daemon."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar, cast

import pytest

from supernoded.admin.card_desk import CardDesk, serve_hands
from supernoded.admin.desk import Caller
from supernoded.cards.room import Cards, Outlook
from supernoded.cluster.commands.words import Command, Reply
from supernoded.errors import AdminError, RefusedError, WireError
from supernoded.holds import Holds
from supernoded.house import House
from supernoded.journal.writer import Journal, open_journal
from supernoded.messages import CardFilter, HoldFilter, IsolateAsk, LiftAsk, ReleaseAsk, TestAsk
from supernoded.model import Incident, Reading
from supernoded.settings import Hooks, Settings
from supernoded.supervisor import Health
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Card, Spare, Supernode, Topology
from supernoded.wire import Node
from tests.unit.cards.rooms import make_hold, read

T = TypeVar("T")
Serve = Callable[[Command], Awaitable[Reply]]
ALICE, BOB = Caller(1, 1001, 1), Caller(2, 1002, 1)
SITE = Topology(
    nodes=(Supernode(name="n0", cards=3), Supernode(name="n1", cards=1)),
    cards=(Card(card="n0/card1", serial="SN1"),),
    spares=(Spare(card="n0/card2"),),
)


async def run_inline(work: Callable[[], T]) -> T:
    return work()


async def find_name(uid: int) -> str:
    return {1001: "alice", 1002: "bob"}[uid]


class Post:
    """Stands in for the commander: what this node asks itself is served, other nodes are out of reach."""

    def __init__(self) -> None:
        self.served: dict[str, Serve] = {}
        self.asked: list[tuple[str, str, Mapping[str, str]]] = []

    def serve(self, verb: str, handler: Serve, *, changes: bool = True) -> None:
        del changes
        self.served[verb] = handler

    async def ask(self, node: str, verb: str, *, details: Mapping[str, str], within: float = 3.0) -> Reply:
        del within
        self.asked.append((node, verb, details))
        if node != "n0":
            raise WireError(f"{node} has not answered `{verb}` within 3 s")
        command = Command(
            id="n0/1",
            cluster="c0",
            sender="n0",
            life="l",
            number=1,
            to="n0",
            issued=0,
            expires=9,
            scope="node",
            epoch=0,
            verb=verb,
            details=details,
        )
        try:
            return await self.served[verb](command)
        except RefusedError as error:
            raise RefusedError(f"n0: {error}") from error


@dataclass
class Rooms:
    """As much of a house as the desk asks."""

    settings: Settings
    clock: ManualClock
    holds: Holds
    cards: Cards
    commander: Post
    journal: Journal
    seen: list[Reading] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)

    def readings(self) -> list[Reading]:
        return self.seen


@pytest.fixture
async def rooms(tmp_path: Path, supernoded_clock: ManualClock) -> Rooms:
    clock, wires = supernoded_clock, MemoryWires()
    settings = Settings(node="n0", topology=SITE, state=tmp_path, runtime=tmp_path / "run", hooks=Hooks(test_s=15.0))
    journal = open_journal(tmp_path / "journal.db", clock, run=run_inline)
    holds, seen = Holds("n0", journal, clock, lambda _: True), list[Reading]()
    node = Node("n0", SITE, settings.limits, wires, clock, MemoryHost(), tmp_path)
    cards = Cards(settings, node, holds, journal, Health(clock, logging.getLogger("cards")), Outlook(lambda: seen, lambda: seen, list))
    await holds.take_up()
    rooms = Rooms(settings, clock, holds, cards, Post(), journal, seen)
    serve_hands(cast("House", rooms))
    return rooms


@pytest.fixture
def desk(rooms: Rooms) -> CardDesk:
    return CardDesk(cast("House", rooms), find_name)


async def test_a_card_of_this_node_is_held_fenced_and_given_back(rooms: Rooms, desk: CardDesk) -> None:
    told = await desk.isolate("n0/card1", IsolateAsk(reason="fan rattles", expires_s=14400.0), ALICE)
    (hold,) = rooms.holds.standing()
    assert (hold.owner, hold.serial, hold.cause, hold.expires) == ("operator alice", "SN1", "operator", rooms.clock.now() + 14400.0)
    assert told.undone == ()
    assert told.done == (
        f"n0/card1 is held as {hold.id}, for 4 h: nothing puts it into service",
        "n0/card1: is not to be used, says cards.json; whatever uses it now goes on (no [hooks] isolate is set)",
    )
    row = (await desk.list_cards(CardFilter())).cards[1]
    assert (row.state, row.holds, row.serial) == ("isolated", (hold.id,), "SN1")
    back = await desk.release("n0/card1", ReleaseAsk(reason="fan replaced"), ALICE)
    assert (back.done[0], back.undone) == (f"hold {hold.id} is lifted", ())
    assert rooms.holds.standing() == ()
    assert rooms.cards.fence.is_fenced("n0/card1") is False
    (lifted,) = (await desk.list_holds(HoldFilter(all=True))).holds
    assert lifted.lifted_by == "operator alice: fan replaced"


async def test_one_person_holds_a_card_once_and_only_his_own_is_released(rooms: Rooms, desk: CardDesk) -> None:
    first = await desk.isolate("n0/card1", IsolateAsk(reason="a"), ALICE)
    again = await desk.isolate("n0/card1", IsolateAsk(reason="b"), ALICE)
    other = await desk.isolate("n0/card1", IsolateAsk(reason="c"), BOB)
    assert first.hold == again.hold != other.hold
    told = await desk.release("n0/card1", ReleaseAsk(reason="d"), ALICE)
    assert "n0/card1 stays out of service: operator bob holds n0/card1 (SN1): c" in told.undone[0]
    assert rooms.cards.fence.is_fenced("n0/card1") is True
    await desk.lift(other.hold, LiftAsk(reason="bob is on leave"), ALICE)
    assert rooms.holds.standing() == ()
    with pytest.raises(AdminError, match="was lifted already, by operator alice: bob is on leave"):
        await desk.lift(other.hold, LiftAsk(reason="x"), ALICE)
    with pytest.raises(AdminError, match="there is no hold 'h9'"):
        await desk.lift("h9", LiftAsk(reason="x"), ALICE)


async def test_without_its_fence_it_is_held_alone_and_a_rank_on_it_is_named(rooms: Rooms, desk: CardDesk) -> None:
    rooms.seen += [read("rank.card", "n0/card1", subject="job/a/rank1"), read("rank.state", "running", subject="job/a/rank1")]
    told = await desk.isolate("n0/card1", IsolateAsk(reason="a", fence=False), ALICE)
    assert told.undone == ("n0/card1 is not fenced yet", "job/a/rank1 still runs on it")
    assert rooms.commander.asked == []
    assert (await desk.list_cards(CardFilter())).cards[1].ranks == ("job/a/rank1",)


async def test_a_card_of_a_node_that_does_not_answer_is_held_all_the_same(rooms: Rooms, desk: CardDesk) -> None:
    told = await desk.isolate("n1/card0", IsolateAsk(reason="a"), ALICE)
    assert told.undone == ("n1/card0 is not isolated by its node: n1 has not answered `card` within 3 s",)
    assert [hold.subject for hold in rooms.holds.standing()] == ["n1/card0"]
    assert rooms.commander.asked[0][2]["owner"] == "operator alice"
    node = await desk.isolate("n1", IsolateAsk(reason="b"), ALICE)
    assert "its scheduler was not asked to drain it" in node.undone[0]


async def test_what_is_not_in_the_topology_is_a_no(desk: CardDesk) -> None:
    for subject in ("n0/card9", "cdu/0", "", "n0/card1/port0"):
        with pytest.raises(AdminError, match="there is no card or node"):
            await desk.isolate(subject, IsolateAsk(reason="a"), ALICE)


async def test_an_order_that_comes_before_its_hold_waits_for_it(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    details = {"do": "isolate", "card": "n0/card1", "owner": "operator alice", "reason": "r"}
    with pytest.raises(RefusedError, match="nothing that is done to a card"):
        await rooms.cards.by_hand.change({**details, "do": "melt"})
    sleeping = rooms.clock.sleep

    async def sleep(seconds: float) -> None:
        rooms.holds.hear(make_hold("h1", "n0/card1", "operator alice"), "n1")
        await sleeping(0.0 * seconds)

    monkeypatch.setattr(rooms.clock, "sleep", sleep)
    await rooms.cards.by_hand.change(details)
    assert rooms.cards.fence.is_fenced("n0/card1") is True


async def test_a_test_is_begun_and_looked_at(rooms: Rooms, desk: CardDesk) -> None:
    begun = await desk.test("n0/card2", TestAsk(), ALICE)
    assert (begun.passed, begun.text, begun.test_s) == (None, "under test for 0 s", 15.0)
    assert (await desk.list_cards(CardFilter())).cards[2].state == "testing"
    with pytest.raises(AdminError, match="n0: n0/card2 is under test already"):
        await desk.test("n0/card2", TestAsk(), ALICE)
    await rooms.clock.advance(5.0)
    rooms.cards.take([read("card.temperature", 40.0, rooms.clock.now(), subject="n0/card2")], 30.0)
    await rooms.clock.advance(15.0)
    ended = await desk.find_test("n0/card2", begun.test)
    assert (ended.passed, ended.text) == (True, "passed: watched for 15 s, 1 reading by tool, uncorrected errors are not counted")
    with pytest.raises(AdminError, match="there is no test 'x'"):
        await desk.find_test("n0/card2", "x")


async def test_cards_show_what_is_read_of_them(rooms: Rooms, desk: CardDesk) -> None:
    rooms.seen += [
        read("card.temperature", 61.0, subject="n0/card0"),
        read("card.health", frozenset({"OK"}), subject="n0/card0"),
        read("card.serial", "SN9", subject="n0/card0"),
        read("card.power", 80.0, subject="n0/card2"),
        read("card.present", 0.0, subject="n1/card0"),
    ]
    rows = (await desk.list_cards(CardFilter())).cards
    assert [(row.subject, row.state, row.serial) for row in rows] == [
        ("n0/card0", "in service", "SN9"),
        ("n0/card1", "unknown", "SN1"),
        ("n0/card2", "spare", ""),
        ("n1/card0", "absent", ""),
    ]
    assert (rows[0].temperature, rows[0].health) == (61.0, ("OK",))


async def test_of_another_nodes_card_its_own_daemon_is_asked_who_runs_on_it(
    rooms: Rooms, desk: CardDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the holder of `spares` is told of all ranks: elsewhere a card would seem to be free, and nobody be asked before it is taken."""
    asked: list[Mapping[str, str]] = []

    async def ask(node: str, verb: str, *, details: Mapping[str, str]) -> Reply:
        asked.append({"node": node, "verb": verb, **details})
        return cast("Reply", SimpleNamespace(details={"n1/card0": "job/a/rank4 job/a/rank5"}))

    assert (await desk.list_cards(CardFilter(subject="n1/card0"))).cards[3].ranks == (), "it does not answer"
    monkeypatch.setattr(rooms.commander, "ask", ask)
    assert (await desk.list_cards(CardFilter(subject="n1/card0"))).cards[3].ranks == ("job/a/rank4", "job/a/rank5")
    assert asked == [{"node": "n1", "verb": "card.look", "do": "users", "card": "n1/card0"}]
    await desk.list_cards(CardFilter())
    await desk.list_cards(CardFilter(subject="n0/card1"))
    assert len(asked) == 1


async def test_a_node_tells_who_runs_on_its_cards(rooms: Rooms) -> None:
    rooms.seen += [read("rank.card", "n0/card1", subject="job/a/rank1"), read("rank.state", "running", subject="job/a/rank1")]
    assert rooms.cards.by_hand.look({"do": "users", "card": "n0"}) == {"n0/card1": "job/a/rank1"}
    assert rooms.cards.by_hand.look({"do": "users", "card": "n0/card1"}) == {"n0/card1": "job/a/rank1"}
    assert rooms.cards.by_hand.look({"do": "users", "card": "n0/card2"}) == {}


async def test_what_is_done_already_and_what_is_mistyped_is_said(rooms: Rooms, desk: CardDesk) -> None:
    await desk.isolate("n0/card1", IsolateAsk(reason="fan rattles"), ALICE)
    await rooms.clock.advance(30.0)
    again = await desk.isolate("n0/card1", IsolateAsk(reason="again"), ALICE)
    assert "since 30 s already (fan rattles), until it is lifted" in again.done[0]
    await desk.release("n0/card1", ReleaseAsk(reason="ok"), ALICE)
    assert (await desk.release("n0/card1", ReleaseAsk(reason="ok"), ALICE)).done[0] == "operator alice holds nothing on n0/card1"
    with pytest.raises(AdminError, match=re.escape("did you mean n0/card1?")):
        await desk.isolate("n0/crad1", IsolateAsk(reason="a"), ALICE)


async def test_a_fenced_card_of_another_node_is_shown_by_what_that_tells(rooms: Rooms, desk: CardDesk) -> None:
    await rooms.holds.place(make_hold(subject="n1/card0", owner="isolation"))
    assert (await desk.list_cards(CardFilter())).cards[3].state == "isolating"
    rooms.seen += [read("card.isolated", 1.0, subject="n1/card0"), read("card.proven", 0.0, subject="n1/card0")]
    assert (await desk.list_cards(CardFilter())).cards[3].state == "isolated"
    rooms.seen[-1] = read("card.proven", 1.0, subject="n1/card0")
    assert (await desk.list_cards(CardFilter())).cards[3].state == "probation"
