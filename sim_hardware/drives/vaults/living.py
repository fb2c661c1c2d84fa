"""The tiers of a simulated site, and the process on each node that looks after them: a real vault, or a wrong one that stands in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sim_hardware.drives.settings import VAULTS
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.vaults.files import SimFiles
from sim_hardware.drives.vaults.pool import SimPool
from sim_hardware.drives.vaults.stores import Stores
from sim_hardware.drives.vaults.threads import SimThread
from sim_hardware.faults.storage import name_vault
from sim_hardware.plant.pool.orders import AllowAtomic
from sim_hardware.rack import Rack
from sim_hardware.rig import Rig
from sim_hardware.stand_ins.vaults import WrongVault
from supernoded.job.vault.running import Machine, Vault
from supernoded.settings import read_settings

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, where a sync takes no time


def find_home(rack: Rack) -> Path | None:
    """Where a play has its folder: with vaults, which sync all the time, in memory if the machine has a place for that."""
    return MEMORY if rack.sim.job is not None and rack.sim.job.vault and os.access(MEMORY, os.W_OK) else None


def open_stores(site: SimSite, rig: Rig, folder: Path) -> Stores | None:
    """The tiers, where the rack's checkpoints are files; its kernels then allow atomic snapshots, as whoever installed it has left them."""
    job = rig.world.rack.sim.job
    if job is None or not job.vault:
        return None
    stores = Stores(rig.world, folder / VAULTS, job.name, site.loop.wall)
    for node in rig.world.rack.nodes:
        rig.world.order(AllowAtomic(node.name, on=True))
    site.loop.spawn("tiers", stores.watch)
    return stores


def install_vaults(site: SimSite, rig: Rig, stores: Stores, folder: Path, wrong: WrongVault | None) -> Callable[[str], None]:
    """Start one on every node, now and whenever that boots, and give what starts the one of a node anew."""

    def start(node: str) -> None:
        live = partial(wrong.keep, rig.world, stores, node) if wrong is not None else partial(_live, site, rig, stores, node, folder)
        site.loop.spawn(name_vault(node), live, host=node)

    for node in rig.world.rack.nodes:
        site.install(node.name, partial(start, node.name))
    return start


async def _live(site: SimSite, rig: Rig, stores: Stores, node: str, folder: Path) -> None:
    process = site.loop.here()

    def lives(pid: int) -> bool:
        return any(one.pid == pid and one.host == node and not one.dead for one in site.loop.processes.values())

    machine = Machine(
        clock=site.find_clock(node),
        log=site.log(name_vault(node)),
        files=SimFiles(stores.volume, lives),
        pool=SimPool(rig, node),
        thread=lambda _: SimThread(site.loop, process),
        pid=process.pid,
    )
    await Vault(read_settings(folder / f"{node}.toml", {}), machine).run(asyncio.Event())
