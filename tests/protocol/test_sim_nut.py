"""Debian's NUT clients against the simulated UPS."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator

import pytest

from sim_hardware.devices.nut import NutServer
from sim_hardware.plant.power.orders import StartTest
from sim_hardware.plant.words import Value
from tests.sim.devices.panels import FakePanel

VALUES: dict[str, Value] = {
    "ups.charge": 87.0,
    "ups.input_voltage": 230.0,
    "ups.load": 37.4,
    "ups.model": 'A "quoted" model',
    "ups.status": frozenset({"OL", "CHRG"}),
}
PROVEN = ("-u", "admin", "-p", "simulated")


async def run(program: str, *arguments: str) -> tuple[int | None, str]:
    """Its exit code, and all that it said."""
    path = shutil.which(program)
    assert path is not None, f"{program} is not installed: `make test` installs it (Debian: apt-get install nut-client)"
    process = await asyncio.create_subprocess_exec(path, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    async with asyncio.timeout(20):
        said, _ = await process.communicate()
    return process.returncode, said.decode()


class Bench:
    """A server that listens, and what the clients call it."""

    def __init__(self, url: str, server: NutServer, panel: FakePanel) -> None:
        self.server, self.panel = server, panel
        self.host = url.removeprefix("nut://").split("/")[0]
        self.ups = f"ups-a@{self.host}"


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    panel = FakePanel(values={("ups/A", quantity): value for quantity, value in VALUES.items()})
    server = NutServer(panel, "A")
    async with server.serve("127.0.0.1") as url:
        yield Bench(url, server, panel)


async def test_upsc_lists_and_reads(bench: Bench) -> None:
    assert (await run("upsc", "-l", bench.host))[1].splitlines()[-1] == "ups-a"
    code, said = await run("upsc", bench.ups)
    lines = said.splitlines()
    assert code == 0
    assert {"battery.charge: 87", "ups.status: OL CHRG", 'ups.model: A "quoted" model', "ups.delay.shutdown: 20"} <= set(lines)
    assert (await run("upsc", bench.ups, "ups.load"))[1].splitlines()[-1] == "37"


async def test_upsc_tells_of_stale_data_and_of_a_driver_that_does_not_run(bench: Bench) -> None:
    bench.server.impairment.stale = True
    code, said = await run("upsc", bench.ups)
    assert (code, "Data stale" in said) == (1, True)
    bench.server.impairment.stale = False
    bench.server.unit.connected = False
    code, said = await run("upsc", bench.ups)
    assert (code, "Driver not connected" in said) == (1, True)


async def test_upscmd_starts_a_test_with_the_right_password_alone(bench: Bench) -> None:
    code, said = await run("upscmd", "-l", bench.ups)
    assert (code, "test.battery.start.quick - Begin a quick test of the battery" in said) == (0, True)
    code, said = await run("upscmd", "-u", "admin", "-p", "wrong", bench.ups, "test.battery.start.quick")
    assert (code, "ACCESS-DENIED" in said, bench.panel.orders) == (1, True, [])
    code, said = await run("upscmd", *PROVEN, bench.ups, "test.battery.start.quick")
    assert (code, said.splitlines()[-1]) == (0, "OK")
    assert bench.panel.orders == [StartTest(ups="A", kind="selftest")]


async def test_upscmd_waits_for_the_driver(bench: Bench) -> None:
    waiting = asyncio.ensure_future(run("upscmd", "-w", *PROVEN, bench.ups, "test.battery.start.deep"))
    while not bench.panel.orders:
        await asyncio.sleep(0)
    bench.panel.time = 1.0
    code, said = await waiting
    assert (code, said.splitlines()[-1]) == (0, "SUCCESS")


async def test_upsrw_lists_and_writes(bench: Bench) -> None:
    code, said = await run("upsrw", bench.ups)
    lines = said.splitlines()
    assert (code, lines[lines.index("[battery.charge.low]") + 2]) == (0, "Type: RANGE NUMBER")
    code, said = await run("upsrw", "-s", "battery.charge.low=35", *PROVEN, bench.ups)
    assert (code, said.splitlines()[-1]) == (0, "OK")
    assert bench.server.unit.settings["battery.charge.low"] == "35"
    code, said = await run("upsrw", "-s", "battery.charge.low=99", *PROVEN, bench.ups)
    assert (code, "INVALID-VALUE" in said) == (1, True)
