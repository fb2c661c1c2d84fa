"""The plugin on device paths, with real peers on the line: pymodbus's server, libmodbus, and simulated units with every fault."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer
from pymodbus.simulator import SimDevice

from sim_hardware.bus import Line as Bus
from sim_hardware.bus import LineFaults, Pace, serve_pty
from supernoded.clock import SystemClock
from supernoded.plugin import Line
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from tests.plugins.modbus.torture import SIZE, UNITS, Memory, Toll, Torture, expect_word, list_faults, make_units, torment
from tests.protocol.libmodbus import Station, serve_station
from tests.protocol.modbus_servers import SERVERS, list_bits, list_words

BAUD = 115200
TURNS = 25  # reads and writes under each fault

pytestmark = pytest.mark.usefixtures("quiet")


@asynccontextmanager
async def open_line(bus: Bus, folder: Path, query: str = "") -> AsyncIterator[Line]:
    """A device path on the bus, opened as on a machine of ours."""
    async with serve_pty(bus, folder / "master") as path:
        refusals: dict[str, str] = {}
        wires = SystemWires(Pen(refusals.get), "modbus")
        try:
            yield wires.line(f"serial://{path}?baud={BAUD}{query}")
        finally:
            await wires.close()


def list_byte_faults() -> Iterator[LineFaults]:
    """Those that any peer suffers, not only a simulated unit."""
    yield LineFaults()
    yield LineFaults(drop_bytes=0.003)
    yield LineFaults(flip=0.003)
    yield LineFaults(usb_ms=16.0)


async def ask_peers(bus: Bus, line: Line, memories: Sequence[Memory]) -> Toll:
    owner, units = make_units(line, BAUD, SystemClock())
    torture = Torture(units, memories, 1)
    for faults in list_byte_faults():
        bus.faults = faults
        for _ in range(TURNS):
            await torture.turn()
    bus.faults = LineFaults()
    torture.toll.kinds = owner.counts
    return torture.toll


def check(toll: Toll, right: int, written: int) -> None:
    assert toll.wrong == []
    assert toll.right >= right, toll
    assert toll.written >= written, toll


class Served:
    """A device of pymodbus's server, asked for what it holds."""

    def __init__(self, server: ModbusSerialServer, unit: int) -> None:
        self.unit, self._server = unit, server

    async def see_words(self, address: int, count: int) -> Sequence[int]:
        return [int(word) for word in await self._server.async_getValues(self.unit, 3, address, count)]

    async def see_coil(self, address: int) -> bool:
        return bool((await self._server.async_getValues(self.unit, 1, address, 1))[0])


@asynccontextmanager
async def serve_pymodbus(bus: Bus, folder: Path) -> AsyncIterator[list[Served]]:
    async with serve_pty(bus, folder / "pymodbus") as path, AsyncExitStack() as stack:
        devices = [SimDevice(unit, (list_bits(), list_bits(), list_words(unit), list_words(unit))) for unit in UNITS]
        server = ModbusSerialServer(devices, framer=FramerType.RTU, port=path, baudrate=BAUD, ignore_missing_devices=True)
        await server.serve_forever(background=True)
        stack.push_async_callback(server.shutdown)
        yield [Served(server, unit) for unit in UNITS]


async def test_two_units_of_pymodbus(tmp_path: Path) -> None:
    bus = Bus("peers", Pace(BAUD), 1)
    async with serve_pymodbus(bus, tmp_path) as memories, open_line(bus, tmp_path, "&adapter_ms=16") as line:
        check(await ask_peers(bus, line, memories), right=TURNS * 2, written=TURNS // 4)


async def test_two_units_of_libmodbus(tmp_path: Path) -> None:
    bus = Bus("peers", Pace(BAUD), 1)
    async with AsyncExitStack() as stack:
        stations = []
        for unit in UNITS:
            path = await stack.enter_async_context(serve_pty(bus, tmp_path / f"libmodbus{unit}"))
            station = Station(path, BAUD, unit, [expect_word(unit, place) for place in range(SIZE)])
            stations.append(await stack.enter_async_context(serve_station(station)))
        line = await stack.enter_async_context(open_line(bus, tmp_path, "&adapter_ms=16"))
        check(await ask_peers(bus, line, stations), right=TURNS, written=TURNS // 8)


@pytest.mark.parametrize("name", SERVERS)
async def test_every_fault_on_a_device_path(name: str, tmp_path: Path) -> None:
    """Servers of others; more of it in tests/long."""
    toll = await suffer(name, tmp_path, 1, 1)
    check(toll, right=5, written=1)
    assert {"timeouts", "strays"} <= set(toll.kinds)


async def suffer(name: str, folder: Path, exchanges: int, turns: int) -> Toll:
    bus = Bus("faults", Pace(BAUD), 1)
    with SERVERS[name]() as served:
        async with open_line(bus, folder, "&adapter_ms=16") as line:
            return await torment(bus, line, SystemClock(), exchanges, 1, turns=turns, served=served)


async def test_a_declared_echo_is_stripped_on_a_device_path(tmp_path: Path) -> None:
    def list_echoing() -> Iterator[LineFaults]:
        yield LineFaults(echo=True)
        yield LineFaults(echo=True, usb_ms=16.0)
        yield LineFaults(echo=True, duplicate=0.5)

    bus = Bus("echo", Pace(BAUD), 1)
    async with open_line(bus, tmp_path, "&adapter_ms=16&echo=yes") as line:
        toll = await torment(bus, line, SystemClock(), 1, 1, turns=20, faults=list_echoing)
    check(toll, right=40, written=3)
    assert toll.failed == toll.unwritten == 0


def test_the_faults_are_all_that_a_line_can_have() -> None:
    """So that a new one is not forgotten here."""
    seen = {
        name for faults in list_faults() for name in LineFaults.__dataclass_fields__ if getattr(faults, name) != getattr(LineFaults(), name)
    }
    assert seen == set(LineFaults.__dataclass_fields__)
