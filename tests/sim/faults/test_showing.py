"""Each kind shows in device bytes once it is begun, not before, not without it, and no longer when it is ended."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.kind import Kind
from sim_hardware.rig import Rig
from tests.sim.faults.cases import CASES, Case, run, served

PERIOD = 0.5
SLACK_S = 2.5  # the last probe may take so long


async def wait_for(kind: Kind[Any], rig: Rig, target: str, wanted: bool | None, seconds: float) -> list[bool | None]:
    """Probe until it says so, or for so long; all that it said."""
    loop = asyncio.get_running_loop()
    until, seen = loop.time() + seconds + SLACK_S, list[bool | None]()
    while loop.time() < until and (not seen or seen[-1] is not wanted):
        seen.append(await kind.shows(rig, target, kind.parameters()))
        await asyncio.sleep(PERIOD)
    return seen


async def watch(kind: Kind[Any], case: Case, rig: Rig) -> set[bool | None]:
    """All that its probe says of a rig without the fault, for as long as it may take to show with it."""
    loop, seen = asyncio.get_running_loop(), {await kind.shows(rig, case.target, kind.parameters())}
    if case.provoke:
        await case.provoke(rig)
    until = loop.time() + kind.shows_within
    while loop.time() < until:
        seen.add(await kind.shows(rig, case.target, kind.parameters()))
        await asyncio.sleep(max(PERIOD, kind.shows_within / 10.0))
    return seen


@pytest.mark.parametrize("name", CATALOGUE)
def test_shows_and_ends(name: str) -> None:
    """Where nothing else has to happen, the same rig is watched without the fault before."""
    kind, case = CATALOGUE[name], CASES[name]

    async def main() -> None:
        async with served() as rig:
            if case.prepare:
                await case.prepare(rig)
            await asyncio.sleep(case.warm_s)
            if case.provoke:
                assert await kind.shows(rig, case.target, kind.parameters()) is False
            else:
                assert await watch(kind, case, rig) == {False}
            kind.begin(rig, case.target, kind.parameters())
            if case.provoke:
                await case.provoke(rig)
            seen = await wait_for(kind, rig, case.target, True, kind.shows_within)
            assert seen[-1] is True, seen
            kind.end(rig, case.target, kind.parameters())
            if case.provoke and case.again:
                await case.provoke(rig)
            seen = await wait_for(kind, rig, case.target, False, kind.ends_within)
            assert seen[-1] is (not kind.undoable), seen

    run(main())


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.provoke])
def test_what_happens_beside_it_is_not_taken_for_it(name: str) -> None:
    kind, case = CATALOGUE[name], CASES[name]

    async def main() -> None:
        async with served() as rig:
            await asyncio.sleep(case.warm_s)
            assert await watch(kind, case, rig) == {False}

    run(main())
