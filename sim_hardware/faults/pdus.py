"""Faults of a PDU as a whole: all of its ways to be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from sim_hardware.devices.modbus import SerialDevice
from sim_hardware.devices.panel import Impairment
from sim_hardware.faults.kind import WIRE, Kind, Nothing
from sim_hardware.faults.place import Place
from sim_hardware.faults.power import read_outlet
from sim_hardware.faults.probing import hangs
from sim_hardware.faults.reading import ReadingError, read_register

_WRITE_COIL = 5


def _list_ways(place: Place) -> Iterator[Impairment]:
    for name, device in place.rig.devices.items():
        if name == place.target or name.startswith(f"{place.target}/"):
            yield device.impairment


def _silence(place: Place, *, silent: bool) -> None:
    for impairment in _list_ways(place):
        impairment.silent = silent


def _idle(place: Place, *, idle: bool) -> None:
    """Orders that were acknowledged before this moment do not count."""
    place.replace("since", asyncio.get_running_loop().time())
    for impairment in _list_ways(place):
        impairment.idle_orders = idle


async def _read_serial(place: Place) -> object:
    return await read_register(place.rig, place.target, place.target, "pdu.serial")


async def _see_idle(place: Place, _: Nothing) -> bool:
    """The newest order to an outlet that it acknowledged on its line was not carried out; without any such it does not show."""
    device = place.rig.find_device(place.target)
    if not isinstance(device, SerialDevice):
        raise ReadingError(f"{place.target}: is on no line")
    since, talker = place.recall("since") or 0.0, f"unit {device.number}"
    said = [piece.said for piece in device.line.record.pieces if piece.talker == talker and piece.start >= since]
    told = [frame for frame in said if len(frame) == 8 and frame[1] == _WRITE_COIL]
    for frame in reversed(told):
        address, wanted = int.from_bytes(frame[2:4], "big"), "On" if frame[4] else "Off"
        point = device.unit.layout.points.get(("coil", address))
        if point is not None and point.spec.quantity == "outlet.state":
            return await read_outlet(place, point.subject, "PowerState") != wanted
    return False


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="pdu.silent",
        text="A PDU answers nobody, whatever it is asked by; its outlets stay as they are.",
        parameters=Nothing,
        targets=("pdu",),
        inject=lambda place, _: _silence(place, silent=True),
        lift=lambda place, _: _silence(place, silent=False),
        probe=hangs(_read_serial),
        layers=WIRE,
    ),
    Kind(
        kind="pdu.ack_no_action",
        text="A PDU acknowledges orders and does nothing; it shows once an outlet was told something on its line.",
        parameters=Nothing,
        targets=("pdu",),
        inject=lambda place, _: _idle(place, idle=True),
        lift=lambda place, _: _idle(place, idle=False),
        probe=_see_idle,
        takes_out=False,
        layers=WIRE,
    ),
)
