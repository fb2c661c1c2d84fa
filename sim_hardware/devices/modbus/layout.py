"""A map laid out for one device: every register and bit at its address."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sim_hardware.devices.modbus.actions import ORDERS
from sim_hardware.devices.modbus.kinds import count_words, find_range
from sim_hardware.devices.modbus.maps import Bit, MapError, Register, RegisterMap

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Field:
    """A register of one device."""

    spec: Register
    name: str
    address: int
    number: int
    subject: str
    size: int
    node: str = ""  # of a branch


@dataclass(frozen=True, eq=False)
class Point:
    """A bit of one device."""

    spec: Bit
    address: int
    number: int
    subject: str


@dataclass(frozen=True)
class Layout:
    """Fields and points by table and address; a field stands at each address that it takes."""

    fields: dict[tuple[str, int], Field]
    points: dict[tuple[str, int], Point]
    names: dict[str, Field]


def lay_out(register_map: RegisterMap, subject: str, outlets: Sequence[int] = (), branches: Sequence[str] = ()) -> Layout:
    """Put a map to a device; `branches` are the nodes of its loop.

    Raises MapError where two things stand at one address, or a register cannot be what it says.
    """
    layout = Layout({}, {}, {})
    for spec in register_map.registers:
        _check(spec)
        for number, address in _number(spec, outlets, len(branches)):
            size = count_words(spec.kind, spec.length)
            name = spec.name if number < 0 else f"{spec.name}.{number}"
            node = branches[number] if spec.each == "branch" else ""
            field = Field(spec, name, address, number, _fill(spec.subject, subject, number).replace("{node}", node), size, node)
            layout.names[field.name] = field
            for place in range(address, address + size):
                _put(layout.fields, spec.table, place, field, spec.name)
    for bit in register_map.bits:
        _check_actions(bit)
        for number, address in _number(bit, outlets):
            _put(layout.points, bit.table, address, Point(bit, address, number, _fill(bit.subject, subject, number)), bit.name)
    return layout


def _number(spec: Register | Bit, outlets: Sequence[int], branches: int = 0) -> Iterator[tuple[int, int]]:
    """Number and address of each; -1 where there is one without a number."""
    if spec.each == "branch":
        yield from ((number, spec.address + number * spec.stride) for number in range(branches))
    elif spec.each:
        yield from ((number, spec.address + (number - 1) * spec.stride) for number in outlets)
    elif spec.count is not None:
        yield from ((number, spec.address + number * spec.stride) for number in range(spec.count))
    else:
        yield -1, spec.address


def _fill(template: str, subject: str, number: int) -> str:
    return template.replace("{subject}", subject).replace("{n}", str(number))


def _put(places: dict[tuple[str, int], T], table: str, address: int, thing: T, name: str) -> None:
    if address > 0xFFFF:
        raise MapError(f"{name}: {table} {address} is beyond 65535")
    if (table, address) in places:
        raise MapError(f"{name}: {table} {address} is taken already")
    places[table, address] = thing


def _check(spec: Register) -> None:
    if spec.kind == "text":
        if spec.writable or spec.words or spec.flags:
            raise MapError(f"{spec.name}: a text has neither writes nor words nor flags")
        return
    low, high = find_range(spec.kind)
    if not spec.scale or not math.isfinite(spec.scale):
        raise MapError(f"{spec.name}: scale {spec.scale:g}; a finite number other than 0 is due")
    if spec.sentinel is not None and not low <= spec.sentinel <= high:
        raise MapError(f"{spec.name}: sentinel {spec.sentinel:g} is no {spec.kind}, which is {low:g} to {high:g}")
    if spec.writable and spec.table == "input":
        raise MapError(f"{spec.name}: an input register cannot be written; move it to holding")
    _check_actions(spec)


def _check_actions(spec: Register | Bit) -> None:
    for action in spec.write:
        order = ORDERS.get(action.order)
        if order is None:
            raise MapError(f"{spec.name}: no order {action.order}; there are {', '.join(sorted(ORDERS))}")
        given = {*action.set, *([action.value] if action.value else [])}
        if strange := given - set(order.__struct_fields__):
            raise MapError(f"{spec.name}: {action.order} has no {min(strange)}; it has {', '.join(order.__struct_fields__)}")
