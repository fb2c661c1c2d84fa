"""Bidding for roles, by a clock that the test turns. What PostgreSQL makes of it is in tests/protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import event
from sqlalchemy.engine import Engine

from supernoded.journal import entries
from supernoded.journal.entries import Bid, Round
from supernoded.journal.leases import STAGGER
from supernoded.journal.writer import Journal, open_journal
from tests.unit.journal.samples import SteppedClock

CDU, FLEET = "cdu/0", "fleet"
TERM = 10.0

Ask = Callable[..., Coroutine[Any, Any, Round]]


@pytest_asyncio.fixture
async def journal() -> AsyncIterator[Journal]:
    journal = open_journal("sqlite://", SteppedClock())
    yield journal
    await journal.close()


@pytest.fixture
def ask(journal: Journal) -> Ask:
    async def ask(holder: str, now: float, *bids: Bid) -> Round:
        return await journal.commit(entries.bid(bids, holder, now, TERM))

    return ask


async def test_all_that_is_vacant_is_taken_and_renewed_at_once(ask: Ask) -> None:
    bids = Bid(FLEET), Bid(CDU)
    taken = await ask("n0#1", 100.0, *bids)
    assert {role: (lease.holder, lease.epoch, lease.until) for role, lease in taken.ours.items()} == {
        CDU: ("n0#1", 1, 110.0),
        FLEET: ("n0#1", 1, 110.0),
    }
    renewed = await ask("n0#1", 103.0, *bids)
    assert {lease.epoch for lease in renewed.ours.values()} == {1}
    assert {lease.until for lease in renewed.ours.values()} == {113.0}
    assert (await ask("n1#1", 104.0, *bids)) == Round({}, dict(renewed.ours), 104.0)


async def test_what_nobody_ever_had_is_left_to_those_before_for_a_while(ask: Ask) -> None:
    second, third = Bid(FLEET, before=("n0",)), Bid(FLEET, before=("n0", "n1"))
    assert (await ask("n2#1", 100.0, third)).ours == {}
    assert (await ask("n1#1", 100.0 + STAGGER / 2, second)).ours == {}
    assert (await ask("n2#1", 100.0 + STAGGER, third)).ours == {}
    assert list((await ask("n1#1", 100.0 + STAGGER, second)).ours) == [FLEET]


async def test_who_had_it_last_is_not_waited_for(ask: Ask) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    assert (await ask("n1#1", 109.9, Bid(FLEET, before=("n0",)))).ours == {}
    assert (await ask("n2#1", 110.0, Bid(FLEET, before=("n0", "n1")))).ours == {}
    assert (await ask("n1#1", 110.0, Bid(FLEET, before=("n0",)))).ours[FLEET].epoch == 2


async def test_what_was_given_back_is_for_whoever_asks_first(ask: Ask, journal: Journal) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    assert await journal.commit(entries.release_lease(FLEET, "n0#1", 1))
    assert (await ask("n2#1", 100.1, Bid(FLEET, before=("n0", "n1")))).ours[FLEET].epoch == 2


async def test_a_late_renewal_keeps_its_epoch_when_nobody_was_quicker(ask: Ask) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    assert (await ask("n0#1", 150.0, Bid(FLEET))).ours[FLEET].epoch == 1


async def test_another_life_takes_over_at_once_with_another_epoch(ask: Ask) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    assert (await ask("n0#2", 101.0, Bid(FLEET))).ours[FLEET].epoch == 2


async def test_who_has_had_it_does_not_take_it_back_from_another_life_of_its_name(ask: Ask) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    await ask("n0#2", 101.0, Bid(FLEET))
    found = await ask("n0#1", 102.0, Bid(FLEET, had=True))
    assert (found.ours, found.others[FLEET].holder) == ({}, "n0#2")


async def test_an_epoch_is_above_all_that_was_heard_of(ask: Ask) -> None:
    await ask("n0#1", 100.0, Bid(FLEET))
    assert (await ask("n0#1", 101.0, Bid(FLEET, heard=40))).ours[FLEET].epoch == 41
    assert (await ask("n0#1", 102.0, Bid(FLEET, heard=41))).ours[FLEET].epoch == 41


async def test_what_is_only_looked_at_is_not_taken(ask: Ask) -> None:
    assert (await ask("n0#1", 100.0, Bid(FLEET, only_look=True))) == Round({}, {}, 100.0)


async def test_it_costs_two_statements_and_four_however_many_roles_there_are(ask: Ask) -> None:
    statements: list[str] = []

    def note(*arguments: Any) -> None:
        statements.append(arguments[2])

    bids = [Bid(f"feed/{number}") for number in range(40)]
    await ask("n0#1", 100.0, *bids)
    event.listen(Engine, "before_cursor_execute", note)
    try:
        await ask("n0#1", 101.0, *bids)
        renewing, statements[:] = list(statements), []
        await ask("n1#1", 101.0, *bids)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert (len(renewing), len(statements)) == (3, 1)  # and the time, which SQLite need not be asked for
