"""The drive `sim`: plant, devices, network, broker and whole daemons in virtual time, from one seed."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sim_hardware.devices.job import Crew
from sim_hardware.drives.commissioning import commission
from sim_hardware.drives.doors import PORT, serve_door
from sim_hardware.drives.known import load_known_rack
from sim_hardware.drives.observer import Observer
from sim_hardware.drives.playing import CLUSTER, Repertoire, list_off
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.software import SimSoftware
from sim_hardware.drives.stage import RigStage, let_act
from sim_hardware.drives.vaults.living import find_home, install_vaults, open_stores
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.rig import Rig
from sim_hardware.stand_ins import STAND_INS
from sim_hardware.stand_ins.vaults import WrongVault
from sim_hardware.world import World
from supernoded.chaos.drive import Played, Setup, Stage
from supernoded.errors import ChaosError

T = TypeVar("T")

BROKER = ("broker", 1883)


class Sim(Repertoire):
    """See `supernoded.chaos.drive.Drive`."""

    name = "sim"

    def play(self, setup: Setup, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> Played[T]:
        """See `Drive.play`."""
        loop = SimLoop(setup.seed)
        with (
            tempfile.TemporaryDirectory(prefix="supernoded-sim-", dir=find_home(load_known_rack(setup.rack))) as folder,
            virtual_time(loop),
        ):
            loop.leave_out(folder)
            main = loop.create_task(_play(loop, setup, Path(folder), direct))
            _bound(loop, setup.max_wall, main)
            try:
                result = loop.run_until_complete(main)
            except asyncio.CancelledError as error:
                raise ChaosError(f"the play took more than {setup.max_wall:g} s of real time; raise the drive's `max_wall`") from error
            failures = [f"{failure.process}: {failure.message}: {failure.error!r}" for failure in loop.failures]
            failures += [f"{life} ended with code {life.exit_code}" for life in loop.lives if (life.exit_code or 0) > 0]
            return Played(result, loop.digest(), failures)


async def _play(loop: SimLoop, setup: Setup, folder: Path, direct: Callable[[Stage], Coroutine[Any, Any, T]]) -> T:
    rack = load_known_rack(setup.rack)
    rig = Rig(World(rack, setup.seed, loop.time), folder, setup.seed)
    site = SimSite(loop, rig=rig)
    site.broker.start()
    site.database.start()
    rig.world.watches.append(lambda happening: loop.trace("plant", happening.kind, happening.subject, happening.text))
    async with rig.serve(SimNetwork(site.net)):
        commission(rig)
        stage = RigStage(rig, physics=setup.physics)
        stage.observer = Observer(site.broker, CLUSTER, loop.time, stage.wake)
        loop.spawn("observer", stage.observer.run)
        _set_up(site, rig, setup, folder)
        await stage.observer.listening.wait()
        return await direct(stage)


def _set_up(site: SimSite, rig: Rig, setup: Setup, folder: Path) -> None:
    """All that runs beside the rig: tiers, daemons, ranks, vaults, or what stands in for them."""
    rig.stores = stores = open_stores(site, rig, folder)
    stand_in = STAND_INS[setup.stand_in]() if setup.stand_in else None
    wrong = stand_in if isinstance(stand_in, WrongVault) else None
    if setup.plugins != ():
        _start_daemons(site, rig, setup, folder)
        _start_ranks(site.loop, site, rig, folder)
    keeps = stores is not None and (setup.plugins != () or wrong is not None)
    start_vault = install_vaults(site, rig, stores, folder, wrong) if stores is not None and keeps else None
    rig.software = SimSoftware(site, folder, start_vault)
    if stand_in is not None:
        site.loop.spawn("stand-in", lambda: let_act(stand_in, rig))


def _start_daemons(site: SimSite, rig: Rig, setup: Setup, folder: Path) -> None:
    doors = {node.name: open_door(site, node.name) for node in rig.world.rack.nodes}
    (folder / TOPOLOGY).write_text(write_site(rig.world.rack, rig.endpoints, doors))
    off, places = list_off(setup), Places(folder, BROKER, SYSFS, kernel=True, endpoints=rig.endpoints, seed=setup.seed)
    for node in rig.world.rack.nodes:
        config = folder / f"{node.name}.toml"
        config.write_text(write_settings(rig.world.rack, node.name, places, setup.settings, off))
        site.start(node.name, config)


def open_door(site: SimSite, node: str) -> str:
    """Let something answer on a node's machine, and give its address."""

    async def live() -> None:
        async with serve_door(site.net.address(node), PORT):
            await site.loop.create_future()

    site.install(node, lambda: site.loop.spawn(f"{node}/door", live, host=node))
    return f"{site.net.address(node)}:{PORT}"


def _start_ranks(loop: SimLoop, site: SimSite, rig: Rig, folder: Path) -> None:
    """The job's processes, on the hosts of their nodes."""
    crew = Crew(rig.world, lambda node: site.clocks[node].now(), rig.stores)
    if crew.peers:
        loop.spawn("job", partial(look_after, crew))
        for node in rig.world.rack.nodes:
            speak = partial(speak_for, crew, node.name, find_socket(folder, node.name))
            site.install(node.name, partial(loop.spawn, f"{node.name}/job", speak, host=node.name))


def _bound(loop: SimLoop, max_wall: float, main: asyncio.Task[Any]) -> None:
    """Cancel the play when it takes too long on the wall (`perf_counter` stays real); looked at every virtual second."""
    end = time.perf_counter() + max_wall

    def look() -> None:
        if time.perf_counter() > end:
            main.cancel()
        else:
            loop.after(1.0, look)

    loop.after(1.0, look)
