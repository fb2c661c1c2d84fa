"""Sensor resources: values of the plant as Redfish shows them, with a state that says why there is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from sim_hardware.devices.redfish.board import Board, Sample, is_number, tell_time
from sim_hardware.devices.redfish.tree import Tree
from sim_hardware.devices.redfish.words import Body
from sim_hardware.plant.words import Value

_DIGITS = 3  # behind the decimal point


class Kind(NamedTuple):
    """What is measured (`ReadingType` of the Sensor schema, DSP0268), and its unit in UCUM."""

    reading: str
    units: str


TEMPERATURE = Kind("Temperature", "Cel")
POWER = Kind("Power", "W")
HEAT = Kind("Heat", "kW")
ENERGY = Kind("EnergykWh", "kW.h")
CURRENT = Kind("Current", "A")
VOLTAGE = Kind("Voltage", "V")
PERCENT = Kind("Percent", "%")
ROTATION = Kind("Rotational", "{rev}/min")
FLOW = Kind("LiquidFlowLPM", "L/min")
PRESSURE = Kind("PressurekPa", "kPa")
AIRFLOW = Kind("AirFlowCMM", "m3/min")


class Gauge(NamedTuple):
    """One sensor. Its reading is the plant's value times `scale`, or with `meter` the energy counted of it."""

    id: str
    kind: Kind
    subject: str
    quantity: str
    scale: float = 1.0
    meter: bool = False


class Gauges:
    """The Sensors collection of a piece of equipment."""

    def __init__(self, board: Board, owner: str, gauges: Iterable[Gauge]) -> None:
        self._board, self._path = board, f"{owner}/Sensors"
        self._gauges = {gauge.id: gauge for gauge in gauges}

    def add_to(self, tree: Tree) -> None:
        """Put the collection and its members into the tree."""
        tree.collect(self._path, "Sensor", self._gauges)
        for gauge in self._gauges.values():
            tree.add(f"{self._path}/{gauge.id}", "Sensor.v1_9_0.Sensor", partial(self._show, gauge))

    def _take(self, gauge: Gauge) -> Sample:
        return (self._board.count_energy if gauge.meter else self._board.read)(gauge.subject, gauge.quantity)

    def _show(self, gauge: Gauge) -> Body:
        value, at = self._take(gauge)
        return {
            "ReadingType": gauge.kind.reading,
            "ReadingUnits": gauge.kind.units,
            "Reading": show_number(value, gauge.scale),
            "ReadingTime": tell_time(at),
            "Status": show_status(value),
        }

    def quote(self, gauge: str) -> Body:
        """An excerpt of a sensor, for another resource."""
        known = self._gauges[gauge]
        return {"DataSourceUri": f"{self._path}/{gauge}", "Reading": show_number(self._take(known).value, known.scale)}


def show_number(value: Value, scale: float = 1.0) -> float | None:
    """None where there is no number to show."""
    return round(value * scale, _DIGITS) if is_number(value) else None


def show_count(value: Value) -> int | None:
    """A whole number, such as a counter; None where there is none."""
    return int(value) if is_number(value) else None


def show_text(value: Value) -> str | None:
    """None where there is no text."""
    return value if isinstance(value, str) else None


def show_health(value: Value, *, bad: bool = False) -> Body:
    """The status of something whose value is no number."""
    if value is None:
        return {"State": "Absent", "Health": None}
    return {"State": "Enabled", "Health": "Critical" if bad else "OK"}


def show_status(value: Value) -> Body:
    """A sensor that gives nothing is absent; one that gives no number is there, and offline."""
    if value is None or is_number(value):
        return show_health(value)
    return {"State": "UnavailableOffline", "Health": "Warning"}


def show_leak(value: Value) -> Body:
    """The state of a leak detector, `DetectorState` and `Status`."""
    wet = is_number(value) and value != 0
    state = ("Critical" if wet else "OK") if is_number(value) else "Unavailable"
    return {
        "LeakDetectorType": "Moisture",
        "DetectorState": state,
        "Status": {**show_status(value), **({"Health": "Critical"} if wet else {})},
    }
