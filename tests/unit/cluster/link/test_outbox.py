from __future__ import annotations

import asyncio

import pytest

from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.errors import JournalError
from tests.unit.cluster.fakes import LOG, HandClock, MemoryStore, settle


def make(limit: int = 5) -> tuple[Outbox, MemoryStore]:
    store = MemoryStore()
    return Outbox(store, HandClock(), LOG, limit), store


async def put(outbox: Outbox, *ids: str, critical: bool = False) -> None:
    for ident in ids:
        await outbox.put(Message(topic="t", payload=ident.encode(), retain=True, expiry=7), ident, critical=critical)


async def test_an_id_waits_once() -> None:
    outbox, _ = make()
    await put(outbox, "a", "b", "a")
    assert [letter.id for letter in await outbox.next(10)] == ["a", "b"]
    assert outbox.waiting == 2


async def test_a_letter_keeps_all_of_its_message() -> None:
    outbox, _ = make()
    await put(outbox, "a")
    (letter,) = await outbox.next(10)
    assert (letter.topic, letter.payload, letter.retain, letter.expiry, letter.at) == ("t", b"a", True, 7, 1000.0)


async def test_over_the_bound_the_oldest_that_are_not_critical_go_first_and_it_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    outbox, _ = make(limit=3)
    await put(outbox, "a", "b")
    await put(outbox, "c", "d", "e", critical=True)
    assert [letter.id for letter in await outbox.next(10)] == ["c", "d", "e"]
    await put(outbox, "f", critical=True)
    assert [letter.id for letter in await outbox.next(10)] == ["d", "e", "f"]
    assert outbox.dropped == 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_that_it_is_empty_again_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    outbox, _ = make(limit=1)
    await put(outbox, "a", "b")
    await outbox.delete(["b"])
    waiter = asyncio.create_task(outbox.next(1))
    await settle()
    assert not waiter.done()
    await put(outbox, "c")
    assert [letter.id for letter in await waiter] == ["c"]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


async def test_what_another_put_into_the_store_is_found_after_wake() -> None:
    outbox, store = make()
    waiter = asyncio.create_task(outbox.next(1))
    await settle()
    other = Outbox(store, HandClock(), LOG)
    await put(other, "a")
    outbox.wake()
    assert [letter.id for letter in await waiter] == ["a"]


async def test_what_waited_before_a_restart_counts() -> None:
    outbox, store = make(limit=2)
    await put(outbox, "a", "b")
    again = Outbox(store, HandClock(), LOG, 2)
    await put(again, "c")
    assert [letter.id for letter in await again.next(10)] == ["b", "c"]


async def test_a_store_that_fails_keeps_nothing_and_says_so() -> None:
    outbox, store = make()
    store.broken = True
    with pytest.raises(JournalError):
        await put(outbox, "a")
    store.broken = False
    assert await store.count_messages() == 0
