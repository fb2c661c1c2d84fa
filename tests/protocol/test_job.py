"""Rank processes, the real socket, and a daemon's side that goes away in between."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from supernoded.clock import SystemClock
from supernoded.job import client
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.job.training import Training
from supernoded.limits import Limits
from supernoded.model import NODE, Action, Effect, Step
from supernoded.settings import Settings, default_settings, parse_settings
from supernoded.testing import MemoryHost
from supernoded.wire import Node, Pen
from supernoded.wire.system import SystemWires

LOG = logging.getLogger("test")
WORLD = 4
RANK = Path(__file__).with_name("ranks.py")


class Hub:
    """The collective of the tests: every word of all ranks is answered when all have said it."""

    def __init__(self, world: int) -> None:
        self.world = world
        self.begun: list[str] = []
        self.at_gate: asyncio.Queue[int] = asyncio.Queue()
        self.gate = asyncio.Event()
        self._turn: list[tuple[int, asyncio.StreamWriter]] = []
        self._all: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._all.append(writer)
        while line := await reader.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word == "max":
                self._reduce(int(rest), writer)
            elif word == "begin":
                self.begun.append(rest)
                writer.write(b"go\n")
            else:
                self.at_gate.put_nowait(int(rest))
                await self.gate.wait()
                writer.write(b"go\n")
        writer.close()

    def _reduce(self, value: int, writer: asyncio.StreamWriter) -> None:
        self._turn.append((value, writer))
        if len(self._turn) == self.world:
            largest = max(value for value, _ in self._turn)
            for _, one in self._turn:
                one.write(f"{largest}\n".encode())
            self._turn.clear()

    def abort(self) -> None:
        """The ranks that wait are told that it is over."""
        for writer in self._all:
            writer.close()
        self._all.clear()
        self._turn.clear()


class Site:
    """A folder with a daemon's side, a hub and ranks."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.hub = folder, Hub(WORLD)
        text = f'node = "n0"\nstate = "{folder}/state"\nruntime = "{folder}"\n[vault]\nshared = "{folder}/shm"\n'
        settings = parse_settings(text, "test", folder, {})
        assert isinstance(settings, Settings)
        self.settings = settings
        self.clock = SystemClock()
        self.ranks: list[asyncio.subprocess.Process] = []

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[Jobs]:
        wires = SystemWires(Pen(lambda scope: None))
        node = Node("n0", self.settings.topology, Limits(), wires, self.clock, MemoryHost(), self.settings.state)
        jobs = open_jobs(self.settings, self.clock, LOG, node)
        life = asyncio.create_task(jobs.run())
        await asyncio.wait_for(jobs.listening.wait(), 10)
        try:
            yield jobs
        finally:
            life.cancel()
            with suppress(asyncio.CancelledError):
                await life

    async def start_ranks(self) -> None:
        for rank in range(WORLD):
            environment = {
                **os.environ,
                "RANK": str(rank),
                "WORLD_SIZE": str(WORLD),
                "LOCAL_WORLD_SIZE": str(WORLD),
                "SUPERNODED_JOB_SOCKET": f"{self.folder}/job.sock",
                "SUPERNODED_VAULT": f"{self.folder}/shm",
            }
            arguments = (sys.executable, str(RANK), str(client.__file__), f"{self.folder}/hub")
            self.ranks.append(await asyncio.create_subprocess_exec(*arguments, env=environment))

    async def end(self) -> None:
        self.hub.abort()
        for rank in self.ranks:
            if rank.returncode is None:
                rank.kill()
            await rank.wait()
        self.ranks.clear()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    server = await asyncio.start_unix_server(site.hub.serve, f"{tmp_path}/hub")
    yield site
    await site.end()
    server.close()


async def wait_for(jobs: Jobs, true: Callable[[Training], bool]) -> Training:
    """Until the job is so; asked again after every piece of news, and a few times a second for what is none."""
    async with asyncio.timeout(30):
        while (job := jobs.server.jobs.get("train")) is None or not true(job):
            await asyncio.sleep(0.02)
    return job


def order(kind: str, site: Site, name: str = "one") -> Action:
    now = site.clock.now()
    step = Step(name=name, kind=kind, target="job/train", reason="a test")
    return Action(id=f"i1/{name}", step=step, incident="i1", scope=NODE, epoch=0, issued=now, deadline=now + 60)


async def test_ranks_save_one_step_and_stop_though_the_daemon_is_restarted_in_mid_checkpoint(site: Site) -> None:
    action = order("job.checkpoint", site)
    await site.start_ranks()
    async with site.daemon() as jobs:
        await wait_for(jobs, lambda job: len(job.here) == WORLD and min(rank.step for rank in job.here) > 3)
        await jobs.actuator.apply(action)
        for _ in range(WORLD):
            await asyncio.wait_for(site.hub.at_gate.get(), 30)
        job = await wait_for(jobs, lambda job: job.request is not None and job.request.stage == "saving")
        assert job.request is not None
        step = job.request.step
        assert (await jobs.actuator.observe(action)).effect is Effect.UNKNOWN
    site.hub.gate.set()
    async with site.daemon() as jobs:
        assert (await jobs.actuator.observe(action)).effect is not Effect.ABSENT
        await wait_for(jobs, lambda job: job.request is not None and job.request.stage == "saved")
        sight = await jobs.actuator.observe(action)
        assert sight.effect is Effect.PRESENT
        assert f"step {step}" in sight.text
        stop = order("job.stop", site, "two")
        await jobs.actuator.apply(stop)
        await wait_for(jobs, lambda job: len(job.ranks) == WORLD and all(rank.stopped for rank in job.ranks.values()))
        assert (await jobs.actuator.observe(stop)).effect is Effect.PRESENT
    assert [await rank.wait() for rank in site.ranks] == [0] * WORLD
    assert sorted(path.name for path in (site.folder / f"shm/train/step-{step:012d}").iterdir()) == [f"rank-{n:05d}" for n in range(WORLD)]


async def test_rank_killed_in_mid_save_leaves_the_older_step_to_restore(site: Site) -> None:
    async with site.daemon() as jobs:
        await site.start_ranks()
        site.hub.gate.set()
        first = order("job.checkpoint", site)
        await wait_for(jobs, lambda job: len(job.here) == WORLD)
        await jobs.actuator.apply(first)
        job = await wait_for(jobs, lambda job: job.request is not None and job.request.stage == "saved")
        assert job.request is not None
        whole = job.request.step
        for _ in range(WORLD):
            site.hub.at_gate.get_nowait()

        site.hub.gate.clear()
        second = order("job.checkpoint", site, "two")
        await jobs.actuator.apply(second)
        for _ in range(WORLD):
            await asyncio.wait_for(site.hub.at_gate.get(), 30)
        site.ranks[2].kill()
        await site.ranks[2].wait()
        site.hub.gate.set()
        job = await wait_for(jobs, lambda job: job.request is not None and job.request.stage == "failed")
        assert job.request is not None
        assert "rank 2 was lost" in job.request.text
        assert (await jobs.actuator.observe(second)).effect is Effect.ABSENT
        assert job.ranks[2].gone is not None

        await site.end()
        site.hub.begun.clear()
        await site.start_ranks()
        await wait_for(jobs, lambda job: len(job.here) == WORLD and min(rank.step for rank in job.here) > whole)
        weight = sum(range(1, whole + 1))
        assert site.hub.begun == [f"{whole} {weight}"] * WORLD


async def test_a_rank_number_said_twice_is_refused_by_name(site: Site) -> None:
    async with site.daemon() as jobs:
        one, other = (client.connect("train", 0, world=2, path=f"{site.folder}/job.sock") for _ in range(2))
        one.beat(1)
        await wait_for(jobs, lambda job: job.ranks[0].step == 1)
        other.beat(1)
        async with asyncio.timeout(10):
            while not other.trouble:
                await asyncio.sleep(0.01)
                other.beat(2)
        assert "rank 0 of job train is here already" in other.trouble
        one.stopped()
        await wait_for(jobs, lambda job: job.ranks[0].stopped)
        async with asyncio.timeout(10):
            while not jobs.server.jobs["train"].ranks[0].here:
                await asyncio.sleep(0.01)
                other.beat(3)
        other.stopped()


def test_default_settings_have_a_socket_in_the_runtime_folder() -> None:
    settings = default_settings({"RUNTIME_DIRECTORY": "/run/x"})
    assert settings.job.socket == Path("/run/x/job.sock")
