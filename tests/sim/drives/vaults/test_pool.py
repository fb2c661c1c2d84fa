"""The vault's tools and kernel parameter are the simulated node's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sim_hardware.drives.vaults.pool import SimPool
from sim_hardware.plant.pool.orders import AllowAtomic
from supernoded.errors import VaultError
from supernoded.job.vault.dsm import take_snapshot
from supernoded.settings.vault import Dsm
from tests.sim.faults.cases import make_rig, run

ATOMIC = Dsm().atomic


def test_the_parameter_is_read_from_the_nodes_own_tree() -> None:
    rig = make_rig(lambda: 0.0)
    pool, other = SimPool(rig, "n0"), SimPool(rig, "n1")
    rig.world.order(AllowAtomic("n1", on=True))
    assert (pool.read_atomic(ATOMIC), other.read_atomic(ATOMIC)) == ("0\n", "1\n")
    assert pool.read_atomic(ATOMIC.with_name("none")) is None
    assert pool.read_atomic(Path("/elsewhere")) is None
    rig.impairment("n0/sysfs").refusing = True
    with pytest.raises(OSError, match="No such device"):
        pool.read_atomic(ATOMIC)


def test_a_snapshot_takes_the_pools_time_and_one_that_hangs_is_ended() -> None:
    async def main() -> tuple[str, float, str]:
        loop = asyncio.get_running_loop()
        rig = make_rig(loop.time)
        for node in ("n0", "n1"):
            rig.world.order(AllowAtomic(node, on=True))
        taken = await take_snapshot(SimPool(rig, "n0"), Dsm(), "ckpt_a", 7, 0.0)
        took = loop.time()
        rig.tools["n0"].impair("dsm_sync_all").hang = True
        with pytest.raises(VaultError) as caught:
            await take_snapshot(SimPool(rig, "n0"), Dsm(), "ckpt_b", 8, 0.0)
        return taken.verified, took, str(caught.value)

    verified, took, fault = run(main())
    assert verified.endswith("checksum OK")
    assert 10.0 < took < 1000.0
    assert fault == "the sync of the cards' memory failed: dsm_sync_all did not end within 600 s and was ended"
