"""What is seen of a CDU, for its loops: which sensor is believed, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Reading, View
from supernoded_thermal.control.floor import DEW_POINT
from supernoded_thermal.control.settings import ControlSettings

SUPPLY, SECOND = "coolant.supply_temperature", "coolant.supply_temperature.2"
RETURN, PRIMARY = "coolant.return_temperature", "coolant.primary_temperature"
FLOW, VALVE, ALARM = "coolant.flow", "coolant.valve", "coolant.alarm"
POWER = "card.power"
MOST_FLOW = 2.0  # times the commissioned flow: no pump has so much to spare (ours)
MOST_OVER = 1.0  # K by which primary water may seem warmer than the supply, while that follows it (ours)
WATCHES: Mapping[str, float] = dict.fromkeys((SUPPLY, SECOND, RETURN, PRIMARY, FLOW, VALVE, ALARM, POWER, DEW_POINT), 120.0)


class Gauge(msgspec.Struct, frozen=True):
    """A number, when it was read, and by whom."""

    value: float
    at: float
    of: str


class Water(msgspec.Struct, frozen=True):
    """A CDU's waters as they are seen now; None = not to be known. C, L/min, %."""

    supply: Gauge | None = None  # to cool by: the warmer, where sensors disagree
    coldest: float | None = None  # to guard the dew point by
    returned: Gauge | None = None
    primary: float | None = None
    flow: float | None = None
    valve: Gauge | None = None
    agreed: bool = False  # both sensors in the supply show the same
    notes: tuple[str, ...] = ()

    @property
    def warmest(self) -> float | None:
        """The supply that is cooled by, C."""
        return None if self.supply is None else self.supply.value


def look(seen: View, cdu: str, settings: ControlSettings) -> Water:
    """The waters of a CDU. A sensor that its unit flags is not believed, whatever it shows."""
    flags = _list_flags(seen, cdu)
    first = [] if is_flagged(flags, "supply-sensor", "supply-temp") else _list_gauges(seen, SUPPLY, cdu)
    second = [] if is_flagged(flags, "supply-2") else _list_gauges(seen, SECOND, cdu)
    supplies = first + second
    returned = [] if is_flagged(flags, "return") else _list_gauges(seen, RETURN, cdu)
    supply, note = choose_supply(supplies, settings.disagree_k)
    return Water(
        supply=supply,
        coldest=min((gauge.value for gauge in supplies), default=None),
        returned=returned[0] if returned else None,
        primary=None if is_flagged(flags, "primary-sensor", "primary-temp") else _find_number(seen, PRIMARY, cdu),
        flow=None if is_flagged(flags, "flow") else _find_number(seen, FLOW, cdu),
        valve=next(iter(_list_gauges(seen, VALVE, cdu)), None),
        agreed=bool(first and second) and not note,
        notes=(note,) if note else (),
    )


def discard_impossible(water: Water, usual: float | None) -> Water:
    """The waters without what cannot be: flow far beyond the commissioned one, and primary water that would warm the supply."""
    if water.flow is not None and usual is not None and water.flow > MOST_FLOW * usual:
        water = msgspec.structs.replace(water, flow=None)
    if water.primary is not None and water.warmest is not None and water.primary > water.warmest + MOST_OVER:
        water = msgspec.structs.replace(water, primary=None)
    return water


def choose_supply(gauges: Sequence[Gauge], disagree: float) -> tuple[Gauge | None, str]:
    """The gauge to cool by, and what is to be said of it (safety rule 19)."""
    if not gauges:
        return None, ""
    warmest = max(gauges, key=lambda gauge: gauge.value)
    if warmest.value - min(gauge.value for gauge in gauges) <= disagree:
        return gauges[0], ""
    return warmest, "by the warmer of the supply sensors, the dew point by the colder: they disagree"


def is_flagged(flags: frozenset[str], *words: str) -> bool:
    """Whether the unit says in its own words that a sensor is broken: `supply-sensor`, `supply-2-sensor-fault`."""
    return any("sensor" in flag and any(flag.startswith(word) for word in words) for flag in flags)


def _list_flags(seen: View, cdu: str) -> frozenset[str]:
    return frozenset[str]().union(*(seen.flags(ALARM, cdu, source) or () for source in seen.sources(ALARM, cdu)))


def _find_number(seen: View, quantity: str, cdu: str) -> float | None:
    return next((gauge.value for gauge in _list_gauges(seen, quantity, cdu)), None)


def _list_gauges(seen: View, quantity: str, cdu: str) -> list[Gauge]:
    """What each source says that is GOOD."""
    readings: list[Reading | None] = [seen.good(quantity, cdu, source) for source in seen.sources(quantity, cdu)]
    return [
        Gauge(reading.value, reading.at, f"{quantity} {reading.source}")
        for reading in readings
        if reading is not None and isinstance(reading.value, int | float) and math.isfinite(reading.value)
    ]
