"""Modbus devices: register maps are data, lines have one owner."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Actuator, Handle, Node, Sensor, hookimpl
from supernoded_modbus.arming import ShedHandle
from supernoded_modbus.coolant import list_coolant_actuators
from supernoded_modbus.sensors import LineSensor, make_sensors
from supernoded_modbus.settings import ModbusSettings
from supernoded_modbus.shedding import Shedding
from supernoded_modbus.site import find_site
from supernoded_modbus.switching import Switching


@hookimpl
def supernoded_settings() -> type[ModbusSettings]:
    """`[plugins.modbus]`."""
    return ModbusSettings


@hookimpl
def supernoded_sensors(settings: ModbusSettings, node: Node) -> Sequence[Sensor]:
    """Some for each device, one more for a CDU, and one for each line, which the scope of its first device looks after."""
    site, sensors, seen = find_site(settings, node), list[Sensor](), set[str]()
    for device, unit in site.units.values():
        sensors += make_sensors(device.name, device.scope, unit, settings.fastest_s)
        if unit.bus.line.name not in seen:
            seen.add(unit.bus.line.name)
            sensors.append(LineSensor(unit.bus, unit, device.scope, settings.line_s))
    return [*sensors, *(sensor for name, cdu in site.cdus.items() for sensor in cdu.list_sensors(name))]


@hookimpl
def supernoded_handles(settings: ModbusSettings, node: Node) -> Sequence[Handle]:
    """The arming of each PDU that can be armed, and what may be turned of each CDU."""
    site = find_site(settings, node)
    return [
        *(ShedHandle(pdu) for pdu in site.list_pdus() if pdu.can_shed),
        *(one for cdu in site.cdus.values() for one in cdu.list_handles()),
    ]


@hookimpl
def supernoded_actuators(settings: ModbusSettings, node: Node) -> Sequence[Actuator]:
    """One for armed groups, one for single outlets, one for the flow of loops and one for branches."""
    site = find_site(settings, node)
    pdus = tuple(site.list_pdus())
    armed, switched = [pdu for pdu in pdus if pdu.can_shed], [pdu for pdu in pdus if pdu.can_switch]
    actuators: list[Actuator] = [Shedding(armed, broadcast=settings.broadcast)] if armed else []
    actuators += [Switching(switched)] if switched else []
    return [*actuators, *list_coolant_actuators(tuple(site.cdus.values()))]
