"""All lines and units of one daemon, opened once whichever hook asks first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from supernoded.plugin import Node, PluginError, WireError
from supernoded_modbus.bus import Bus, Pace
from supernoded_modbus.coolant import Cdu, Coolant, CoolantRecord
from supernoded_modbus.devices import Device, list_devices
from supernoded_modbus.maps import RegisterMap, load_map
from supernoded_modbus.member import Member
from supernoded_modbus.pdu import ShedPdu
from supernoded_modbus.places import find_clash, lay_out
from supernoded_modbus.settings import ModbusSettings
from supernoded_modbus.unit import Unit

LENT = 16  # registers of one read over a line that the reflex process lends: some 19 fit at 115200 baud beside a deadline of 20 ms (ours)


@dataclass(frozen=True)
class Site:
    """What is served. Nothing is opened on a line before it is first asked for something."""

    settings: ModbusSettings
    buses: dict[str, Bus] = field(default_factory=dict)  # by the line's own name
    units: dict[str, tuple[Device, Unit]] = field(default_factory=dict)  # by the device's name
    cdus: dict[str, Cdu] = field(default_factory=dict)  # those that take orders here, by the device's name

    def list_pdus(self) -> Iterator[ShedPdu]:
        """The PDUs that take orders here."""
        for device, unit in self.units.values():
            if device.pdu is not None and device.orders:
                yield ShedPdu(unit, device.pdu)


def find_site(settings: ModbusSettings, node: Node) -> Site:
    """The site of this daemon: sensors, handles and actuators come from three hooks and must share each line's one owner.

    Raises WireError for a wire that is none, PluginError for a map.
    """
    site = node.shared.get(Site)
    if not isinstance(site, Site) or site.settings is not settings:
        site = node.shared[Site] = _build(settings, node)
    return site


def _build(settings: ModbusSettings, node: Node) -> Site:
    site, maps = Site(settings), dict[str, RegisterMap]()
    for device in list_devices(settings, node.topology):
        place = device.place
        register_map = maps.get(place.map) or maps.setdefault(place.map, load_map(place.map, settings.maps_folder))
        register_map = fit_map(register_map, place.line)
        bus = _open(site, device, node)
        member = Member(place.unit, device.subject, register_map)
        bus.join(member)
        outlets = [outlet.number for outlet in device.pdu.outlets] if device.pdu is not None else []
        places = lay_out(register_map, device.subject, outlets, device.branches)
        clash = find_clash(places)
        if clash:
            raise PluginError(f"{device.subject}: register map {place.map} does not fit its outlets: {clash}; look at their numbers")
        if device.orders and any(device.subject == other.subject and other.orders for other, _ in site.units.values()):
            raise WireError(
                f"{device.subject}: two wires for its orders; orders of plugins.modbus.views may be true where the topology has none"
            )
        unit = Unit(member, register_map, places, bus, node.clock, place.serial)
        site.units[device.name] = device, unit
        if device.loop is not None and device.orders:
            record = CoolantRecord(device.subject, node.wires.tree(str(node.state.absolute())))
            site.cdus[device.name] = Cdu(Coolant(unit, device.loop, device.branches, record, device.scope))
    return site


def fit_map(register_map: RegisterMap, line: str) -> RegisterMap:
    """On a line that the reflex process lends, reads are short: a long answer would stand in the way of a firing."""
    return msgspec.structs.replace(register_map, most=min(register_map.most, LENT)) if line.startswith("reflex://") else register_map


def _open(site: Site, device: Device, node: Node) -> Bus:
    line = node.wires.line(device.place.line)
    pace = Pace(device.place.baud, device.place.tcp)
    bus = site.buses.setdefault(line.name, Bus(line, pace, node.clock))
    if bus.pace != pace or bus.line is not line:
        raise WireError(f"{device.subject}: {line.name} is named with another speed or framing by another device of that line")
    return bus
