"""Asking for leave, and being given it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from supernoded.cluster.fleet.breakers import Want
from supernoded.cluster.fleet.grantor import Grantor
from supernoded.cluster.fleet.grants import Answer, Grants
from supernoded.errors import AdminError, WireError
from supernoded.journal import entries
from supernoded.journal.writer import Journal, open_journal
from supernoded.model import Action, Hold, Step
from supernoded.settings import Breakers
from tests.unit.cluster.fakes import LOG, HandClock, settle

NOW = 1000.0


def action(kind: str = "card.hold", target: str = "n0/card0", incident: str = "i1", policy: str = "isolation") -> Action:
    step = Step(name="1-hold", kind=kind, target=target, reason="r", details={"cause": "silent"})
    return Action(
        id=f"{incident}/{kind}", step=step, incident=incident, scope="spares", epoch=1, issued=NOW, deadline=NOW + 30.0, policy=policy
    )


def hold(subject: str, owner: str = "isolation", placed: float = NOW) -> Hold:
    return Hold(id=f"h{subject}", subject=subject, serial="", reason="r", owner=owner, placed=placed, cause="silent")


class Asked:
    """A holder of the role that says what a test wants."""

    def __init__(self) -> None:
        self.wants: list[Want] = []
        self.answer: Answer | Exception = Answer(granted=True, text="granted", seconds=30.0)
        self.waits: asyncio.Event | None = None

    async def __call__(self, want: Want) -> Answer:
        self.wants.append(want)
        if self.waits is not None:
            await self.waits.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@asynccontextmanager
async def asking(asked: Asked, clock: HandClock, holds: Sequence[Hold] = ()) -> AsyncIterator[Grants]:
    grants = Grants(clock, asked, lambda: holds)
    task = asyncio.create_task(grants.run())
    try:
        yield grants
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_take_out_waits_for_its_grant_and_one_grant_covers_all_of_its_incident() -> None:
    asked, clock = Asked(), HandClock(NOW)
    async with asking(asked, clock) as grants:
        assert "is asked for leave" in (grants.guard(action(), clock.now()) or "")
        await settle()
        assert grants.guard(action(), clock.now()) is None
        assert grants.guard(action("card.isolate"), clock.now()) is None
        assert grants.guard(action(incident="i2"), clock.now()) is not None
        await settle()
        assert [(want.subject, want.cause, want.incident, want.owner) for want in asked.wants] == [
            ("n0/card0", "silent", "i1", "isolation"),
            ("n0/card0", "silent", "i2", "isolation"),
        ]
        await clock.advance(29.0)
        assert grants.guard(action(), clock.now()) is None
        await clock.advance(1.0)
        assert grants.guard(action(), clock.now()) is not None


@pytest.mark.parametrize("kind", ["power.shed", "job.checkpoint", "card.unhold", "card.release", "node.release", "notify", "fan.full"])
async def test_what_is_no_take_out_asks_for_nothing(kind: str) -> None:
    asked, clock = Asked(), HandClock(NOW)
    async with asking(asked, clock) as grants:
        assert grants.guard(action(kind), clock.now()) is None
        await settle()
        assert asked.wants == []


async def test_what_its_own_policy_holds_already_needs_no_second_grant() -> None:
    clock = HandClock(NOW)
    async with asking(Asked(), clock, [hold("n0/card0"), hold("n0/card1", owner="operator bob")]) as grants:
        assert grants.guard(action("card.isolate"), clock.now()) is None
        assert grants.guard(action("card.isolate", policy="other"), clock.now()) is not None
        assert grants.guard(action("card.isolate", "n0/card1"), clock.now()) is not None


async def test_a_refusal_is_told_and_asked_again_as_long_as_somebody_wants_it() -> None:
    asked, clock = Asked(), HandClock(NOW)
    asked.answer = Answer(granted=False, text="n3, which has the role fleet, refuses: 4 cards are out")
    async with asking(asked, clock) as grants:
        for _ in range(8):
            grants.guard(action(), clock.now())
            await clock.advance(0.5)
        assert len(asked.wants) == 2
        said = grants.guard(action(), clock.now())
        assert said == "card.hold on n0/card0 is not granted: n3, which has the role fleet, refuses: 4 cards are out"
        await clock.advance(60.0)
        assert len(asked.wants) == 3


async def test_a_holder_that_cannot_be_reached_leaves_only_what_protects() -> None:
    asked, clock = Asked(), HandClock(NOW)
    asked.answer = WireError("n3 has not answered `grant` within 3 s")
    async with asking(asked, clock) as grants:
        grants.guard(action(), clock.now())
        await settle()
        said = grants.guard(action(), clock.now()) or ""
        assert said.endswith("n3 has not answered `grant` within 3 s: until then only protective actions are performed")


async def test_an_answer_that_comes_late_is_counted_from_the_question() -> None:
    asked, clock = Asked(), HandClock(NOW)
    asked.waits = asyncio.Event()
    async with asking(asked, clock) as grants:
        grants.guard(action(), clock.now())
        await clock.advance(3.0)
        asked.waits.set()
        await settle()
        assert grants.guard(action(), NOW + 29.9) is None
        assert grants.guard(action(), NOW + 30.0) is not None


class Holder:
    """A grantor on a journal of its own; `again` is its next life."""

    def __init__(self, folder: Path, limits: Breakers) -> None:
        self.clock, self.limits, self.holds, self.doubt = HandClock(NOW), limits, list[Hold](), ""
        self.epoch = 0
        self.journal: Journal | None = open_journal(folder / "j.db", self.clock, log=LOG)
        self.grantor = self.again()

    def again(self) -> Grantor:
        self.grantor = Grantor(self.limits, self.clock, lambda: self.holds, lambda: self.doubt, self.find_seat)
        return self.grantor

    def find_seat(self) -> tuple[Journal, int] | None:
        return (self.journal, self.epoch) if self.journal is not None else None

    async def ask(self, subject: str, incident: str = "") -> Answer:
        return await self.grantor.grant(Want(subject=subject, cause="silent", incident=incident or subject, owner="isolation"))


@pytest.fixture
async def holder(tmp_path: Path) -> AsyncIterator[Holder]:
    made = Holder(tmp_path, Breakers(cards_out=2, per_cause=9, per_hour=9, grant_s=30.0))
    journal = made.journal
    assert journal is not None
    task = asyncio.create_task(journal.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await journal.close()


async def test_what_was_given_outlives_the_holder(holder: Holder) -> None:
    assert (await holder.ask("n0/card0")).granted
    assert (await holder.ask("n0/card1")).granted
    holder.again()
    assert (await holder.ask("n0/card1")).granted
    refused = await holder.ask("n0/card2")
    assert (refused.granted, "the limit is 2 (breakers.cards_out)" in refused.text) == (False, True)


async def test_a_breaker_stays_tripped_until_a_person_resets_it(holder: Holder) -> None:
    for card in range(3):
        await holder.ask(f"n0/card{card}")
    assert [latch.name for latch in holder.grantor.tripped] == ["breaker/cards_out"]
    await holder.clock.advance(7200.0)
    holder.again()
    assert "breaker cards_out has tripped" in (await holder.ask("n0/card2")).text
    with pytest.raises(AdminError, match="breaker 'nodes_out' has not tripped; tripped: cards_out"):
        await holder.grantor.reset("nodes_out")
    assert "n0/card2 would be one more card" in (await holder.grantor.reset("cards_out")).text
    assert (await holder.ask("n0/card2")).granted


async def test_questions_at_once_are_answered_one_after_the_other(holder: Holder) -> None:
    answers = await asyncio.gather(*(holder.ask(f"n0/card{card}") for card in range(6)))
    assert sum(answer.granted for answer in answers) == 2


def lose_seat(holder: Holder) -> None:
    holder.journal = None


def lose_sight(holder: Holder) -> None:
    holder.doubt = "n0 hears 2 of 5 nodes"


def be_fenced(holder: Holder) -> None:
    holder.epoch = 7  # of which the database has no lease


@pytest.mark.parametrize(
    ("lose", "text"),
    [(lose_seat, "no longer has the role"), (lose_sight, "hears 2 of 5"), (be_fenced, "cannot be recorded: fleet has no lease")],
)
async def test_without_seat_sight_or_lease_nothing_is_given(holder: Holder, lose: Callable[[Holder], None], text: str) -> None:
    lose(holder)
    answer = await holder.ask("n0/card0")
    assert (answer.granted, text in answer.text) == (False, True)


async def test_a_book_that_makes_no_sense_gives_nothing(holder: Holder) -> None:
    assert holder.journal is not None
    await holder.journal.commit(entries.keep_memory("fleet", 0, "grants", msgspec.json.encode([{"subject": 3}]), NOW))
    assert "cannot be recorded" in (await holder.ask("n0/card0")).text
