"""Registers and bits of a Modbus device, by what they show: the device's own layout knows the address."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from sim_hardware.devices.modbus import SerialDevice, TcpDevice
from sim_hardware.devices.modbus.kinds import pack, quantise, unpack
from sim_hardware.devices.modbus.layout import Field, Point
from sim_hardware.faults.reading.exchanges import exchange
from sim_hardware.faults.reading.problems import GarbledError, ReadingError, RefusedError
from sim_hardware.plant.words import Value
from sim_hardware.rig import Rig

_FUNCTIONS = {"coil": 1, "discrete": 2, "holding": 3, "input": 4}


def find_register(rig: Rig, device: str, subject: str, quantity: str) -> Field | Point | None:
    """Where a device shows a quantity; None when it does not, or speaks no Modbus."""
    return next(_find_all(rig, device, subject, quantity), None)


def _find_all(rig: Rig, device: str, subject: str, quantity: str) -> Iterator[Field | Point]:
    found = rig.devices.get(device)
    if isinstance(found, TcpDevice | SerialDevice):
        layout = found.unit.layout
        things: list[Field | Point] = [*layout.fields.values(), *layout.points.values()]
        for thing in things:
            if (thing.subject, thing.spec.quantity) == (subject, quantity):
                yield thing


async def read_register(rig: Rig, device: str, subject: str, quantity: str) -> Value:
    """What a device shows of a quantity; None for its sentinel. Raises ReadingError."""
    thing = find_register(rig, device, subject, quantity)
    if thing is None:
        raise ReadingError(f"{device}: has no register of {quantity} of {subject}")
    size = thing.size if isinstance(thing, Field) else 1
    function = _FUNCTIONS[thing.spec.table]
    answer = await exchange(rig, device, struct.pack(">BHH", function, thing.address, size))
    if answer[0] == function | 0x80:
        raise RefusedError(f"{device}: exception {answer[1:].hex()} to a read of {quantity}")
    data = answer[2:]
    if answer[0] != function or answer[1:2] != bytes((len(data),)) or len(data) != (2 * size if isinstance(thing, Field) else 1):
        raise GarbledError(f"{device}: {answer.hex()} is no answer to a read of {size} of {quantity}")
    return _decode(thing, data) if isinstance(thing, Field) else float(data[0] & 1)


def _decode(field: Field, data: bytes) -> Value:
    spec = field.spec
    words = struct.unpack(f">{field.size}H", data)
    if spec.kind == "text":
        return data.rstrip(b"\0").decode("ascii", "replace")
    raw = unpack(words, spec.kind, spec.order)
    if words == pack(quantise(None, spec.kind, sentinel=spec.sentinel), spec.kind, spec.order) or math.isnan(raw):
        return None
    if spec.words:
        return next((word for word, number in spec.words.items() if number == raw), f"{raw}")
    if spec.flags:
        names = spec.flags if spec.flags != ("numbers",) else tuple(str(bit + 1) for bit in range(16 * field.size))
        return frozenset(name for bit, name in enumerate(names) if int(raw) >> bit & 1)
    return raw * spec.scale + spec.offset
