"""`/sys/class/hwmon` of a node: one chip with its eight fans and five air temperatures.

Units and names: Documentation/hwmon/sysfs-interface.rst of the kernel. `pwmN` is 0 to 255; `pwmN_enable` is 0 for full speed,
1 for manual, 2 for automatic. The chip has one control for all its fans, so that each `pwmN_enable` sets all. A `pwmN` may be
written under manual control only, else EPERM, as drivers/hwmon/lm63.c has it.
"""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.attributes import Attribute, clip, constant, fail, give_order, parse_number, sense
from sim_hardware.plant.cooling.airing import PARTS
from sim_hardware.plant.cooling.orders import FanControl, SetFan, SetFanControl

CHIP = "simfan"  # the driver's name
FANS = 8
FULL = 255
OPEN = -128_000  # m°C of a diode that is not there
HOTTEST, STEP = 127_875, 125  # m°C: eleven bits of an eighth of a degree
FASTEST = 65_535  # rpm of the tachometer's register

_CONTROLS: Mapping[str, FanControl] = MappingProxyType({"0": "full", "1": "manual", "2": "auto"})
_PLACES = ("", "optics", "nic", "vrm", "dimm")  # of the air temperatures; the first is the inlet's
_LIMITS: Mapping[str, float] = MappingProxyType({part.name: part.limit for part in PARTS})  # C


def list_hwmon(node: str) -> Iterator[tuple[str, Attribute]]:
    """Every attribute below `/sys/class/hwmon`."""
    yield "hwmon0/name", constant(CHIP)
    for number in range(FANS):
        yield f"hwmon0/fan{number + 1}_input", _list_fan(node, number)
        yield f"hwmon0/pwm{number + 1}_enable", _list_enable(node)  # first, as who looks for writes now and then has to take them in order
        yield f"hwmon0/pwm{number + 1}", _list_pwm(node, number)
    for number, place in enumerate(_PLACES, start=1):
        quantity = f"air.temperature.{place}" if place else "air.temperature"
        yield f"hwmon0/temp{number}_input", _list_temperature(node, quantity)
        yield f"hwmon0/temp{number}_label", constant(place or "inlet")
        if place:
            yield f"hwmon0/temp{number}_crit", constant(str(round(_LIMITS[place] * 1000.0)))


def _list_fan(node: str, number: int) -> Attribute:
    def show(panel: Panel) -> str:
        rpm = _sense(panel, f"{node}/fan{number}", "fan.speed")
        return str(round(clip(rpm or 0.0, 0.0, FASTEST)))

    return Attribute(show)


def _list_pwm(node: str, number: int) -> Attribute:
    def show(panel: Panel) -> str:
        percent = _sense(panel, f"{node}/fan{number}", "fan.duty")
        if percent is None:
            fail(errno.EIO)
        return str(round(clip(percent, 0.0, 100.0) * FULL / 100.0))

    def store(panel: Panel, text: str) -> None:
        duty = parse_number(text)
        if duty > FULL:
            fail(errno.EINVAL)
        if sense(panel, node, "fan.control") != "manual":
            fail(errno.EPERM)
        give_order(panel, SetFan(node, number, duty * 100.0 / FULL))

    return Attribute(show, store)


def _list_enable(node: str) -> Attribute:
    def show(panel: Panel) -> str:
        control = sense(panel, node, "fan.control")
        return next((number for number, name in _CONTROLS.items() if name == control), "") or fail(errno.EIO)

    def store(panel: Panel, text: str) -> None:
        control = _CONTROLS.get(str(parse_number(text)))
        give_order(panel, SetFanControl(node, control or fail(errno.EINVAL)))

    return Attribute(show, store)


def _list_temperature(node: str, quantity: str) -> Attribute:
    def show(panel: Panel) -> str:
        celsius = _sense(panel, node, quantity)
        if celsius is None:
            return str(OPEN)
        return str(round(clip(celsius * 1000.0, OPEN, HOTTEST) / STEP) * STEP)

    return Attribute(show)


def _sense(panel: Panel, subject: str, quantity: str) -> float | None:
    """A number, endless ones too, or None where there is none. What is no number cannot be read: EIO."""
    value = sense(panel, subject, quantity)
    if value is None:
        return None
    if not isinstance(value, int | float) or math.isnan(value):
        fail(errno.EIO)
    return float(value)
