"""Debian's upsd plays an outage to a real daemon, which asks a real training: nothing on mains, a save on battery, a stop at low."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from supernoded.messages import IncidentFilter, Incidents, JobRow, ReadingFilter, Readings
from tests.protocol.upsd import Upsd
from tests.system.daemons import NOBODY, Daemon
from tests.system.training.launched import LONG, Launched
from tests.system.training.site import Tiers, Vault, until_job

KEYS = """
mode = "act"
topology = "{topology}"
plugins_off = ["ascend", "fabric", "hwmon", "ipmi", "kubernetes", "modbus", "nvidia", "redfish", "slurm", "snmp", "thermal"]
"""
TABLES = """
[vault.interval]
ask = false  # whatever is asked for is asked for by power
[plugins.nut]
poll_s = 0.2
[plugins.power]
stop_s = 5.0  # the least of both
margin_s = 10.0
"""
TOPOLOGY = """
[[nodes]]
name = "n0"
cards = 4
feeds = ["A"]
[[ups]]
name = "A"
wire = "nut://127.0.0.1:{port}/rack"
"""
UPS = """\
ups.status: {status}
ups.realpower: 900
input.voltage: {volts}
input.voltage.nominal: 230
battery.charge: {charge}
battery.runtime: {seconds}
"""
FILE = "rack.dev"
ON_LINE = UPS.format(status="OL", volts=230.4, charge=100, seconds=1800)
ON_BATTERY = UPS.format(status="OB DISCHRG", volts=0, charge=96, seconds=1700)
LOW = UPS.format(status="OB DISCHRG LB", volts=0, charge=9, seconds=14)


def name_power(told: Incidents) -> set[str]:
    return {one.kind for one in told.incidents if one.kind.startswith("power.")}


@dataclass
class Site:
    """A daemon whose one UPS is behind upsd, with a vault."""

    upsd: Upsd
    daemon: Daemon
    tiers: Tiers

    async def play(self, text: str) -> None:
        """The UPS says so from now on, and the daemon has read it."""
        self.upsd.change(FILE, text)
        flags = frozenset(text.splitlines()[0].partition(": ")[2].lower().split())
        wanted = ReadingFilter(subject="ups/A", quantity="ups.status")
        await self.daemon.until("readings", Readings, lambda told: any(one.value == flags for one in told.readings), wanted)

    async def list_power(self) -> set[str]:
        """What of power is open."""
        return name_power(await self.daemon.ask("incidents", Incidents, IncidentFilter()))


@asynccontextmanager
async def run_site(folder: Path, shared: Path, file: str = FILE, text: str = ON_LINE) -> AsyncIterator[Site]:
    """A UPS that says what is in this file, and a daemon that is ready."""
    upsd, topology = Upsd(folder / "nut"), folder / "topology.toml"
    upsd.folder.mkdir()
    upsd.add("rack", file, text)
    topology.write_text(TOPOLOGY.format(port=upsd.port))
    tiers = Tiers(shared / "tier", folder / "disk", folder / "daemon" / "run" / "job.sock")
    tables = NOBODY + tiers.describe() + TABLES
    async with Daemon(folder / "daemon", tables, KEYS.format(topology=topology)) as daemon:
        try:
            await upsd.start()
            await daemon.start()
            async with Vault(daemon.file).running():
                yield Site(upsd, daemon, tiers)
        finally:
            await upsd.stop()


def is_durable(job: JobRow) -> bool:
    """Whether what was asked for is."""
    return job.request is not None and job.request.stage == "durable"


@pytest.mark.timeout(180)
async def test_an_outage_that_dummy_ups_plays(container: Path, tmp_path: Path, shared: Path) -> None:
    async with run_site(tmp_path, shared) as site, Launched(container, site.tiers.environment) as training:
        await training.until_step(5)
        await site.play(ON_LINE)
        await training.go_on(50)
        job = await until_job(site.daemon.socket, lambda job: job.state == "running")
        assert (job.request, job.durable_step, await site.list_power()) == (None, None, set())

        lost_at = training.step
        await site.play(ON_BATTERY)
        job = await until_job(site.daemon.socket, is_durable, within=LONG)
        assert job.request is not None
        assert ("no feed has mains" in job.request.reason, job.request.kind) == (True, "checkpoint")
        assert (job.durable_step or 0) > lost_at
        assert await site.list_power() == {"power.outage"}
        await site.play(ON_LINE)  # a near miss
        await training.go_on(50)
        assert (await until_job(site.daemon.socket, is_durable)).state == "running"
        assert await site.list_power() <= {"power.outage"}  # which is over when they are back to stay

        await site.play(ON_BATTERY)
        await training.go_on()
        assert training.said.count("ends") == 0
        await site.play(LOW)
        (ended,) = await training.hear_ranks("ends")
        last = training.step
        assert ended == f"ends after step {last}"
        job = await until_job(site.daemon.socket, lambda job: job.durable_step == last, within=LONG)
        assert (job.state, job.request is not None and job.request.kind) == ("stopped", "stop")
        assert training.turns == []
        assert await site.daemon.stop() == 0
