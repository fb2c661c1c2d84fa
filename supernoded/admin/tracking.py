"""What a coolant unit has shown lately, as tracks to be drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from supernoded.history import View
from supernoded.messages import ThermalHistory, ThermalHistoryFilter, Track
from supernoded.model import Reading, State
from supernoded.quantities import VOCABULARY

# What is drawn of a unit, in this order; what was never read of it is left out.
DRAWN = (
    "coolant.supply_temperature",
    "coolant.setpoint",
    "coolant.return_temperature",
    "coolant.primary_temperature",
    "coolant.flow",
    "coolant.valve",
    "coolant.valve_command",
    "coolant.pump_speed",
    "coolant.pressure_difference",
    "coolant.heat",
    "air.dew_point",
)


def draw_history(views: Iterable[View], wanted: ThermalHistoryFilter, now: float) -> ThermalHistory | None:
    """Its tracks, each from the view that knows most; None when nothing was ever read of it. `views` watch all that is DRAWN."""
    known = list(views)
    tracks = [_draw(quantity, known, wanted) for quantity in DRAWN]
    if not any(wanted.loop in view.subjects(quantity) for view in known for quantity in DRAWN):
        return None
    return ThermalHistory(now=now, loop=wanted.loop, since=now - wanted.seconds, tracks=tuple(track for track in tracks if track.points))


def _draw(quantity: str, views: Sequence[View], wanted: ThermalHistoryFilter) -> Track:
    readings = max((view.window(quantity, wanted.loop) for view in views), key=len, default=())
    points = tuple((reading.at, _to_number(reading)) for reading in thin(readings, wanted.points))
    return Track(quantity=quantity, unit=VOCABULARY[quantity].unit, points=points)


def _to_number(reading: Reading) -> float | None:
    return float(reading.value) if reading.state is State.GOOD and isinstance(reading.value, int | float) else None


def thin(readings: Sequence[Reading], most: int) -> Sequence[Reading]:
    """At most so many, evenly spread; the first and the newest are always among them."""
    if len(readings) <= most:
        return readings
    step = (len(readings) - 1) / (most - 1)
    return [readings[round(i * step)] for i in range(most)]
