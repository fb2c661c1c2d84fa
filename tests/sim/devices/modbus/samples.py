"""Units over a panel whose values are set by hand."""

from __future__ import annotations

import struct

from sim_hardware.devices.modbus import Unit, load_map
from sim_hardware.devices.modbus.maps import RegisterMap, read_map
from sim_hardware.plant.words import Value
from tests.sim.devices.panels import FakePanel

HEAD = """
text = "Test"
vendor = "Supernode"
product = "T-1"
revision = "1"
serial = "coolant.serial"
"""


def make_unit(name: str, subject: str = "cdu/0", values: dict[tuple[str, str], Value] | None = None) -> tuple[Unit, FakePanel]:
    panel = FakePanel(values=dict(values or {}))
    return Unit(panel, load_map(name), subject), panel


def make_map(body: str) -> RegisterMap:
    return read_map((HEAD + body).encode(), "test")


def make_custom(body: str, values: dict[tuple[str, str], Value] | None = None) -> tuple[Unit, FakePanel]:
    panel = FakePanel(values=dict(values or {}))
    return Unit(panel, make_map(body), "cdu/0"), panel


def read(unit: Unit, address: int, count: int = 1, function: int = 3) -> tuple[int, ...]:
    answer = unit.answer(1, struct.pack(">BHH", function, address, count))
    assert answer is not None
    assert answer[:2] == bytes((function, 2 * count)), answer.hex()
    return struct.unpack(f">{count}H", answer[2:])


def read_f32(unit: Unit, address: int, function: int = 4) -> float:
    """A float with swapped words."""
    low, high = read(unit, address, 2, function)
    number: float = struct.unpack(">f", struct.pack(">HH", high, low))[0]
    return number


def read_bits(unit: Unit, address: int, count: int, function: int = 1) -> list[bool]:
    answer = unit.answer(1, struct.pack(">BHH", function, address, count))
    assert answer is not None
    assert answer[0] == function, answer.hex()
    return [bool(answer[2 + place // 8] >> place % 8 & 1) for place in range(count)]


def write(unit: Unit, address: int, *words: int) -> bytes | None:
    if len(words) == 1:
        return unit.answer(1, struct.pack(">BHH", 6, address, words[0]))
    return unit.answer(1, struct.pack(f">BHHB{len(words)}H", 16, address, len(words), 2 * len(words), *words))


def switch(unit: Unit, address: int, on: bool, station: int = 1) -> bytes | None:
    return unit.answer(station, struct.pack(">BHH", 5, address, 0xFF00 if on else 0))


def refused(code: int, function: int = 6) -> bytes:
    return bytes((function | 0x80, code))
