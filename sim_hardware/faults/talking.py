"""Exchanges on a line, as its wire saw them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim_hardware.bus import Line, Passed
from sim_hardware.bus.rtu import Adu, decode_frame, encode_frame
from sim_hardware.devices.modbus import SerialDevice
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import Ear, ReadingError, listen

WAIT_S = 0.3  # for an answer: ten times what the slowest unit takes for eight registers (ours)
_UNKNOWN_FUNCTION = bytes((0x55,))


@dataclass(frozen=True)
class Talk:
    """One request and what followed. `chunks` are what a master heard and when; `pieces` what was on the wire, said and heard."""

    unit: int
    request: bytes
    begun: float
    chunks: tuple[tuple[float, bytes], ...]
    pieces: tuple[Passed, ...]
    bursts: int  # of a USB adapter

    @property
    def heard(self) -> bytes:
        """What a master heard behind its own words."""
        return b"".join(data for _, data in self.chunks).removeprefix(self.request)

    @property
    def echoed(self) -> bool:
        """Whether it heard its own words."""
        return b"".join(data for _, data in self.chunks).startswith(self.request)

    @property
    def answer(self) -> Adu | None:
        """What was answered, when that was a whole frame."""
        return decode_frame(self.heard)

    @property
    def is_good(self) -> bool:
        """Whether the unit that was asked has answered well."""
        return self.answer is not None and self.answer.unit == self.unit


Test = Callable[[Talk], bool]


def find_line(place: Place) -> Line:
    """The line that is the target. Raises ReadingError."""
    for line in place.rig.lines.values():
        if line.name == place.short:
            return line
    raise ReadingError(f"{place.target}: no such line")


def list_units(place: Place) -> list[SerialDevice]:
    """Who is on it, in the order of their ids."""
    line = find_line(place)
    found = [device for device in place.rig.devices.values() if isinstance(device, SerialDevice) and device.line is line]
    return sorted(found, key=lambda device: device.number)


def ask_serial(device: SerialDevice) -> bytes:
    """The request for its serial number."""
    field = next(field for field in device.unit.layout.fields.values() if field.spec.quantity == device.unit.map.serial)
    return struct.pack(">BHH", 3 if field.spec.table == "holding" else 4, field.address, field.size)


def ask_nonsense(_: SerialDevice) -> bytes:
    """A function that no unit has, so that it answers with an exception."""
    return _UNKNOWN_FUNCTION


async def talk(device: SerialDevice, pdu: bytes, wait_s: float = WAIT_S) -> Talk:
    """Ask, and listen until a whole frame has come and been followed by silence, or for so long."""
    line, ear, loop = device.line, Ear(), asyncio.get_running_loop()
    port = await listen(line, ear)
    request, begun, bursts = encode_frame(device.number, pdu), loop.time(), line.record.counts["bursts.usb"]
    try:
        port.write(request)
        until = begun + wait_s
        while loop.time() < until:
            try:
                async with asyncio.timeout_at(until):
                    await ear.wait()
            except TimeoutError:
                break
            if decode_frame(ear.data.removeprefix(request)) is not None:
                until = min(until, loop.time() + 2.0 * line.pace.t35 + line.pace.time_of(40))
    finally:
        port.close()
    pieces = tuple(piece for piece in line.record.pieces if piece.end > begun)
    return Talk(device.number, request, begun, tuple(ear.chunks), pieces, line.record.counts["bursts.usb"] - bursts)


async def any_talk(
    devices: Sequence[SerialDevice], ask: Callable[[SerialDevice], bytes], test: Test, tries: int = 1, wait_s: float = WAIT_S
) -> bool:
    """Whether one of so many exchanges with each unit passes the test. Raises ReadingError when there is no unit."""
    if not devices:
        raise ReadingError("nobody is on the line who could be asked")
    for _ in range(tries):
        for device in devices:
            if test(await talk(device, ask(device), wait_s)):
                return True
    return False
