"""A rank hangs on one of three nodes: each daemon says of its own ranks what it can know; the launcher moves the job to a spare."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sim_hardware.devices.job import Crew
from sim_hardware.drives.ranks import find_socket, look_after, speak_for
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.job.orders import SilenceRank
from sim_hardware.rack import generate_rack
from sim_hardware.world import World
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.limits import Limits
from supernoded.model import NODE, Action, Effect, Step
from supernoded.settings import Settings, parse_settings
from supernoded.testing import MemoryHost, MemoryWires
from supernoded.wire import Node

NODES = ("n0", "n1", "n2", "n3")  # the cards of the last one are spares
JOB = "job/train"


class Site:
    """A rack of two cards a node with a daemon's jobs on every node."""

    def __init__(self, loop: SimLoop, folder: Path) -> None:
        self.world = World(generate_rack(4, 2), 1, loop.time)
        self.clock = SimClock(loop, "n0")
        self.crew = Crew(self.world, lambda _: self.clock.wall())
        self.jobs: Mapping[str, Jobs] = {name: self._open(name, folder) for name in NODES}
        self.folder = folder

    def _open(self, name: str, folder: Path) -> Jobs:
        paths = {"STATE_DIRECTORY": "/state", "RUNTIME_DIRECTORY": str(find_socket(folder, name).parent)}
        settings = parse_settings(f'node = "{name}"', "test", folder, paths)
        assert isinstance(settings, Settings)
        node = Node(name, settings.topology, Limits(), MemoryWires(), self.clock, MemoryHost(), settings.state)
        return open_jobs(settings, self.clock, logging.getLogger(name), node)

    async def read(self, node: str) -> dict[tuple[str, str], Any]:
        return {(reading.subject, reading.quantity): reading.value for reading in await self.jobs[node].sensor.read()}

    async def list_states(self, node: str) -> dict[str, object]:
        return {
            subject.removeprefix(f"{JOB}/"): value
            for (subject, quantity), value in (await self.read(node)).items()
            if quantity == "rank.state"
        }

    async def perform(self, kind: str, **details: str) -> None:
        """On the node that has the launcher, until it is seen."""
        now, actuator = self.clock.now(), self.jobs["n0"].actuator
        step = Step(name=kind, kind=kind, target=JOB, reason="rank 4 is silent", details=details)
        action = Action(id=f"i1/{kind}", step=step, incident="i1", scope=NODE, epoch=0, issued=now, deadline=now + 60)
        await actuator.apply(action)
        while (await actuator.observe(action)).effect is not Effect.PRESENT:
            await self.clock.sleep(0.5)


async def tell(loop: SimLoop, folder: Path) -> list[Any]:
    site = Site(loop, folder)
    lives = [asyncio.create_task(jobs.run()) for jobs in site.jobs.values()]
    lives += [asyncio.create_task(look_after(site.crew))]
    lives += [asyncio.create_task(speak_for(site.crew, node, find_socket(folder, node))) for node in NODES]
    await site.clock.sleep(20.0)
    told: list[Any] = [{node: (await site.read(node)).get((JOB, "job.launcher")) for node in NODES}]
    site.world.order(SilenceRank("train", 4, silent=True))
    await site.clock.sleep(30.0)
    told.append({node: ((await site.read(node)).get((JOB, "job.state")), await site.list_states(node)) for node in NODES[:3]})
    for kind, details in (("job.abort", {}), ("job.remap", {"cards": '{"4": "n3/card1"}'}), ("job.resume", {})):
        await site.perform(kind, **details)
        told.append((await site.read("n0"))[JOB, "job.state"])
    await site.clock.sleep(20.0)
    there = await site.read("n3")
    told += [there[f"{JOB}/rank4", "rank.card"], there[f"{JOB}/rank4", "rank.state"], await site.list_states("n2")]
    for life in lives:
        life.cancel()
    await asyncio.wait(lives)
    return told


def test_the_silent_rank_is_named_on_its_own_node_and_its_peers_wait(tmp_path: Path) -> None:
    loop = SimLoop(1)
    Net(loop)
    launchers, hung, *states, card, state, others = play(loop, tell(loop, tmp_path))
    assert loop.failures == []
    assert launchers == {"n0": 1.0, "n1": 0.0, "n2": 0.0, "n3": 0.0}
    assert hung == {
        "n0": ("waiting", {"rank0": "waiting", "rank1": "waiting"}),
        "n1": ("waiting", {"rank2": "waiting", "rank3": "waiting"}),
        "n2": ("silent", {"rank4": "silent", "rank5": "waiting"}),
    }
    assert states == ["aborted", "aborted", "running"]
    assert (card, state) == ("n3/card1", "running")
    assert others == {"rank5": "running"}, "rank 4 is held against this node no longer"
