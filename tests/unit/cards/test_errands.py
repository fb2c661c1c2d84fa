"""Work that is begun once, and whose end is remembered."""

from __future__ import annotations

import asyncio

import pytest

from supernoded.cards import errands as room
from supernoded.cards.errands import Errands
from supernoded.errors import WireError
from supernoded.testing import ManualClock


async def test_it_runs_once_at_a_time_and_its_end_is_known(supernoded_clock: ManualClock) -> None:
    errands, begun = Errands(supernoded_clock), list[int]()

    async def work(number: int) -> str:
        begun.append(number)
        await supernoded_clock.sleep(5.0)
        if number == 2:
            raise WireError("the device is gone")
        if number == 3:
            raise KeyError("bug")
        return f"end of {number}"

    assert errands.find("a") is None
    for number in (1, 9):
        errands.begin("a", work(number))
    await supernoded_clock.advance(1.0)
    found = errands.find("a")
    assert found is not None
    assert (found.running, begun) == (True, [1])
    await supernoded_clock.advance(5.0)
    assert (found.running, found.text, found.trouble) == (False, "end of 1", "")
    for number, trouble in ((2, "the device is gone"), (3, "KeyError: 'bug'")):
        errands.begin("a", work(number))
        await supernoded_clock.advance(6.0)
        found = errands.find("a")
        assert found is not None
        assert (found.running, found.trouble) == (False, trouble)


async def test_what_is_given_up_says_so_and_old_ends_are_forgotten(supernoded_clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST", 2)
    errands = Errands(supernoded_clock)

    async def work() -> str:
        await supernoded_clock.sleep(5.0)
        return "done"

    errands.begin("a", work())
    await asyncio.sleep(0)
    errands.stop()
    await errands.wait("a")
    found = errands.find("a")
    assert found is not None
    assert (found.running, found.trouble) == (False, "it was given up")
    for key in ("b", "c"):
        errands.begin(key, work())
        await supernoded_clock.advance(6.0)
    assert [errands.find(key) is not None for key in "abc"] == [False, True, True]
