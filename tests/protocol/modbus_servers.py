"""Modbus servers of others, each behind a pseudo-terminal of its own, as the units of a simulated line.

The line paces what they say and does to it whatever is wrong with it; a server itself is asked at once, so that this holds in virtual
time too.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
import tty
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from pymodbus import FramerType
from pymodbus.server import ModbusSerialServer
from pymodbus.simulator import DataType, SimData, SimDevice

from sim_hardware.bus import Reply
from sim_hardware.bus.rtu import decode_frame, encode_frame
from tests.plugins.modbus.torture import SIZE, UNITS, Served, expect_word
from tests.protocol.libmodbus import Station

BAUD = 115200  # which a pseudo-terminal does not mind
PATIENCE = 20.0  # seconds for an answer that must come
LOOK = 0.2  # seconds from one question to the next while a server starts
READ_ONE = bytes((3, 0, 0, 0, 1))
BROADCAST = 0


def is_request(pdu: bytes) -> bool:
    """Not an answer of the other unit, under a wrong number; of such a one a server says nothing, or waits for more of it."""
    count = int.from_bytes(pdu[3:5], "big")
    match pdu[0]:
        case 1 | 2 | 3 | 4:
            return len(pdu) == 5 and 1 <= count <= (2000 if pdu[0] < 3 else 125)
        case 5 | 6:
            return len(pdu) == 5
        case 16:
            return len(pdu) == 6 + 2 * count
        case _:
            return False


class Lead:
    """What leads to one server: a whole frame goes in, a whole frame comes out."""

    def __init__(self, ours: int) -> None:
        self._ours = ours

    def ask(self, unit: int, pdu: bytes) -> Reply | None:
        """What it answers; None where none is due."""
        if not is_request(pdu):
            return None
        os.write(self._ours, encode_frame(unit, pdu))
        answer = None if unit == BROADCAST else self._read(PATIENCE)
        return None if answer is None else Reply(answer)

    def wait(self, unit: int) -> None:
        """Until the server serves this unit. What it was asked before it listened is lost, or answered late."""
        while True:
            os.write(self._ours, encode_frame(unit, READ_ONE))
            if self._read(LOOK) is not None:
                break
        while select.select([self._ours], [], [], LOOK)[0]:
            os.read(self._ours, 512)

    def _read(self, within: float) -> bytes | None:
        came = b""
        while (adu := decode_frame(came)) is None:
            if not select.select([self._ours], [], [], within)[0]:
                assert within < PATIENCE, f"a server has not answered within {within:g} s; so far {came!r}"
                return None
            came += os.read(self._ours, 512)
        return adu.pdu


@contextmanager
def open_lead() -> Iterator[tuple[Lead, str]]:
    """A lead, and the path that its server opens."""
    ours, theirs = os.openpty()
    try:
        tty.setraw(theirs)
        yield Lead(ours), os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


class LibmodbusUnit:
    """A unit that libmodbus serves."""

    def __init__(self, lead: Lead, station: Station) -> None:
        self.unit, self._lead, self._station = station.unit, lead, station

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        return self._lead.ask(unit, pdu)

    async def see_words(self, address: int, count: int) -> Sequence[int]:
        return await self._station.see_words(address, count)

    async def see_coil(self, address: int) -> bool:
        return await self._station.see_coil(address)


@contextmanager
def serve_libmodbus() -> Iterator[list[LibmodbusUnit]]:
    """Both units, each in a thread of its own."""
    with ExitStack() as stack:
        units = []
        for unit in UNITS:
            lead, path = stack.enter_context(open_lead())
            station = Station(path, BAUD, unit, [expect_word(unit, place) for place in range(SIZE)])
            thread = threading.Thread(target=station.serve)
            thread.start()
            stack.callback(thread.join)
            stack.callback(station.end)
            lead.wait(unit)
            units.append(LibmodbusUnit(lead, station))
        yield units


class Pymodbus:
    """The server of pymodbus with both units, on a loop and in a thread of its own."""

    def __init__(self, path: str) -> None:
        self._path, self._ended = path, asyncio.Event()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self._serve(),))

    async def _serve(self) -> None:
        devices = [SimDevice(unit, (list_bits(), list_bits(), list_words(unit), list_words(unit))) for unit in UNITS]
        self.server = ModbusSerialServer(devices, framer=FramerType.RTU, port=self._path, baudrate=BAUD, ignore_missing_devices=True)
        await self.server.serve_forever(background=True)
        await self._ended.wait()
        stop: Callable[[], Awaitable[None]] = self.server.shutdown
        await stop()

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self._ended.set)
        self.thread.join()
        self.loop.close()

    def see(self, unit: int, code: int, address: int, count: int) -> list[int]:
        """What it holds, by the function code that reads it."""
        seeing = asyncio.run_coroutine_threadsafe(self.server.async_getValues(unit, code, address, count), self.loop)
        return [int(value) for value in seeing.result(PATIENCE)]


class PymodbusUnit:
    """A unit that pymodbus serves."""

    def __init__(self, unit: int, lead: Lead, server: Pymodbus) -> None:
        self.unit, self._lead, self._server = unit, lead, server

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        return self._lead.ask(unit, pdu)

    async def see_words(self, address: int, count: int) -> Sequence[int]:
        return self._server.see(self.unit, 3, address, count)

    async def see_coil(self, address: int) -> bool:
        return bool(self._server.see(self.unit, 1, address, 1)[0])


@contextmanager
def serve_pymodbus() -> Iterator[list[PymodbusUnit]]:
    """Both units."""
    with open_lead() as (lead, path):
        server = Pymodbus(path)
        server.thread.start()
        try:
            lead.wait(UNITS[0])
            yield [PymodbusUnit(unit, lead, server) for unit in UNITS]
        finally:
            server.end()


def list_bits() -> list[SimData]:
    """Coils, all off."""
    return [SimData(0, values=[False] * 16, datatype=DataType.BITS)]


def list_words(unit: int) -> list[SimData]:
    """Registers, no two alike."""
    return [SimData(0, values=[expect_word(unit, place) for place in range(SIZE)], datatype=DataType.REGISTERS)]


SERVERS: Mapping[str, Callable[[], AbstractContextManager[Sequence[Served]]]] = {"pymodbus": serve_pymodbus, "libmodbus": serve_libmodbus}
