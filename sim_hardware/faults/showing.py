"""Where any sensor shows: the device of a rig that has it, and how it is read there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from sim_hardware.devices.nut.variables import PHASES, ROWS
from sim_hardware.faults.reading import GarbledError, ReadingError, find_register, pick, read_nut, read_page, read_register
from sim_hardware.faults.views import find_port
from sim_hardware.plant.words import Value
from sim_hardware.rig import Rig

_NODE: Mapping[str, str] = MappingProxyType(
    {
        "node.watts": "Power",
        "air.temperature": "Inlet",
        "air.temperature.optics": "Optics",
        "air.temperature.nic": "NIC",
        "air.temperature.vrm": "VRM",
        "air.temperature.dimm": "DIMM",
        "coolant.supply_temperature": "CoolantSupply",
        "coolant.return_temperature": "CoolantReturn",
        "coolant.flow": "CoolantFlow",
    }
)
_CARD: Mapping[str, str] = MappingProxyType({"card.temperature": "Temperature", "card.power": "Power"})
_FAN: Mapping[str, str] = MappingProxyType({"fan.speed": "Speed", "fan.duty": "Duty"})
_PROCESSOR: Mapping[str, str] = MappingProxyType({"card.serial": "SerialNumber", "card.chip": "Model", "card.firmware": "FirmwareVersion"})
_PORT: Mapping[str, str] = MappingProxyType({"link.speed": "CurrentSpeedGbps", "link.width": "ActiveWidth"})
_METRICS: Mapping[str, tuple[str | int, ...]] = MappingProxyType(
    {
        "link.receive_errors": ("RXErrors",),
        "link.discards": ("RXDiscards",),
        "link.rx_power": ("Transceivers", 0, "RXInputPowerMilliWatts"),
        "link.tx_power": ("Transceivers", 0, "TXOutputPowerMilliWatts"),
        "link.bias": ("Transceivers", 0, "TXBiasCurrentMilliAmps"),
        "link.voltage": ("Transceivers", 0, "SupplyVoltage"),
    }
)


async def read_sensor(rig: Rig, subject: str, quantity: str) -> Value:
    """What a device shows of a sensor; None where it shows that there is no value. Raises ReadingError."""
    for look in _list_ways(rig, subject, quantity):
        return await look()
    raise ReadingError(f"{subject}: no device shows its {quantity} that a probe could read")


def _list_ways(rig: Rig, subject: str, quantity: str) -> Iterator[Callable[[], Awaitable[Value]]]:
    if subject.startswith("ups/"):
        for row in (*ROWS, *PHASES):
            if row.quantity == quantity:
                yield partial(_read_nut, rig, subject, row.name, number=row.decimals is not None)
    for device in sorted(rig.devices, key=lambda name: name.count("/")):
        if find_register(rig, device, subject, quantity) is not None:
            yield partial(read_register, rig, device, subject, quantity)
    found = _find_page(rig, subject, quantity)
    if found is not None:
        yield partial(_read_page, rig, f"{subject.partition('/')[0]}/bmc", *found)


async def _read_nut(rig: Rig, subject: str, variable: str, *, number: bool) -> Value:
    text = await read_nut(rig, subject.removeprefix("ups/"), variable)
    if text is None or not number:
        return text
    try:
        return float(text)
    except ValueError as error:
        raise GarbledError(f"{subject}: {variable} is {text!r}, no number") from error


async def _read_page(rig: Rig, device: str, path: str, keys: tuple[str | int, ...]) -> Value:
    value = pick(await read_page(rig, device, path), *keys)
    return float(value) if isinstance(value, int | float) else value if isinstance(value, str) else None


def _find_page(rig: Rig, subject: str, quantity: str) -> tuple[str, tuple[str | int, ...]] | None:
    """The path of a page, and the keys on it."""
    node, _, part = subject.partition("/")
    if all(node != one.name for one in rig.world.rack.nodes):
        return None
    sensor = _name_sensor(part, quantity)
    if sensor:
        return f"Chassis/1/Sensors/{sensor}", ("Reading",)
    slot = part.removeprefix("card")
    if quantity in _PROCESSOR and slot.isdecimal():
        return f"Systems/1/Processors/Card{slot}", (_PROCESSOR[quantity],)
    if "/" in part and quantity in _PORT:
        return find_port(subject), (_PORT[quantity],)
    if "/" in part and quantity in _METRICS:
        return f"{find_port(subject)}/Metrics", _METRICS[quantity]
    return None


def _name_sensor(part: str, quantity: str) -> str:
    """The name of a chassis sensor; empty when there is none."""
    if not part:
        return _NODE.get(quantity, "")
    number = part[len(part.rstrip("0123456789")) :]
    kind = part.removesuffix(number)
    if kind == "card" and quantity in _CARD:
        return f"Card{number}{_CARD[quantity]}"
    if kind == "fan" and quantity in _FAN:
        return f"Fan{number}{_FAN[quantity]}"
    return f"Airflow{number}" if (kind, quantity) == ("air", "air.flow") else ""
