"""What the parts of a cooling unit say (CoolingUnit, CoolantConnector, Pump, Reservoir and Sensor of DSP0268). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from supernoded_redfish.controls import AUTOMATIC, MANUAL, OVERRIDE, Control, is_authority, is_supply, parse_control
from supernoded_redfish.facts import Fact, Key
from supernoded_redfish.gauges import OUR_UNITS, Gauge, parse_sensor
from supernoded_redfish.monitor import show
from supernoded_redfish.paths import make_slug, name_last, place, read_number, read_text

Body = Mapping[str, object]
SUPPLY, SUPPLY_CONTROL = "coolant.supply_temperature", "SupplyTemperatureControlCelsius"
# What the connectors of each side show, with the factor to our unit.
SECONDARY: Mapping[str, tuple[str, str, float]] = {
    "SupplyTemperatureCelsius": (SUPPLY, "C", 1.0),
    "ReturnTemperatureCelsius": ("coolant.return_temperature", "C", 1.0),
    "FlowLitersPerMinute": ("coolant.flow", "L/min", 1.0),
    "DeltaPressurekPa": ("coolant.pressure_difference", "kPa", 1.0),
    "HeatRemovedkW": ("coolant.heat", "W", 1e3),
}
PRIMARY: Mapping[str, tuple[str, str, float]] = {
    "SupplyTemperatureCelsius": ("coolant.primary_temperature", "C", 1.0),
    "SupplyPressurekPa": ("coolant.primary_pressure", "kPa", 1.0),
    "FlowLitersPerMinute": ("coolant.primary_flow", "L/min", 1.0),
    "ValvePositionPercent": ("coolant.valve", "%", 1.0),
}
PUMP_STATES: Mapping[str, str] = {  # State of Status -> pump.state
    "Enabled": "running",
    "StandbyOffline": "off",
    "StandbySpare": "off",
    "Disabled": "off",
    "Starting": "starting",
    "UnavailableOffline": "tripped",
}
MODES: Mapping[str, str] = {AUTOMATIC: "auto", OVERRIDE: "setpoint", MANUAL: "direct"}  # of who controls the unit -> coolant.control
OWN_MODES: Mapping[str, str] = {AUTOMATIC: "setpoint", OVERRIDE: "setpoint", MANUAL: "direct"}  # of the setpoint itself
OWN_MODE = "own mode"  # of the setpoint; no quantity
_DIFFERENCE = re.compile(r"delta|differen|\bdp\b")


class Rule(NamedTuple):
    """A sensor of this kind whose name fits is this quantity."""

    kind: str
    named: re.Pattern[str]
    unless: re.Pattern[str]
    quantity: str


def _rule(kind: str, named: str, unless: str, quantity: str) -> Rule:
    return Rule(kind, re.compile(named), re.compile(unless or r"(?!)"), quantity)


_FIRST, _SET = r"primary|facility|\bfws\b|\bpcw\b|chilled", r"command|set ?point|target|asked|rated|alarm|limit"
RULES = (
    _rule("temperature", r"dew", "", "air.dew_point"),
    _rule("temperature", r"set ?point|target", rf"{_FIRST}|return|alarm|limit", "coolant.setpoint"),
    _rule("temperature", _FIRST, rf"return|outlet|delta|{_SET}", "coolant.primary_temperature"),
    _rule("temperature", r"return", rf"{_FIRST}|delta|{_SET}", "coolant.return_temperature"),
    _rule("temperature", r"supply.*(2|\bsecond\b|backup|redundant)", rf"{_FIRST}|delta|\bair\b|{_SET}", f"{SUPPLY}.2"),
    _rule("temperature", r"supply", rf"{_FIRST}|delta|\bair\b|{_SET}", SUPPLY),
    _rule("flow", _FIRST, _SET, "coolant.primary_flow"),
    _rule("flow", r"flow", rf"pump|leak|{_SET}", "coolant.flow"),
    _rule("pressure", r"delta|differen|\bdp\b", rf"{_FIRST}|filter|{_SET}", "coolant.pressure_difference"),
    _rule("pressure", _FIRST, rf"delta|differen|return|filter|{_SET}", "coolant.primary_pressure"),
    _rule("heat", r"", _SET, "coolant.heat"),
    _rule("share", r"valve", rf"bypass|{_SET}", "coolant.valve"),
    _rule("share", r"level", _SET, "coolant.level"),
)
_PUMP = re.compile(r"\bpump ?(\d+)")


def parse_unit_sensor(cdu: str, roles: Mapping[str, Key], path: str, body: Body) -> Iterator[Fact]:
    """A sensor of the unit: by the excerpt that links to it, else by what it measures and its name."""
    gauge = parse_sensor(body)
    key = None if gauge is None else roles.get(place(path)) or _name(cdu, gauge)
    if gauge is not None and key is not None:
        yield Fact(*key, gauge.value, OUR_UNITS[gauge.kind], gauge.note, gauge.stamp)


def _name(cdu: str, gauge: Gauge) -> Key | None:
    pump = _PUMP.search(gauge.name)
    if pump is not None:
        quantity = {"share": "pump.speed", "rotation": "pump.rpm"}.get(gauge.kind)
        return None if quantity is None else (f"{cdu}/pump{pump[1]}", quantity)
    for rule in RULES:
        if rule.kind == gauge.kind and rule.named.search(gauge.name) and not rule.unless.search(gauge.name):
            return cdu, rule.quantity
    return None


def parse_connector(cdu: str, excerpts: Mapping[str, tuple[str, str, float]], path: str, body: Body) -> Iterator[Fact]:
    """What a connector shows, and the setpoint that stands there."""
    for key, (quantity, unit, factor) in excerpts.items():
        if key in body:
            yield _quote(cdu, quantity, unit, body, key, factor)
    control = body.get(SUPPLY_CONTROL)
    if excerpts is SECONDARY and isinstance(control, Mapping):
        yield from _tell_supply(cdu, parse_control(path, control, SUPPLY_CONTROL, "Temperature"))


def parse_reservoir(cdu: str, path: str, body: Body) -> Iterator[Fact]:
    """How full it is."""
    del path
    if "FluidLevelPercent" in body:
        yield _quote(cdu, "coolant.level", "%", body, "FluidLevelPercent", 1.0)


def parse_pump(cdu: str, path: str, body: Body) -> Iterator[Fact]:
    """Whether it runs, how fast, and what it was told."""
    subject = f"{cdu}/pump{make_slug(name_last(path)).removeprefix('pump').strip('-')}"
    yield _tell_state(subject, body)
    speed = body.get("PumpSpeedPercent")
    if isinstance(speed, Mapping):
        yield _quote(subject, "pump.speed", "%", body, "PumpSpeedPercent", 1.0)
        if "SpeedRPM" in speed:
            yield _quote(subject, "pump.rpm", "rpm", speed, "SpeedRPM", 1.0)
    told = body.get("SpeedControlPercent")
    if isinstance(told, Mapping):
        yield _quote(subject, "pump.command", "%", told, "SetPoint", 1.0)


def _tell_state(subject: str, body: Body) -> Fact:
    """One that is in service is running only while it turns."""
    status = body.get("Status")
    told, health = (status.get("State"), status.get("Health")) if isinstance(status, Mapping) else (None, None)
    state = PUMP_STATES.get(told) if isinstance(told, str) else None
    if state == "running" and read_number(body.get("PumpSpeedPercent")) == 0.0:
        state = "tripped" if health == "Critical" else "off"
    return Fact(subject, "pump.state", state, "text", "" if state else f"its Status is {show(told)}")


def _quote(subject: str, quantity: str, unit: str, body: Body, key: str, factor: float) -> Fact:
    number = read_number(body.get(key))
    excerpt = body.get(key)
    told, source = (excerpt.get("Reading"), excerpt.get("DataSourceUri")) if isinstance(excerpt, Mapping) else (excerpt, None)
    note = "" if number is not None else f"{key} is {show(told)}"
    return Fact(subject, quantity, None if number is None else number * factor, unit, note, link=place(read_text(source) or ""))


def parse_unit_control(cdu: str, path: str, body: Body) -> Iterator[Fact]:
    """What stands to be held, and who controls the unit."""
    control = parse_control(path, body)
    if is_authority(control):
        yield _tell_mode(cdu, "coolant.control", control, MODES)
    elif is_supply(control):
        yield from _tell_supply(cdu, control)
    elif control.settable and control.kind in ("PressurekPa", "Pressure") and _DIFFERENCE.search(control.name):
        yield _tell_set_point(cdu, "coolant.pressure_asked", "kPa", control)
    elif control.settable and control.kind == "Valve":
        yield _tell_set_point(cdu, "coolant.valve_command", "%", control)


def _tell_supply(cdu: str, control: Control) -> Iterator[Fact]:
    yield _tell_set_point(cdu, "coolant.setpoint_asked", "C", control)
    if control.mode:
        yield _tell_mode(cdu, OWN_MODE, control, OWN_MODES)


def _tell_set_point(cdu: str, quantity: str, unit: str, control: Control) -> Fact:
    return Fact(cdu, quantity, control.set_point, unit, "" if control.set_point is not None else "SetPoint has no number")


def _tell_mode(cdu: str, quantity: str, control: Control, words: Mapping[str, str]) -> Fact:
    word = words.get(control.mode)
    return Fact(cdu, quantity, word, "text", "" if word else f"ControlMode is {control.mode[:40] or 'missing'}")


def choose_mode(cdu: str, told: dict[Key, Fact]) -> None:
    """Where no control says who controls the unit, the setpoint's own mode does: automatic, it follows what is written there."""
    own = told.pop((cdu, OWN_MODE), None)
    if own is not None:
        told.setdefault((cdu, "coolant.control"), own._replace(quantity="coolant.control"))
