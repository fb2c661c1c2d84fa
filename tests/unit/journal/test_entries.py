from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.errors import FencedError
from supernoded.journal.writer import open_journal
from tests.unit.journal.samples import SteppedClock, make_action, take_lease
from tests.unit.journal.sentences import CHECKS, ROLE, Check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_sentence_on_sqlite(check: Check, tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "journal.db", SteppedClock())
    try:
        await check(journal)
    finally:
        await journal.close()


async def test_a_lease_that_ran_out_fences_even_without_a_successor(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "journal.db", SteppedClock())
    await journal.commit(take_lease(ROLE, "n0#1", 100.0, 10.0))
    await journal.intend(make_action(scope=ROLE, epoch=1), 109.9)
    with pytest.raises(FencedError, match=r"ran out 0\.500 s ago"):
        await journal.intend(make_action("i2", scope=ROLE, epoch=1), 110.5)
    await journal.close()
