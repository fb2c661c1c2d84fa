"""Questions to a view that several rules ask. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supernoded.plugin import Reading, State, View, list_numbers

SUPPLY, SECOND, RETURN = "coolant.supply_temperature", "coolant.supply_temperature.2", "coolant.return_temperature"
SETPOINT, ASKED, CONTROL = "coolant.setpoint", "coolant.setpoint_asked", "coolant.control"
FLOW, LIFT, SPEED = "coolant.flow", "coolant.pressure_difference", "pump.speed"
VALVE, COMMAND = "coolant.valve", "coolant.valve_command"
PRIMARY, PRESSURE = "coolant.primary_temperature", "coolant.primary_pressure"
DEW, LEVEL, ALARM, BRANCH = "air.dew_point", "coolant.level", "coolant.alarm", "coolant.branch"
PUMP_STATE, PUMP_COMMAND, RPM = "pump.state", "pump.command", "pump.rpm"
YIELDED, FALLBACK = "coolant.yielded", "coolant.fallback"
LEAK, STICKY = "coolant.leak", "coolant.leak_sticky"
CARD_POWER = "card.power"


def list_supplies(seen: View, cdu: str) -> list[float]:
    """What every sensor in the supply reads, but for one that its unit flags: what that shows is no good, however normal it looks."""
    return [value for quantity in list_good_supplies(seen, cdu) for value in list_numbers(seen, quantity, cdu)]


def list_good_supplies(seen: View, cdu: str) -> list[str]:
    """The quantities of the supply that no alarm of the unit is about."""
    flags = list_supply_flags(seen, cdu)
    second = any("2" in flag for flag in flags)
    first = any("2" not in flag for flag in flags)
    return [quantity for quantity, flagged in ((SUPPLY, first), (SECOND, second)) if not flagged]


def list_past(seen: View, quantity: str, subject: str, source: str | None = None, within: float | None = None) -> list[tuple[float, float]]:
    """Time and value of each GOOD number of the window, oldest first; `within` = of so many last seconds."""
    since = 0.0 if within is None else seen.now - within
    return pick_good(one for one in seen.window(quantity, subject, source) if one.at >= since)


def pick_good(readings: Iterable[Reading]) -> list[tuple[float, float]]:
    """Time and value of those that are GOOD numbers."""
    return [(one.at, float(one.value)) for one in readings if one.state is State.GOOD and isinstance(one.value, int | float)]


def find_range(values: Sequence[float]) -> float:
    """Highest less lowest."""
    return max(values) - min(values) if values else 0.0


def find_flags(seen: View, cdu: str) -> frozenset[str]:
    """The words of its alarms, by all sources, small."""
    found = (seen.flags(ALARM, cdu, source) or frozenset() for source in seen.sources(ALARM, cdu))
    return frozenset(flag.lower() for flags in found for flag in flags)


def list_supply_flags(seen: View, cdu: str) -> list[str]:
    """Its alarms about sensors in the supply."""
    return sorted(flag for flag in find_flags(seen, cdu) if "supply" in flag and any(word in flag for word in ("sensor", "fault", "temp")))
