"""Readings through the endpoints, in virtual and in real time, and each way in which one can give nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sim_hardware.faults.reading import (
    LIMIT,
    TOOL_LIMIT,
    ClosedError,
    GarbledError,
    NoAnswerError,
    ReadingError,
    RefusedError,
    read_nut,
    read_oid,
    read_page,
    read_register,
    read_tree,
    run_tool,
)
from sim_hardware.rack import load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from tests.sim.faults.cases import Here, run, served

Read = Callable[[Rig], Awaitable[object]]

DESCRIPTION = "1.3.6.1.2.1.1.1.0"
READS: dict[str, Read] = {
    "nut": lambda rig: read_nut(rig, "A", "ups.serial"),
    "tcp": lambda rig: read_register(rig, "cdu/0", "cdu/0", "coolant.serial"),
    "serial": lambda rig: read_register(rig, "pdu/A1", "pdu/A1", "pdu.serial"),
    "page": lambda rig: read_page(rig, "n0/bmc", "Chassis/1"),
    "oid": lambda rig: read_oid(rig, "pdu/A1/snmp", DESCRIPTION),
}
DEVICES = {"nut": "ups/A", "tcp": "cdu/0", "serial": "pdu/A1", "page": "n0/bmc", "oid": "pdu/A1/snmp"}


async def read_everything(rig: Rig) -> None:
    assert await read_nut(rig, "A", "ups.status") == "OL"
    assert await read_nut(rig, "A", "no.such") is None
    assert await read_register(rig, "cdu/0", "cdu/0/pump0", "pump.state") == "running"
    assert await read_register(rig, "cdu/0", "cdu/0/pump3", "pump.speed") is None  # not fitted
    assert await read_register(rig, "cdu/0", "cdu/0", "coolant.leak") == 0.0  # a bit
    assert await read_register(rig, "cdu/0/rtu", "cdu/0", "coolant.control") == "auto"
    assert await read_register(rig, "ups/A/modbus", "ups/A", "ups.status") == frozenset({"OL"})
    assert await read_register(rig, "pdu/A1", "pdu/A1/outlet1", "outlet.state") == 1.0
    assert (await read_page(rig, "n0/bmc", "Systems/1"))["PowerState"] == "On"
    assert (await read_oid(rig, "ups/A/snmp", DESCRIPTION)) == b"Simulated UPS of feed A"
    assert (await read_oid(rig, "ups/A/snmp", "1.3.6.1.2.1.33.1.9.1.0")) == 230
    assert (await read_oid(rig, "ups/A/snmp", "1.3.6.1.2.1.33.1.99.0")) is None
    assert (await run_tool(rig, "n0", "npu-smi", "-v")).rc == 0
    assert await read_tree(rig, "n0", "infiniband/mlx5_0/ports/1/state") == "4: ACTIVE"


def test_reads_in_virtual_time() -> None:
    async def main() -> None:
        async with served() as rig:
            await read_everything(rig)

    run(main())


@asynccontextmanager
async def served_really() -> AsyncIterator[Rig]:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    rig = Rig(World(load_rack("rack-1x8"), 1, lambda: loop.time() - begun), Path("/lines"))
    async with rig.serve(Here()):
        yield rig


async def test_reads_in_real_time() -> None:
    async with served_really() as rig:
        await read_everything(rig)


def expect(problem: type[ReadingError], read: Read, impair: Callable[[Rig], object], within: float) -> Coroutine[Any, Any, None]:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with served() as rig:
            impair(rig)
            begun = loop.time()
            with pytest.raises(ReadingError) as error:
                await read(rig)
            assert type(error.value) is problem
            assert loop.time() - begun <= within

    return main()


@pytest.mark.parametrize("name", READS)
def test_silence_is_its_own_result_and_takes_no_second(name: str) -> None:
    run(expect(NoAnswerError, READS[name], lambda rig: setattr(rig.impairment(DEVICES[name]), "silent", True), LIMIT + 0.2))


@pytest.mark.parametrize("name", ["nut", "tcp", "page"])
def test_a_closed_door_is_no_silence(name: str) -> None:
    run(expect(ClosedError, READS[name], lambda rig: setattr(rig.impairment(DEVICES[name]), "refusing", True), 0.2))


def test_a_refusal_is_no_silence() -> None:
    run(expect(RefusedError, READS["nut"], lambda rig: setattr(rig.impairment("ups/A"), "stale", True), 0.2))
    run(expect(RefusedError, lambda rig: read_page(rig, "n0/bmc", "Chassis/9"), lambda _: None, 0.2))
    run(expect(RefusedError, lambda rig: read_tree(rig, "n0", "net/eth99/mtu"), lambda _: None, 0.2))


@pytest.mark.parametrize("name", ["serial", "page"])
def test_garbled_bytes_are_no_silence(name: str) -> None:
    run(expect(GarbledError, READS[name], lambda rig: setattr(rig.impairment(DEVICES[name]), "garbled", 1.0), LIMIT + 0.2))


def test_a_program_that_hangs_is_left() -> None:
    async def read(rig: Rig) -> object:
        return await run_tool(rig, "n0", "npu-smi", "-v")

    run(expect(NoAnswerError, read, lambda rig: setattr(rig.tools["n0"].impair("npu-smi"), "hang", True), TOOL_LIMIT))


@pytest.mark.parametrize(
    "read",
    [
        lambda rig: read_register(rig, "cdu/0", "cdu/0", "coolant.taste"),
        lambda rig: read_register(rig, "n0/bmc", "n0", "node.power"),
        lambda rig: read_page(rig, "n9/bmc", "Chassis/1"),
        lambda rig: run_tool(rig, "n9", "npu-smi"),
        lambda rig: read_tree(rig, "n9", "net"),
    ],
)
def test_what_is_not_there_is_said(read: Read) -> None:
    run(expect(ReadingError, read, lambda _: None, 0.2))


def test_a_probe_waits_until_a_line_is_quiet() -> None:
    """Two readings at once do not talk into each other."""

    async def main() -> None:
        async with served() as rig:
            await read_register(rig, "pdu/A1", "pdu/A1", "pdu.serial")
            await read_register(rig, "ups/A/modbus", "ups/A", "ups.serial")
            assert rig.lines["/lines/feed-A"].record.counts["bytes.collided"] == 0

    run(main())
