"""Asking any device of a rig something harmless, whatever it speaks."""

from __future__ import annotations

from sim_hardware.devices.kubernetes import ApiServer
from sim_hardware.devices.modbus import SerialDevice, TcpDevice
from sim_hardware.devices.modbus.layout import Field
from sim_hardware.devices.nut import NutServer
from sim_hardware.devices.redfish import RedfishDevice
from sim_hardware.devices.snmp import SnmpServer
from sim_hardware.faults.place import Place
from sim_hardware.faults.reading import ReadingError, ask_nut, pick, read_json, read_nut, read_oid, read_page, read_register, send_page

_UPTIME_OF_MAKER = "1.3.6.1.2.1.1.1.0"  # sysDescr
_LOST = "1.3.6.1.2.1.33.1.6.2.1.2.20"  # upsAlarmCommunicationsLost stands


async def ask_name(place: Place) -> str:
    """What never changes of a device: its serial number or description. Raises ReadingError."""
    rig, name = place.rig, place.target
    device = rig.find_device(name)
    if isinstance(device, NutServer):
        return f"{await read_nut(rig, place.short, 'ups.serial')}"
    if isinstance(device, SnmpServer):
        return f"{await read_oid(rig, name, _UPTIME_OF_MAKER)!r}"
    if isinstance(device, RedfishDevice):
        return f"{pick(await read_page(rig, name, _find_root(name)), 'Name')}"
    if isinstance(device, ApiServer):
        return f"{pick(await read_json(rig, name, '/version'), 'gitVersion')}"
    if isinstance(device, TcpDevice | SerialDevice):
        return f"{await read_register(rig, name, device.unit.subject, device.unit.map.serial)}"
    raise ReadingError(f"{name}: nobody knows how to ask it")


def _find_root(name: str) -> str:
    """The page of the equipment behind a Redfish service."""
    if name.startswith("cdu/"):
        return "ThermalEquipment/CDUs/1"
    return "PowerEquipment/RackPDUs/1" if name.startswith("pdu/") else "Chassis/1"


async def ask_freshness(place: Place) -> str:
    """Something that is another every second or so as long as a device's values are fresh. Raises ReadingError."""
    rig, name = place.rig, place.target
    device = rig.find_device(name)
    if isinstance(device, RedfishDevice):
        sensor = {"cdu": "Flow", "pdu": "Power"}.get(name.partition("/")[0], "Power")
        return f"{pick(await read_page(rig, name, f'{_find_root(name)}/Sensors/{sensor}'), 'ReadingTime')}"
    if isinstance(device, TcpDevice | SerialDevice):
        fields = [field for field in device.unit.layout.fields.values() if _is_lively(field)]
        if fields:
            return f"{await read_register(rig, name, fields[0].subject, fields[0].spec.quantity)}"
    raise ReadingError(f"{name}: shows nothing that always moves")


def _is_lively(field: Field) -> bool:
    return field.spec.quantity in {"device.clock", "coolant.heat"}


async def is_told_stale(place: Place) -> bool | None:
    """Whether a device says itself that its values are old; None when its protocol has no word for it. Raises ReadingError."""
    if isinstance(place.rig.find_device(place.target), SnmpServer) and place.target.startswith("ups/"):
        return await read_oid(place.rig, place.target, _LOST) is not None
    if isinstance(place.rig.find_device(place.target), NutServer):
        answers = await ask_nut(place.rig, place.short, f"GET VAR ups-{place.short.lower()} ups.status")
        return answers == ["ERR DATA-STALE"]
    return None


async def obeys(place: Place) -> bool:
    """Whether an order that changes nothing of the plant is carried out; it is taken back. Raises ReadingError."""
    rig, name = place.rig, place.target
    device = rig.find_device(name)
    if isinstance(device, NutServer):
        return await _obeys_nut(place, device)
    if isinstance(device, RedfishDevice) and name.startswith("pdu/"):
        listed = await read_page(rig, name, "PowerEquipment/RackPDUs/1/Outlets")
        path = str(pick(listed, "Members", 0, "@odata.id")).removeprefix("/redfish/v1/")
        delay = float(pick(await read_page(rig, name, path), "PowerOnDelaySeconds"))
        return await _set_and_restore(place, path, "PowerOnDelaySeconds", delay, delay + 1.0)
    if isinstance(device, RedfishDevice) and name.endswith("/bmc"):
        path = "Managers/1/Oem/Sim/LinkHealthMonitor"
        enabled = bool(pick(await read_page(rig, name, path), "Enabled"))
        return await _set_and_restore(place, path, "Enabled", enabled, not enabled)
    raise ReadingError(f"{name}: takes no order that changes nothing of the plant")


async def _obeys_nut(place: Place, device: NutServer) -> bool:
    """By the name that its owner has given it."""
    name, account = device.unit.name, device.unit.account
    before = await read_nut(place.rig, place.short, "ups.id") or ""
    login = (f"USERNAME {account.user}", f"PASSWORD {account.password}")
    await ask_nut(place.rig, place.short, *login, f'SET VAR {name} ups.id "probe"')
    done = await read_nut(place.rig, place.short, "ups.id") == "probe"
    await ask_nut(place.rig, place.short, *login, f'SET VAR {name} ups.id "{before}"')
    return done


async def _set_and_restore(place: Place, path: str, key: str, before: float | bool, other: float | bool) -> bool:
    await send_page(place.rig, place.target, path, {key: other})
    done = bool(pick(await read_page(place.rig, place.target, path), key) == other)
    await send_page(place.rig, place.target, path, {key: before})
    return done
