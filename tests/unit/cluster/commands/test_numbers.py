from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from supernoded.cluster.commands.numbers import BLOCK, Numbers, Taken
from supernoded.errors import JournalError
from supernoded.journal import entries
from supernoded.journal.writer import Journal, open_journal
from tests.unit.cluster.fakes import HandClock

KEY = "n0 abc"


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    journal = open_journal(tmp_path / "journal.db", HandClock())
    yield journal
    await journal.close()


async def test_a_counter_never_falls(journal: Journal) -> None:
    for number in (5, 9, 7):
        await journal.commit(entries.raise_counter(KEY, number))
    await journal.commit(entries.raise_counter("n1 def", 2**62))
    assert await journal.ask(entries.read_counters()) == {KEY: 9, "n1 def": 2**62}


async def test_numbers_rise_over_lives_and_a_clock_set_back(journal: Journal) -> None:
    given = [await Numbers(journal, HandClock(at)).next(KEY) for at in (2000.0, 3000.0, 1000.0, 1000.0)]
    assert given == sorted(set(given))
    assert given[1] == 3_000_000  # a new life begins by the clock, where that is ahead
    assert given[2] == given[1] + BLOCK


async def test_a_block_is_written_before_its_first_number_is_used(journal: Journal) -> None:
    numbers = Numbers(journal, HandClock())
    for count in range(BLOCK + 1):
        number = await numbers.next(KEY)
        if count in (0, BLOCK - 1, BLOCK):
            assert (await journal.ask(entries.read_counters()))[KEY] > number


async def test_many_at_once_get_different_ones(journal: Journal) -> None:
    numbers = Numbers(journal, HandClock())
    given = await asyncio.gather(*(numbers.next(KEY) for _ in range(3 * BLOCK)))
    assert len(set(given)) == 3 * BLOCK


async def test_another_key_has_numbers_of_its_own(journal: Journal) -> None:
    numbers = Numbers(journal, HandClock())
    first, other = await numbers.next(KEY), await numbers.next("n0 other")
    assert other == first  # both by the clock
    assert (await journal.ask(entries.read_counters())).keys() == {KEY, "n0 other"}


async def test_without_a_journal_no_number(journal: Journal) -> None:
    await journal.close()
    with pytest.raises(JournalError):
        await Numbers(journal, HandClock()).next(KEY)


async def test_what_was_taken_is_known_to_the_next_life(journal: Journal) -> None:
    taken = Taken(journal)
    await taken.load()
    assert taken.find_highest(KEY) == -1
    taken.take(KEY, 7)
    taken.take(KEY, 3)
    await taken.keep(KEY, 7)
    assert taken.find_highest(KEY) == 7
    following = Taken(journal)
    await following.load()
    assert following.find_highest(KEY) == 7


async def test_what_came_before_the_journal_answered_stays(journal: Journal) -> None:
    await journal.commit(entries.raise_counter(KEY, 5))
    taken = Taken(journal)
    taken.take(KEY, 9)
    await taken.load()
    assert taken.find_highest(KEY) == 9
