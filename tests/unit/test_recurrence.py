"""A trouble that comes again as soon as its incident has closed is a new one, and is worked anew."""

from __future__ import annotations

import asyncio

from supernoded.journal import entries
from supernoded.model import Level
from tests.unit.casework import Office
from tests.unit.worlds import run


def test_a_trouble_that_comes_again_at_once_is_worked_anew() -> None:
    async def main() -> Office:
        office = Office()  # nothing that is only posted gets into its journal: the slowest writer there can be
        cases = asyncio.ensure_future(office.cases.run())
        await asyncio.sleep(0)
        for _ in range(2):
            office.say(Level.RAISED)
            await asyncio.sleep(5)
            office.say(Level.CLEAR)
            await asyncio.sleep(59)
            for _ in range(300):  # the least time after its close
                await asyncio.sleep(0.01 if office.ledger.open else 0.0)
            assert office.ledger.open == []
        cases.cancel()
        await asyncio.gather(cases, return_exceptions=True)
        assert await office.journal.commit(entries.open_incidents()) == []
        return office

    office = run(main())
    assert office.results() == [("notify", "done"), ("card.isolate", "done")] * 2
    assert list(office.device.performed.values()) == [1, 1, 1, 1]
