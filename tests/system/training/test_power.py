"""The mains sag, and fail, on a served rack: a real daemon reads its UPSes and asks a real training, which loses nothing."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sim_hardware.drives.commissioning import commission
from sim_hardware.drives.daemons import run_daemons
from sim_hardware.drives.folder import CONTROL
from sim_hardware.drives.serving import SETTINGS, Served, serve_rack
from sim_hardware.rack import load_rack
from supernoded.ctl.client import AdminClient
from supernoded.messages import JobRow, Power
from tests.system.daemons import LOOK, PATIENCE
from tests.system.training.launched import LONG, Launched, expect_undisturbed
from tests.system.training.site import Tiers, Vault, until_job

RACK = """
like = "rack-1x4"
[sim]
job = false
[sim.power]
generator = false
[sim.power.ups]
kind = "line-interactive"
minutes = {minutes}
"""
POWER = "[plugins.power]\nstop_s = 5.0\nmargin_s = 10.0\n"  # the least of both
AMPLE, SHORT = 8.0, 0.33  # minutes at rated load; at this load and by what is counted on, the short one lasts some 25 s
UTILITIES = ("utility/A", "utility/B")
SAG_S = 1.2
BACK_WITHIN = 150.0  # s: mains count as back after 30


@dataclass
class Site:
    """A rack of one node, its daemon, and a vault, that run."""

    served: Served
    tiers: Tiers

    def __post_init__(self) -> None:
        self._news = asyncio.Event()
        self.served.rig.world.watches.append(lambda _: self._news.set())

    @property
    def socket(self) -> Path:
        return self.served.folder / "n0" / "run" / "admin.sock"

    async def fail_mains(self, **more: object) -> None:
        """Both utilities lose all of their voltage, `for` so long or till they are lifted."""
        for utility in UTILITIES:
            await self._ask("inject", **{"fault": "power.input_sag", "on": utility, "with": {"depth": 1.0}, **more})

    async def restore_mains(self) -> None:
        await self._ask("lift", all=True)

    async def _ask(self, do: str, **fields: object) -> None:
        reader, writer = await asyncio.open_unix_connection(self.served.folder / CONTROL)
        writer.write(json.dumps({"do": do, **fields}).encode() + b"\n")
        answer = json.loads(await reader.readline())
        writer.close()
        await writer.wait_closed()
        assert answer["ok"], answer

    def count(self, kind: str) -> int:
        """How often it has happened."""
        return sum(1 for one in self.served.rig.world.happened if one.kind == kind)

    async def until(self, kind: str, count: int = 2) -> None:
        """Till it has happened so often."""
        async with asyncio.timeout(LONG):
            while self.count(kind) < count:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def run_site(folder: Path, shared: Path, minutes: float) -> AsyncIterator[Site]:
    """Batteries of so many minutes. None of its daemons may end by itself."""
    file, died = folder / "rack.toml", list[str]()
    file.write_text(RACK.format(minutes=minutes))
    tiers = Tiers(shared / "tier", folder / "disk", folder / "rack" / "n0" / "run" / "job.sock")
    async with serve_rack(load_rack(str(file)), folder / "rack", more=tiers.describe() + POWER) as served:
        commission(served.rig)
        home = served.folder / "n0"
        async with run_daemons([home], died), Vault(home / SETTINGS).running():
            yield Site(served, tiers)
    assert died == []


async def until_seen_armed(socket: Path) -> None:
    """Till the daemon has read of every PDU that it is armed, which it looks at every 5 s."""
    client = AdminClient([socket], PATIENCE)
    async with asyncio.timeout(LONG):
        while True:
            seen = (await asyncio.to_thread(client.get, "power", Power)).answer
            if all(strip.armed for strip in seen.strips):
                return
            await asyncio.sleep(LOOK)


async def tell_timeline(socket: Path) -> list[str]:
    """What `supernodectl power timeline` prints of the newest outage."""
    command = (sys.executable, "-m", "supernoded.ctl", "--socket", str(socket), "power", "timeline")
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE)
    async with asyncio.timeout(LONG):
        printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode().splitlines()


def find_line(lines: list[str], *words: str) -> int:
    """The number of the first line with all of these words."""
    found = [number for number, line in enumerate(lines) if all(word in line for word in words)]
    assert found, (words, lines)
    return found[0]


def is_durable(job: JobRow) -> bool:
    """Whether what was asked for is."""
    return job.request is not None and job.request.stage == "durable"


@pytest.mark.timeout(300)
async def test_a_sag_sheds_the_fans_and_costs_no_step(container: Path, tmp_path: Path, shared: Path) -> None:
    async with run_site(tmp_path, shared, AMPLE) as site, Launched(container, site.tiers.environment) as training:
        await site.until("shed.armed")
        await until_seen_armed(site.socket)
        await training.until_step(5)
        sagged_at = training.step
        await site.fail_mains(**{"for": SAG_S})
        job = await until_job(site.socket, is_durable, within=LONG)
        assert job.request is not None
        assert "no feed has mains" in job.request.reason
        assert (job.durable_step or 0) > sagged_at
        await training.go_on()
        assert training.said.count("ends") == 0
        await site.until("utility.restored")
        assert (site.count("utility.sag"), site.count("shed.fired"), site.count("node.power_lost")) == (2, 2, 0)
        lines = await tell_timeline(site.socket)
        stages = [("raised", "power/site"), ("ordered", "power.cap"), ("ordered", "job.checkpoint"), ("done", "job.checkpoint")]
        numbers = [find_line(lines, *words) for words in stages]
        assert numbers == sorted(numbers), lines
        assert find_line(lines, "seen", "pdu/A1", "pdu.event: armed -> fired") < numbers[-1]
        assert not [line for line in lines if line.startswith("+") and "pdu.armed: 0 -> 1" in line], lines  # that was before
    await expect_undisturbed(training)


@pytest.mark.timeout(300)
async def test_a_long_outage_stops_the_training_in_order_and_it_goes_on(container: Path, tmp_path: Path, shared: Path) -> None:
    async with run_site(tmp_path, shared, SHORT) as site, Launched(container, site.tiers.environment) as training:
        await training.until_step(5)
        await site.fail_mains()
        (ended,) = await training.hear_ranks("ends")
        last = training.step
        assert ended == f"ends after step {last}"
        job = await until_job(site.socket, lambda job: job.durable_step == last, within=LONG)
        assert (job.state, job.request is not None and job.request.kind) == ("stopped", "stop")
        assert site.count("ups.exhausted") == 0

        await site.restore_mains()
        await training.said.wait("^order resume$", within=BACK_WITHIN)
        assert await training.hear_ranks("begins", start=2) == {f"begins after step {last}"}
        await training.go_on()
        await until_job(site.socket, lambda job: job.state == "running")
    await expect_undisturbed(training)
