"""A sag where the first that would show it is dark."""

from __future__ import annotations

import asyncio

import pytest

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.power import InputSag
from sim_hardware.plant.power.orders import FailUps
from tests.sim.faults.cases import run, served

SAG, WHOLE = CATALOGUE["power.input_sag"], InputSag()


@pytest.mark.parametrize("after", [0.3, 5.0])  # while the PDUs still hold, and when all is dark
def test_a_sag_shows_behind_a_ups_that_went_dark_with_it(after: float) -> None:
    async def main() -> None:
        async with served() as rig:
            rig.world.order(FailUps("A", "battery", failed=True))
            assert await SAG.shows(rig, "utility/A", WHOLE) is False
            SAG.begin(rig, "utility/A", WHOLE)
            await asyncio.sleep(after)
            assert await SAG.shows(rig, "utility/A", WHOLE) is True
            assert await SAG.shows(rig, "utility/B", WHOLE) is False
            SAG.end(rig, "utility/A", WHOLE)
            await asyncio.sleep(10.0)
            assert await SAG.shows(rig, "utility/A", WHOLE) is False

    run(main())


def test_what_was_dark_from_the_start_tells_nothing() -> None:
    async def main() -> None:
        async with served() as rig:
            rig.world.order(FailUps("A", "battery", failed=True))
            SAG.begin(rig, "utility/A", WHOLE)
            await asyncio.sleep(5.0)
            assert await SAG.shows(rig, "utility/A", WHOLE) is None

    run(main())
