"""Debian's net-snmp tools against the simulated UPS and PDU."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator

import pytest

from sim_hardware.devices.snmp import SnmpServer, make_pdu_agent, make_ups_agent
from sim_hardware.plant.power.orders import StartTest, SwitchOutlet
from sim_hardware.plant.words import Order, Value
from tests.sim.devices.panels import FakePanel

UPS, RPDU, RPDU2 = "1.3.6.1.2.1.33.1", "1.3.6.1.4.1.318.1.1.12", "1.3.6.1.4.1.318.1.1.26"
VALUES: dict[tuple[str, str], Value] = {
    ("ups/A", "ups.charge"): 87.0,
    ("ups/A", "ups.runtime"): 610.0,
    ("ups/A", "ups.status"): frozenset({"OL", "CHRG"}),
    ("pdu/A1", "pdu.power"): 5321.0,
    ("pdu/A1/outlet1", "outlet.state"): "on",
    ("pdu/A1/outlet2", "outlet.state"): "on",
}


class Strip(FakePanel):
    """In real time; its outlets switch at once."""

    def now(self) -> float:
        return time.monotonic()

    def order(self, order: Order) -> None:
        super().order(order)
        if isinstance(order, SwitchOutlet):
            self.values[f"pdu/{order.pdu}/outlet{order.outlet}", "outlet.state"] = "on" if order.on else "off"


async def run(program: str, where: str, *arguments: str, version: str = "2c", community: str = "private") -> tuple[int | None, list[str]]:
    """Its exit code, and the lines that it said, with numeric names and bare values."""
    path = shutil.which(program)
    assert path is not None, f"{program} is not installed: `make test` installs it (Debian: apt-get install snmp)"
    how = ("-v", version, "-c", community, "-m", "", "-O", "nqte", "-t", "1", "-r", "1")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(path, *how, where, *arguments, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
    async with asyncio.timeout(20):
        said, _ = await process.communicate()
    return process.returncode, said.decode().splitlines()


async def read(where: str, oid: str) -> str:
    code, lines = await run("snmpget", where, oid)
    assert (code, len(lines)) == (0, 1), lines
    return lines[0].split(" ", 1)[1]


class Bench:
    def __init__(self, ups: SnmpServer, pdu: SnmpServer, panel: FakePanel, urls: tuple[str, str]) -> None:
        self.ups, self.pdu, self.panel = ups, pdu, panel
        self.ups_at, self.pdu_at = (url.removeprefix("snmp://") for url in urls)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    panel = Strip(values=dict(VALUES))
    ups, pdu = make_ups_agent(panel, "A"), make_pdu_agent(panel, "A1")
    async with ups.serve("127.0.0.1") as first, pdu.serve("127.0.0.1") as second:
        yield Bench(ups, pdu, panel, (first, second))


@pytest.mark.parametrize(("program", "version"), [("snmpwalk", "1"), ("snmpwalk", "2c"), ("snmpbulkwalk", "2c")])
async def test_a_walk_reads_all_there_is(bench: Bench, program: str, version: str) -> None:
    for where, root, expected in (
        (bench.ups_at, "1.3.6.1.2.1.33", {f".{UPS}.2.4.0 87", f".{UPS}.2.3.0 10", f".{UPS}.2.5.0 -1", f".{UPS}.4.1.0 3"}),
        (bench.pdu_at, "1.3.6.1.4.1.318", {f".{RPDU}.3.5.1.1.4.1 1", f".{RPDU2}.9.2.3.1.5.1 2", f".{RPDU2}.9.2.4.1.5.1 1"}),
    ):
        code, lines = await run(program, where, root, version=version, community="public")
        assert (code, expected - set(lines)) == (0, set())
        assert len(lines) > 50


async def test_an_outlet_switches_and_shows_it_two_seconds_later(bench: Bench) -> None:
    command, state = f"{RPDU2}.9.2.4.1.5.1", f"{RPDU2}.9.2.3.1.5.1"
    assert await read(bench.pdu_at, state) == "2"
    assert (await run("snmpset", bench.pdu_at, command, "i", "2"))[0] == 0
    told = time.monotonic()
    assert bench.panel.orders == [SwitchOutlet(pdu="A1", outlet=1, on=False, delay_s=0.1)]
    assert await read(bench.pdu_at, state) == "2"
    async with asyncio.timeout(10):
        while await read(bench.pdu_at, state) == "2":
            pass
    assert time.monotonic() - told > 1.4
    assert await read(bench.pdu_at, f"{RPDU}.3.5.1.1.4.1") == "2"


async def test_the_older_tree_by_version_1(bench: Bench) -> None:
    code, _ = await run("snmpset", bench.pdu_at, f"{RPDU}.3.3.1.1.4.2", "i", "2", version="1")
    assert (code, bench.panel.orders) == (0, [SwitchOutlet(pdu="A1", outlet=2, on=False, delay_s=0.1)])
    code, lines = await run("snmpset", bench.pdu_at, f"{RPDU}.3.3.1.1.4.2", "i", "9", version="1")
    assert (code, any("badValue" in line for line in lines)) == (2, True)
    code, lines = await run("snmpset", bench.pdu_at, f"{RPDU}.3.3.1.1.4.2", "i", "1", community="public")
    assert (code, any("noAccess" in line for line in lines)) == (2, True)
    assert len(bench.panel.orders) == 1


async def test_a_test_of_the_battery(bench: Bench) -> None:
    code, _ = await run("snmpset", bench.ups_at, f"{UPS}.7.1.0", "o", f"{UPS}.7.7.4")
    assert (code, bench.panel.orders) == (0, [StartTest(ups="A", kind="selftest")])


async def test_a_value_of_the_wrong_type_does_not_end_the_walk(bench: Bench) -> None:
    bench.ups.agent.mib.mistyped[1, 3, 6, 1, 2, 1, 33, 1, 2, 4] = "ticks"
    code, lines = await run("snmpwalk", bench.ups_at, f"{UPS}.2")
    assert (code, len(lines)) == (0, 6)


async def test_a_silent_agent_is_no_answer(bench: Bench) -> None:
    bench.ups.impairment.silent = True
    code, lines = await run("snmpget", bench.ups_at, f"{UPS}.2.4.0", "-t", "0.1")
    assert (code, any("Timeout" in line for line in lines)) == (1, True)
