"""Where writes go, by the bytes of the pool's driver."""

from __future__ import annotations

import asyncio

import pytest

from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.faults.memory import HotBlock, WornBlock
from sim_hardware.plant.pool.orders import SetReadOnly, SkewWrites
from tests.sim.faults.cases import run, served


@pytest.mark.parametrize(
    ("given", "block", "said"),
    [
        (SkewWrites("n0", 20.0, 0.0), 0, False),  # evenly
        (SkewWrites("n0", 20.0, 0.9, 3), 0, False),  # another block
        (SkewWrites("n0", 20.0, 0.9, 3), 3, True),
        (SkewWrites("n0", 0.0, 0.9, 3), 3, False),  # none
    ],
)
def test_a_block_is_hot_by_its_share_of_what_is_written(given: SkewWrites, block: int, said: bool) -> None:
    async def main() -> None:
        async with served() as rig:
            rig.world.order(given)
            await asyncio.sleep(1.0)
            assert await CATALOGUE["pool.hot_block"].shows(rig, "pool/n0", HotBlock(block=block)) is said

    run(main())


def test_a_hot_block_that_was_made_read_only_is_hot_no_more() -> None:
    async def main() -> None:
        async with served() as rig:
            kind, parameters = CATALOGUE["pool.hot_block"], HotBlock(block=3)
            kind.begin(rig, "pool/n0", parameters)
            await asyncio.sleep(1.0)
            assert await kind.shows(rig, "pool/n0", parameters) is True
            rig.trees["n0"].write("dsm/dsm0/block3/read_only", "1")
            assert await kind.shows(rig, "pool/n0", parameters) is False

    run(main())


def test_another_worn_block_is_not_taken_for_it() -> None:
    async def main() -> None:
        async with served() as rig:
            kind = CATALOGUE["pool.worn_block"]
            rig.world.order(SetReadOnly("n0", 2, read_only=True))
            kind.begin(rig, "pool/n0", WornBlock(block=2, share=0.75))
            assert await kind.shows(rig, "pool/n0", WornBlock(block=2, share=0.75)) is True
            assert await kind.shows(rig, "pool/n0", WornBlock(block=2, share=1.0)) is False
            assert await kind.shows(rig, "pool/n0", WornBlock(block=1, share=0.75)) is False

    run(main())
