"""The vault's process, a rank and the daemon's side over the real socket: what is wrong with storage is seen where people look."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from supernoded.clock import SystemClock
from supernoded.ctl.jobs import render_jobs
from supernoded.ctl.printing import Table
from supernoded.job.client import connect
from supernoded.job.jobs import Jobs, open_jobs
from supernoded.limits import Limits
from supernoded.messages import Jobs as Told
from supernoded.settings import read_settings
from supernoded.testing import MemoryHost, MemoryWires
from supernoded.wire import Node
from tests.protocol.test_vault import LONGEST, House, house, until
from tests.unit.job.vault.saving import JOB

__all__ = ["house"]


@asynccontextmanager
async def run_daemon(config: Path) -> AsyncIterator[Jobs]:
    settings, clock = read_settings(config, {}), SystemClock()
    node = Node("n0", settings.topology, Limits(), MemoryWires(), clock, MemoryHost(), settings.state)
    jobs = open_jobs(settings, clock, logging.getLogger("test"), node)
    life = asyncio.create_task(jobs.run())
    await asyncio.wait_for(jobs.listening.wait(), LONGEST)
    try:
        yield jobs
    finally:
        life.cancel()
        with suppress(asyncio.CancelledError):
            await life


async def read_trouble(jobs: Jobs, true: Callable[[str], bool]) -> str:
    """The reading of the job's trouble, once it is so."""
    async with asyncio.timeout(LONGEST):
        while True:
            found = [str(one.value) for one in await jobs.sensor.read() if one.quantity == "job.trouble"]
            if found and true(found[0]):
                return found[0]
            await asyncio.sleep(0.02)


async def test_a_full_tier_a_vault_that_goes_and_one_that_is_well(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Storage is full as long as more is to stay free than there is."""
    monkeypatch.setenv("SUPERNODED_VAULT", str(house.shared))
    config = house.folder / "n0.toml"
    config.write_text("mode = 'act'\n" + config.read_text().replace("headroom_mb = 0", "headroom_mb = 1000000000"))
    async with run_daemon(config) as jobs:
        rank = connect(JOB, 0, world=1, path=str(house.run / "job.sock"))
        rank.beat(1)
        assert rank.save(1, {"model.pt": b"weights"}), rank.trouble
        vault = house.start()
        full = await read_trouble(jobs, lambda text: "are missing" in text)
        assert full.startswith(f"durable: {house.durable}")
        (row,) = jobs.desk.list_jobs()
        assert row.troubles == (full,)
        assert render_jobs(Told(now=0.0, jobs=(row,)))[0] == f"{JOB}: {full}"

        vault.kill()
        assert "supernoded-vault has gone" in await read_trouble(jobs, lambda text: "are missing" not in text)
        config.write_text(config.read_text().replace("headroom_mb = 1000000000", "headroom_mb = 0"))
        again = house.start()
        assert await read_trouble(jobs, lambda text: not text) == ""
        await asyncio.to_thread(until, again, "is durable")
        async with asyncio.timeout(LONGEST):
            while jobs.desk.list_jobs()[0].durable_step != 1:
                await asyncio.sleep(0.02)
        (row,) = jobs.desk.list_jobs()
        assert row.troubles == ()
        assert "a checkpoint every 60 s" in row.interval_text  # it is asked for, as there is a durable tier and the daemon may act
        assert isinstance(render_jobs(Told(now=0.0, jobs=(row,)))[0], Table)
        rank.stopped(1)
