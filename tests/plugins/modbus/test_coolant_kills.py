"""A put that is cut off at any moment: nobody takes our own hand for another's, and the CDU is never lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from supernoded.plugin import WireError
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, Authority, Hall, enter_hall, make_folder, open_hall

MOMENTS = [0.0, *(0.02 * step for step in range(1, 10))]  # s; a first put takes 0.18 s at 19200 baud
NAMES: dict[Authority, tuple[str, float, float]] = {"direct": ("valve", 45.0, 50.0), "setpoint": ("setpoint", 23.0, 24.0)}


async def cut_off(hall: Hall, name: str, value: float, after: float) -> None:
    putting = asyncio.ensure_future(hall.put(value, name))
    await asyncio.sleep(after)
    putting.cancel()
    with suppress(asyncio.CancelledError):
        await putting


async def take(hall: Hall, name: str) -> None:
    """As a loop does, every 2 s; the watchdog's time is the longest that it may have to wait."""
    for _ in range(9):
        with suppress(WireError):
            await hall.now_at(name)
            return
        await asyncio.sleep(2.0)
    raise AssertionError(f"{CDU} was not taken again")


@pytest.mark.parametrize("authority", list(NAMES))
@pytest.mark.parametrize("first", [True, False])
def test_the_same_life_goes_on(tmp_path: Path, authority: Authority, first: bool) -> None:
    name, value, other = NAMES[authority]

    async def story(number: int, moment: float) -> None:
        async with open_hall(make_folder(tmp_path, str(number)), "rpu", authority) as hall:
            await hall.now_at(name)
            if not first:
                await hall.put(value, name)
            await cut_off(hall, name, other, moment)
            await asyncio.sleep(1.0)
            refused = await hall.hold(other, 20, name)
            assert not any("yielded" in one for one in refused), (moment, refused)
            hall.check(authority, "coolant.valve_command" if name == "valve" else "coolant.setpoint_asked", other)

    for number, moment in enumerate(MOMENTS):
        run(partial(story, number, moment))


@pytest.mark.parametrize("authority", list(NAMES))
@pytest.mark.parametrize("heir", ["n0", "n1"])
def test_the_next_life_or_node_takes_it_within_the_watchdogs_time(tmp_path: Path, authority: Authority, heir: str) -> None:
    name, value, other = NAMES[authority]

    async def story(number: int, moment: float) -> None:
        folders = {node: make_folder(tmp_path, f"{number}{node}") for node in ("n0", "n1")}
        async with open_hall(folders["n0"], "dcd", authority) as hall:
            await hall.now_at(name)
            await cut_off(hall, name, value, moment / 6.0)
            async with enter_hall(hall, heir, folders[heir]) as next_one:
                await take(next_one, name)
                assert await next_one.hold(other, 5, name) == []
                hall.check(authority, "coolant.valve_command" if name == "valve" else "coolant.setpoint_asked", other)

    for number, moment in enumerate(MOMENTS):
        run(partial(story, number, moment))
