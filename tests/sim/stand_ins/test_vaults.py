"""Vaults that are wrong do what their names say, on the files of the tiers."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from sim_hardware.drives.vaults.stores import Stores
from sim_hardware.drives.vaults.truth import count_unfinished, find_durable
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.job.orders import RequestCheckpoint
from sim_hardware.rack import load_rack
from sim_hardware.stand_ins import STAND_INS
from sim_hardware.stand_ins.vaults import WrongVault
from sim_hardware.world import World

JOB = "train"
COPY_S = 20.0  # longer than two files of four ranks take


class Site:
    """Two nodes, each with the same wrong vault."""

    def __init__(self, folder: Path, policy: str) -> None:
        self.loop = SimLoop(1)
        Net(self.loop)
        self.world = World(load_rack("vault-2x4"), 1, self.loop.time)
        self.stores = Stores(self.world, folder, JOB, self.loop.wall)
        made = STAND_INS[policy]()
        assert isinstance(made, WrongVault)
        self.vault: WrongVault = made
        self.found: list[tuple[int, int]] = []

    async def save(self, seconds: float) -> None:
        """One step more, and so long to copy it."""
        self.world.order(RequestCheckpoint(JOB))
        await asyncio.sleep(10.0)
        await self.look(seconds)

    async def look(self, seconds: float) -> None:
        assert self.world.truth(f"job/{JOB}", "job.state") is not None
        await asyncio.sleep(seconds)
        self.found.append((find_durable(self.stores.durable, JOB), count_unfinished(self.stores.durable, JOB)))

    def live(self) -> None:
        self.world.run()
        for node in ("n0", "n1"):
            self.loop.spawn(f"{node}/vault", partial(self.vault.keep, self.world, self.stores, node), host=node)


@pytest.mark.parametrize("policy", ["copy-in-place", "copy-once"])
def test_it_makes_a_step_durable_as_long_as_nothing_happens(tmp_path: Path, policy: str) -> None:
    site = Site(tmp_path / "tiers", policy)

    async def main() -> None:
        site.live()
        await site.save(COPY_S)

    play(site.loop, main())
    assert site.found == [(1, 0)]
    assert site.loop.failures == []


def test_one_that_makes_room_first_has_nothing_while_it_copies(tmp_path: Path) -> None:
    site = Site(tmp_path / "tiers", "copy-in-place")

    async def main() -> None:
        site.live()
        await site.save(COPY_S)
        await site.save(0.0)

    play(site.loop, main())
    assert site.found[0][0] > 0
    assert site.found[1] == (0, 1)


def test_one_that_tries_once_never_has_what_did_not_fit(tmp_path: Path) -> None:
    site = Site(tmp_path / "tiers", "copy-once")

    async def main() -> None:
        site.live()
        site.stores.fill(full=True)
        await site.save(COPY_S)
        site.stores.fill(full=False)
        await site.look(COPY_S)
        await site.save(COPY_S)

    play(site.loop, main())
    assert [durable for durable, _ in site.found[:2]] == [0, 0]
    assert site.found[2][0] > 0


def test_blind_snapshots_are_torn_where_the_kernel_does_not_allow_whole_ones() -> None:
    now = 0.0
    world = World(load_rack("vault-2x4"), 1, lambda: now)  # as it comes, no kernel does
    policy = STAND_INS["snapshot-blindly"]()
    world.order(RequestCheckpoint(JOB))
    for _ in range(200):
        now += 1.0
        policy.act(world)
    assert [one.kind for one in world.happened if one.kind.startswith("snapshot.")][:1] == ["snapshot.torn"]
