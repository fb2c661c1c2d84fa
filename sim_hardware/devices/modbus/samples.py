"""What a device has measured: a value is taken anew only as often as the device itself does."""

from __future__ import annotations

import math

from sim_hardware.devices.modbus.kinds import Raw, pack, pack_text, quantise
from sim_hardware.devices.modbus.layout import Field, Point
from sim_hardware.devices.modbus.maps import Register
from sim_hardware.devices.panel import Impairment, Panel
from sim_hardware.devices.reading import read
from sim_hardware.plant.words import Value

# what a device knows by itself: s since its start, two counts, and which of its sensors it does not trust
CLOCK, OUTLETS, BRANCHES, ALARMS = "device.clock", "device.outlets", "device.branches", "device.alarms"
_TRANSMITTERS = {
    "supply-sensor": "coolant.supply_temperature",
    "supply-2-sensor": "coolant.supply_temperature.2",
    "return-sensor": "coolant.return_temperature",
    "primary-sensor": "coolant.primary_temperature",
    "flow-sensor": "coolant.flow",
    "pressure-sensor": "coolant.pressure_difference",
    "level-sensor": "coolant.level",
    "leak-sensor": "coolant.leak",
}


class Samples:
    """The newest sample of each field. With a refresh time it stays for the rest of its period; periods begin at multiples of it."""

    def __init__(self, panel: Panel, impairment: Impairment, outlets: int, branches: int = 0) -> None:
        self._panel, self._impairment = panel, impairment
        self._counts = {OUTLETS: float(outlets), BRANCHES: float(branches)}
        self._taken: dict[Field, tuple[int, Value]] = {}
        self._bits: dict[Point, bool] = {}
        self._stuck: dict[Field, int] = {}  # sticky bits

    def show(self, field: Field) -> tuple[int, ...]:
        """The words that a field with a quantity shows."""
        spec, value = field.spec, self._take(field)
        if spec.kind == "text":
            return pack_text(value if isinstance(value, str) else "", spec.length)
        raw = make_raw(value, spec)
        if spec.sticky and isinstance(raw, int):
            raw = self._stuck[field] = self._stuck.get(field, 0) | raw
        return pack(raw, spec.kind, spec.order)

    def unstick(self, field: Field) -> None:
        """Clear the sticky bits of a field."""
        self._stuck.pop(field, None)

    def is_true(self, point: Point) -> bool:
        """Whether a bit is set."""
        if point not in self._bits or not self._impairment.stale:
            shown = bool(point.spec.quantity) and self.sense(point.subject, point.spec.quantity) == point.spec.true
            self._bits[point] = shown
        return self._bits[point]

    def sense(self, subject: str, quantity: str) -> Value:
        """A value just now; None for a sensor that is not there."""
        if quantity == CLOCK:
            return self._panel.now()
        if quantity in self._counts:
            return self._counts[quantity]
        if quantity == ALARMS:
            return self._impairment.alarms | {flag for flag, of in _TRANSMITTERS.items() if _is_broken(read(self._panel, subject, of))}
        return read(self._panel, subject, quantity)

    def _take(self, field: Field) -> Value:
        period = field.spec.refresh_s
        turn = math.floor(self._panel.now() / period) if period else -1
        old = self._taken.get(field)
        if old is not None and (self._impairment.stale or (period and old[0] == turn)):
            return old[1]
        value = self.sense(field.subject, field.spec.quantity)
        self._taken[field] = (turn, value)
        return value


def _is_broken(value: Value) -> bool:
    """Whether a transmitter gives nothing, which a device knows of."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def make_raw(value: Value, spec: Register) -> Raw:
    """The raw number of any value; what is none of its sort is shown as no value."""
    if isinstance(value, str):
        number: float | None = spec.words.get(value)
        return quantise(number, spec.kind, sentinel=spec.sentinel)
    if isinstance(value, frozenset):
        return quantise(_make_bitmap(value, spec), spec.kind, sentinel=spec.sentinel)
    return quantise(None if spec.words or spec.flags else value, spec.kind, spec.scale, spec.offset, spec.sentinel)


def _make_bitmap(flags: frozenset[str], spec: Register) -> int | None:
    """Flags without a bit are left out, as by a device that knows no better."""
    if spec.flags == ("numbers",):
        return sum(1 << (int(flag) - 1) for flag in flags if flag.isdecimal() and 1 <= int(flag) <= 64)
    return sum(1 << spec.flags.index(flag) for flag in flags if flag in spec.flags) if spec.flags else None
