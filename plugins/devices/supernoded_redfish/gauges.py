"""Sensors as services show them (Sensor of DSP0268, and older forms), in units of ours. Pure; never raises for what a service says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from supernoded_redfish.monitor import show
from supernoded_redfish.paths import read_number, read_text, walk_mappings

# Our unit by what is measured.
OUR_UNITS: Mapping[str, str] = {
    "temperature": "C",
    "flow": "L/min",
    "air": "m3/h",
    "pressure": "kPa",
    "power": "W",
    "heat": "W",
    "share": "%",
    "rotation": "rpm",
}
# What is measured, and in which unit where none is told, by ReadingType (Sensor of DSP0268).
TYPES: Mapping[str, tuple[str, str]] = {
    "Temperature": ("temperature", "cel"),
    "LiquidFlowLPM": ("flow", "l/min"),
    "LiquidFlow": ("flow", "l/s"),
    "AirFlowCMM": ("air", "m3/min"),
    "AirFlow": ("air", "[ft_i]3/min"),
    "PressurekPa": ("pressure", "kpa"),
    "PressurePa": ("pressure", "pa"),
    "Pressure": ("pressure", "pa"),
    "Heat": ("heat", "kw"),
    "Power": ("power", "w"),
    "Percent": ("share", "%"),
    "Valve": ("share", "%"),
    "Rotational": ("rotation", "rev/min"),
}
# Factor and offset to our unit, by the unit in UCUM, small and without braces (ReadingUnits).
UNITS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "temperature": {
        "cel": (1.0, 0.0),
        "c": (1.0, 0.0),
        "k": (1.0, -273.15),
        "[degf]": (5.0 / 9.0, -160.0 / 9.0),
        "degf": (5.0 / 9.0, -160.0 / 9.0),
    },
    "flow": {
        "l/min": (1.0, 0.0),
        "lpm": (1.0, 0.0),
        "l/s": (60.0, 0.0),
        "m3/h": (1000.0 / 60.0, 0.0),
        "[gal_us]/min": (3.785411784, 0.0),
    },
    "air": {
        "m3/h": (1.0, 0.0),
        "m3/min": (60.0, 0.0),
        "[ft_i]3/min": (1.69901082, 0.0),
        "[cft_i]/min": (1.69901082, 0.0),
        "cfm": (1.69901082, 0.0),
    },
    "pressure": {"kpa": (1.0, 0.0), "pa": (1e-3, 0.0), "bar": (100.0, 0.0), "mbar": (0.1, 0.0), "[psi]": (6.894757293, 0.0)},
    "power": {"w": (1.0, 0.0), "kw": (1e3, 0.0)},
    "heat": {"w": (1.0, 0.0), "kw": (1e3, 0.0)},
    "share": {"%": (1.0, 0.0)},
    "rotation": {"rev/min": (1.0, 0.0), "rpm": (1.0, 0.0), "/min": (1.0, 0.0)},
}
LONGEST_NAME = 100  # characters (ours)
_BRACES = str.maketrans("", "", "{} ")
_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_UPPER, _LOWER = ("UpperCaution", "UpperCritical", "UpperFatal"), ("LowerCaution", "LowerCritical", "LowerFatal")


class Gauge(NamedTuple):
    """One sensor. `value` is in our unit of its `kind`; None = not known, `note` says why."""

    name: str  # words of its Id and Name, small: `gpu 3 temp`
    context: str  # PhysicalContext
    kind: str
    value: float | None
    note: str
    stamp: str
    high: float | None = None  # its own upper limit


def parse_sensor(body: Mapping[str, object]) -> Gauge | None:
    """A Sensor resource; None where it measures nothing that we know."""
    kind, usual = TYPES.get(read_text(body.get("ReadingType")) or "", ("", ""))
    if not kind:
        return None
    unit = (read_text(body.get("ReadingUnits")) or usual).lower().translate(_BRACES)
    scale = UNITS[kind].get(unit)
    name, context = name_words(body.get("Id"), body.get("Name")), read_text(body.get("PhysicalContext")) or ""
    stamp = read_text(body.get("ReadingTime")) or ""
    if scale is None:
        return Gauge(name, context, kind, None, f"ReadingUnits is {show(body.get('ReadingUnits'))}, which is no unit of {kind}", stamp)
    number, note = read_number(body.get("Reading")), say_status(body)
    if number is None:
        note = note or f"Reading is {show(body.get('Reading'))}"
    value = None if note or number is None else number * scale[0] + scale[1]
    limit = _find_limit(body.get("Thresholds"))
    return Gauge(name, context, kind, value, note, stamp, None if limit is None else limit * scale[0] + scale[1])


def say_status(body: Mapping[str, object]) -> str:
    """Why a sensor is not to be believed by its own Status; empty = it may be, or tells none.

    A service shows the health of a sensor that has crossed a threshold as bad too: then its value speaks, and is believed.
    """
    status = body.get("Status")
    if not isinstance(status, Mapping):
        return ""
    state, health = status.get("State"), status.get("Health")
    if state not in ("Enabled", None):
        return f"its Status is {show(state)}"
    if health in ("OK", None) or _is_crossed(body):
        return ""
    return f"its health is {show(health)}"


def _is_crossed(body: Mapping[str, object]) -> bool:
    thresholds, reading = body.get("Thresholds"), read_number(body.get("Reading"))
    if not isinstance(thresholds, Mapping) or reading is None:
        return False
    upper, lower = ([read_number(thresholds.get(key)) for key in keys] for keys in (_UPPER, _LOWER))
    return any(limit is not None and reading >= limit for limit in upper) or any(limit is not None and reading <= limit for limit in lower)


def _find_limit(thresholds: object) -> float | None:
    if not isinstance(thresholds, Mapping):
        return None
    return min((limit for key in _UPPER if (limit := read_number(thresholds.get(key))) is not None), default=None)


def name_words(*names: object) -> str:
    """`fan0 speed` of `Fan0Speed`; each name once."""
    told = dict.fromkeys(" ".join(filter(None, _SPLIT.split(name[:LONGEST_NAME]))).lower() for name in names if isinstance(name, str))
    return " ".join(filter(None, told))


def parse_thermal(body: Mapping[str, object]) -> Iterator[Gauge]:
    """The older form (Thermal of DSP0268)."""
    for one in walk_mappings(body.get("Temperatures")):
        limits = {"UpperCritical": one.get("UpperThresholdCritical"), "UpperCaution": one.get("UpperThresholdNonCritical")}
        yield from _parse_old(one, "Temperature", one.get("ReadingCelsius"), limits)
    for one in walk_mappings(body.get("Fans")):
        percent = one.get("ReadingUnits") == "Percent"
        named = {**one, "Name": f"fan {one.get('Name') or one.get('FanName') or one.get('MemberId') or ''}"}
        yield from _parse_old(named, "Percent" if percent else "Rotational", one.get("Reading"), {})


def parse_metrics(body: Mapping[str, object]) -> Iterator[Gauge]:
    """The excerpts of ThermalMetrics (DSP0268)."""
    for one in walk_mappings(body.get("TemperatureReadingsCelsius")):
        name = one.get("DeviceName") or one.get("DataSourceUri")
        yield from _parse_old({**one, "Name": name}, "Temperature", one.get("Reading"), {})
    summary = body.get("TemperatureSummaryCelsius")
    intake = summary.get("Intake") if isinstance(summary, Mapping) else None
    if isinstance(intake, Mapping):
        yield from _parse_old({"Name": "inlet"}, "Temperature", intake.get("Reading"), {})


def _parse_old(one: Mapping[str, object], kind: str, reading: object, limits: Mapping[str, object]) -> Iterator[Gauge]:
    told = {key: one.get(key) for key in ("Name", "PhysicalContext", "Status")}
    gauge = parse_sensor({**told, "ReadingType": kind, "Reading": reading, "Thresholds": limits})
    if gauge is not None:
        yield gauge
