"""A rack in real time on this machine: real ports, device paths, files and tools, one broker, and a control socket."""

from __future__ import annotations

import asyncio
import json
import resource
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sim_hardware.bus import serve_pty
from sim_hardware.devices.job import Crew
from sim_hardware.drives.broker import serve_broker
from sim_hardware.drives.control import Desk, serve_control
from sim_hardware.drives.doors import serve_door
from sim_hardware.drives.folder import CONTROL, ENDPOINTS, TREE, ServeError, occupy, write_whole
from sim_hardware.drives.nodes import Trees, serve_nodes
from sim_hardware.drives.pacing import PlantClock
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.venues import LOOPBACK, Loopback
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.rack import Rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

SETTINGS = "supernoded.toml"  # of each node
SPARE_FILES = 256  # beside one descriptor a device and a node: clients, and what Python itself opens


@dataclass(frozen=True)
class Served:
    """A rack that is served. `keeping` ends only when it can be served no longer, with the error."""

    rig: Rig
    folder: Path
    endpoints: dict[str, str]
    broker: tuple[str, int]
    clock: PlantClock
    keeping: asyncio.Task[None]


@asynccontextmanager
async def serve_rack(rack: Rack, folder: Path, seed: int = 0, *, more: str = "", off: tuple[str, ...] = ()) -> AsyncIterator[Served]:
    """Serve it in `folder` until the context is left; `endpoints.json` is there from when all listen until then.

    `more` is TOML for the daemons' settings, `off` are plugins that they do not load. Raises ServeError when it cannot be served there.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(occupy(folder, _list_names(rack)))
        clock = PlantClock(asyncio.get_running_loop().time)
        rig = Rig(World(rack, seed, clock), folder, seed)
        _raise_file_limit(len(rig.devices) + 2 * len(rig.trees))
        trees = Trees(rig, folder)
        try:
            trees.make_first()
            endpoints = await _open(stack, rig, folder)
        except OSError as error:
            raise ServeError(f"{folder}: the rack cannot be served there: {error}") from error
        broker = LOOPBACK, await stack.enter_async_context(serve_broker(folder))
        await stack.enter_async_context(serve_control(Desk(rig, CATALOGUE, seed, clock), folder / CONTROL))
        endpoints |= {"broker": f"mqtt://{LOOPBACK}:{broker[1]}", "control": f"unix://{folder / CONTROL}"}
        doors = {node.name: await stack.enter_async_context(serve_door(LOOPBACK)) for node in rack.nodes}
        (folder / TOPOLOGY).write_text(write_site(rack, endpoints, doors), encoding="utf-8")
        _write_daemons_files(rack, Places(folder, broker, "", endpoints=endpoints, seed=seed), more, off)
        keeping = await stack.enter_async_context(_keep(trees.keep()))
        for work in _list_job_work(rig, folder):
            await stack.enter_async_context(_keep(work))
        stack.callback((folder / ENDPOINTS).unlink, missing_ok=True)
        write_whole(folder / ENDPOINTS, json.dumps(endpoints, indent=2) + "\n")
        yield Served(rig, folder, endpoints, broker, clock, keeping)


def _list_names(rack: Rack) -> list[str]:
    """What has a folder, or a line's path."""
    nodes, loops = [node.name for node in rack.nodes], [loop.name for loop in rack.loops]
    return [*nodes, *loops, *(ups.name for ups in rack.ups), *(pdu.feed for pdu in rack.pdus)]


def _list_job_work(rig: Rig, folder: Path) -> Iterator[Coroutine[Any, Any, None]]:
    """The job's processes, which speak to the daemons that are there."""
    crew = Crew(rig.world, lambda _: time.time())
    if crew.peers:
        yield look_after(crew)
        for node in rig.world.rack.nodes:
            path = find_socket(folder, node.name)
            yield speak_for(crew, node.name, path, path.exists)


@asynccontextmanager
async def _keep(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Let something go on until the context is left."""
    keeping = asyncio.create_task(work)
    try:
        yield keeping
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def _open(stack: AsyncExitStack, rig: Rig, folder: Path) -> dict[str, str]:
    await stack.enter_async_context(rig.serve(Loopback()))
    for path, line in rig.lines.items():
        await stack.enter_async_context(serve_pty(line, Path(path)))
    return {**rig.endpoints, **await serve_nodes(stack, rig, folder)}


def _write_daemons_files(rack: Rack, site: Places, more: str, off: tuple[str, ...]) -> None:
    for node in rack.nodes:
        home = site.folder / node.name
        settings = write_settings(rack, node.name, replace(site, sysfs=str(home / TREE), logs=str(home)), more, off)
        (home / SETTINGS).write_text(settings, encoding="utf-8")


def _raise_file_limit(needed: int) -> None:
    """A pod needs thousands of descriptors. Raises ServeError when we may not have them."""
    wanted = needed + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY, max(hard, wanted)):
        raise ServeError(f"this rack needs {wanted} open files and the limit is {hard}: raise it with `ulimit -Hn {wanted}`")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
