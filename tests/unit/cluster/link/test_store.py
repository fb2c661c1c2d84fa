from __future__ import annotations

from supernoded.cluster.link.outbox import Letter, Outbox
from supernoded.cluster.link.store import JournalStore
from tests.unit.casework import memory_journal
from tests.unit.worlds import LOG, LoopClock, run


def letter(number: int, *, critical: bool = False) -> Letter:
    return Letter(id=f"e{number}", topic="t", payload=b"{}", at=float(number), critical=critical)


def test_letters_are_kept_in_order_and_once() -> None:
    async def main() -> None:
        store = JournalStore(memory_journal())
        assert [await store.put_message(letter(number)) for number in (1, 2, 1)] == [True, True, False]
        assert [one.id for one in await store.next_messages(10)] == ["e1", "e2"]
        await store.delete_messages(["e1", "e9"])
        assert await store.count_messages() == 1

    run(main())


def test_over_the_bound_the_oldest_that_are_not_critical_go_first() -> None:
    async def main() -> None:
        store = JournalStore(memory_journal())
        for number in range(6):
            await store.put_message(letter(number, critical=number == 0))
        assert await store.trim_messages(3) == 3
        assert [one.id for one in await store.next_messages(10)] == ["e0", "e4", "e5"]

    run(main())


def test_what_others_wrote_into_the_store_is_counted_and_kept_within_the_bound() -> None:
    async def main() -> None:
        journal = memory_journal()
        store = JournalStore(journal)
        outbox = Outbox(store, LoopClock(), LOG, limit=2)
        for number in range(5):
            await store.put_message(letter(number))
        await outbox.recount()
        assert outbox.waiting == 2
        assert outbox.dropped == 3
        assert [one.id for one in await outbox.next(10)] == ["e3", "e4"]

    run(main())
