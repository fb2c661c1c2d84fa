"""What a driver shows of its UPS, as NUT's variables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.plant.words import Value

Dialect = Literal["absent", "minus-one", "zero"]  # how a driver shows what it does not know: all three are in the field
LEAST, MOST = -(2.0**31), 2.0**32 - 1.0  # what fits into the registers that drivers read
_UNKNOWN = {"minus-one": "-1", "zero": "0"}

# as drivers print it: ALARM is put in front, the line state comes first of the rest
_ORDER = ("ALARM", "FSD", "OL", "OB", "DISCHRG", "CHRG", "LB", "OVER", "RB", "TRIM", "BOOST", "BYPASS", "OFF", "CAL", "TEST", "ECO")
_RESULTS = {
    "none": "No test initiated",
    "running": "In progress",
    "passed": "Done and passed",
    "failed": "Done and error",
    "aborted": "Aborted",
}
_ALARMS = {"RB": "Replace the battery!", "OVER": "Output overloaded!", "LB": "Battery is low!", "OFF": "Output is off!"}


class Row(msgspec.Struct, frozen=True):
    """A variable, the quantity behind it, and its decimals; None for a text."""

    name: str
    quantity: str
    decimals: int | None
    text: str


ROWS = (
    Row("battery.charge", "ups.charge", 0, "Charge of the battery, in percent"),
    Row("battery.runtime", "ups.runtime", 0, "Runtime left on battery, in seconds"),
    Row("battery.temperature", "ups.battery_temperature", 1, "Temperature of the battery, in degrees Celsius"),
    Row("battery.voltage", "ups.battery_voltage", 1, "Voltage of the battery, in volts"),
    Row("device.model", "ups.model", None, "Model of the device"),
    Row("device.serial", "ups.serial", None, "Serial number of the device"),
    Row("input.frequency", "ups.input_frequency", 1, "Frequency of the input, in hertz"),
    Row("input.voltage", "ups.input_voltage", 1, "Voltage of the input, in volts"),
    Row("output.current", "ups.output_current", 2, "Current of the output, in amperes"),
    Row("output.power", "ups.output_va", 0, "Apparent power of the output, in voltamperes"),
    Row("output.realpower", "ups.output_power", 0, "Real power of the output, in watts"),
    Row("output.voltage", "ups.output_voltage", 1, "Voltage of the output, in volts"),
    Row("ups.firmware", "ups.firmware", None, "Version of its firmware"),
    Row("ups.load", "ups.load", 0, "Load, in percent of the rating"),
    Row("ups.model", "ups.model", None, "Model of the UPS"),
    Row("ups.power", "ups.output_va", 0, "Apparent power, in voltamperes"),
    Row("ups.power.nominal", "ups.rated_va", 0, "Rated apparent power, in voltamperes"),
    Row("ups.realpower", "ups.output_power", 0, "Real power, in watts"),
    Row("ups.realpower.nominal", "ups.rated_power", 0, "Rated real power, in watts"),
    Row("ups.serial", "ups.serial", None, "Serial number of the UPS"),
)
PHASES = tuple(
    row
    for phase in ("L1", "L2", "L3")
    for row in (
        Row(f"input.{phase}-N.voltage", f"ups.input_voltage.{phase}", 1, f"Voltage of input {phase}, in volts"),
        Row(f"output.{phase}.power.percent", f"ups.load.{phase}", 0, f"Load of {phase}, in percent of the rating"),
    )
)
OTHERS = {
    "device.mfr": "Maker of the device",
    "device.type": "Sort of device",
    "driver.name": "Name of the driver",
    "input.phases": "How many phases the input has",
    "input.voltage.nominal": "Rated voltage of the input, in volts",
    "output.voltage.nominal": "Rated voltage of the output, in volts",
    "ups.alarm": "Alarms that stand",
    "ups.mfr": "Maker of the UPS",
    "ups.status": "Status flags",
    "ups.test.result": "Result of the newest test of the battery",
    "ups.timer.shutdown": "Seconds until the output goes off; -1 when it stays on",
    "ups.type": "Sort of UPS",
}
TEXTS = {row.name: row.text for row in (*ROWS, *PHASES)} | OTHERS


def show(value: Value, decimals: int | None, dialect: Dialect) -> str | None:
    """The value as a driver prints it: what is no number it does not know, what is beyond reason it passes on. None: no such variable."""
    if isinstance(value, str):
        return value  # a driver passes on what its UPS says, also where a number should be
    if isinstance(value, frozenset):
        return " ".join(sorted(value))
    if value is None or not math.isfinite(value):
        return None if decimals is None else _UNKNOWN.get(dialect)
    return f"{min(max(value, LEAST), MOST):z.{decimals or 0}f}"


def show_status(value: Value) -> str:
    """Flags in the order of the drivers; unknown ones at the end. Empty when nothing is known, as in the field."""
    if isinstance(value, str):
        return value
    if not isinstance(value, frozenset):
        return ""
    return " ".join(sorted(value, key=lambda flag: (_ORDER.index(flag) if flag in _ORDER else len(_ORDER), flag)))


def list_variables(panel: Panel, ups: str, dialect: Dialect) -> dict[str, str]:
    """All that the UPS itself says, by name, in no order."""
    return {name: text for name, text in _read_all(panel, f"ups/{ups}", dialect) if text is not None}


def _read_all(panel: Panel, subject: str, dialect: Dialect) -> Iterator[tuple[str, str | None]]:
    power = panel.rack.sim.power
    for row in (*ROWS, *(PHASES if power.ups.phases == 3 else ())):
        yield row.name, show(read(panel, subject, row.quantity), row.decimals, dialect)
    status = read(panel, subject, "ups.status")
    if status is not None or dialect != "absent":
        yield "ups.status", show_status(status)
    if isinstance(status, frozenset) and "ALARM" in status:
        words = " ".join(text for flag, text in _ALARMS.items() if flag in status)
        yield "ups.alarm", str(read(panel, subject, "ups.alarm") or words or "UPS fault!")
    result = read(panel, subject, "ups.test_result")
    yield "ups.test.result", _RESULTS.get(result, result) if isinstance(result, str) else None
    yield "input.phases", str(power.ups.phases)
    yield "input.voltage.nominal", f"{power.volts:.0f}"
    yield "output.voltage.nominal", f"{power.volts:.0f}"
    yield "ups.type", "online" if power.ups.kind == "online" else "offline / line interactive"
    for name in ("device.mfr", "ups.mfr"):
        yield name, "Simulated"
    yield "device.type", "ups"
    yield "driver.name", "supernode-sim"
