"""The Modbus devices of a whole rack, and the lines they hang on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim_hardware.bus import Line, Pace
from sim_hardware.devices.modbus.maps import load_map
from sim_hardware.devices.modbus.serial import SerialDevice
from sim_hardware.devices.modbus.tcp import TcpDevice
from sim_hardware.devices.modbus.unit import Unit
from sim_hardware.devices.panel import Panel
from sim_hardware.rack.shape import SimLoop

CDU_PACE = Pace(19200)  # the public facts of Meta's RPU: 19200, no parity
CDU_UNIT, UPS_UNIT = 12, 247  # the RPU's own id; the UPS of a feed has the last id, its PDUs count from 1


@dataclass(frozen=True)
class Site:
    """Lines by the path at which they are to be opened, and the devices."""

    lines: dict[str, Line]
    devices: tuple[TcpDevice | SerialDevice, ...]


def build_site(panel: Panel, folder: str, seed: int) -> Site:
    """A CDU has a TCP port (`cdu/0`) and a line of its own (`cdu/0/rtu`); all PDUs and the UPS of a feed share one line.

    Raises MapError for a map that is not there.
    """
    lines: dict[str, Line] = {}
    devices = (*_build_cdus(panel, folder, seed, lines), *_build_feeds(panel, folder, seed, lines))
    return Site(lines, devices)


def _build_cdus(panel: Panel, folder: str, seed: int, lines: dict[str, Line]) -> Iterator[TcpDevice | SerialDevice]:
    over_line = load_map("rpu")
    for loop in panel.rack.loops:
        map_name = panel.rack.sim.loops.get(loop.name, SimLoop()).map
        over_tcp = load_map(map_name)
        path = f"{folder}/{loop.name}"
        line = lines[path] = Line(loop.name, CDU_PACE, seed)
        yield TcpDevice(loop.subject, map_name, Unit(panel, over_tcp, loop.subject), seed=seed)
        yield SerialDevice(f"{loop.subject}/rtu", "rpu", Unit(panel, over_line, loop.subject), line, CDU_UNIT, path, seed)


def _build_feeds(panel: Panel, folder: str, seed: int, lines: dict[str, Line]) -> Iterator[SerialDevice]:
    rack = panel.rack
    pace = Pace(rack.sim.power.feed_baud)
    pdu_map, ups_map = load_map("pdu"), load_map("ups")
    for feed in sorted({*(pdu.feed for pdu in rack.pdus), *(ups.name for ups in rack.ups)}):
        path = f"{folder}/feed-{feed}"
        line = lines[path] = Line(f"feed-{feed}", pace, seed)
        for number, pdu in enumerate((pdu for pdu in rack.pdus if pdu.feed == feed), start=1):
            yield SerialDevice(f"pdu/{pdu.name}", "pdu", Unit(panel, pdu_map, f"pdu/{pdu.name}"), line, number, path, seed)
        if any(ups.name == feed for ups in rack.ups):
            yield SerialDevice(f"ups/{feed}/modbus", "ups", Unit(panel, ups_map, f"ups/{feed}"), line, UPS_UNIT, path, seed)
