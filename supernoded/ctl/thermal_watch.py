"""One unit watched while a hand is on its valve: is it within its bounds, and is it steady. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from supernoded.ctl.thermal_points import Point
from supernoded.errors import AdminError
from supernoded.messages import CoolingUnit, LoopRow

STEADY_FOR = 15.0  # seconds for which nothing may have moved by more than STEADY_C; several times the lag of a sensor (ours)
STEADY_C = 0.1  # C, between the lowest and the highest: the resolution of such units (facility 1.10)
STEADY_EFFECT = 0.01  # of the exchanger's effectiveness, which is what a point tells: 0.1 C steps on some 12 K make as much noise (ours)
DRIFT_C = 0.5  # C that temperatures may drift meanwhile: with a sensor's lag of 2 s that is less than 0.1 C of error (ours)
STANDS = 1.0  # % within which a valve stands still, whether or not where it was asked to: its loop keeps it from below the dew point


@dataclass(frozen=True)
class Bounds:
    """Within which the supply must stay. Without `least` the dew point and its margin are the floor."""

    most: float  # C
    least: float | None = None  # C

    def check(self, unit: CoolingUnit) -> None:
        """Raises AdminError when it is outside, or cannot be told to be inside."""
        warmer, colder = unit.supply, unit.supply_colder
        if warmer is None or colder is None:
            raise AdminError(f"the supply temperature of {unit.subject} is not known, so nobody can watch it")
        if warmer > self.most:
            raise AdminError(f"{unit.subject} supplies {warmer:.2f} C, at most {self.most:g} C is allowed (--most)")
        if self.least is not None and colder < self.least:
            raise AdminError(f"{unit.subject} supplies {colder:.2f} C, at least {self.least:g} C is allowed (--least)")
        if unit.dew_margin is None and self.least is None:
            raise AdminError(f"the dew point at {unit.subject} is not known: say with --least how cold its supply may become")
        if unit.dew_margin is not None and unit.dew_margin < 0.0:
            raise AdminError(f"{unit.subject} supplies {colder:.2f} C, {-unit.dew_margin:.2f} K below the dew point and its margin")


@dataclass(frozen=True)
class Look:
    """What a unit showed at one moment."""

    at: float  # daemon's time
    unit: CoolingUnit
    loop: LoopRow  # that turns its valve


def is_steady(looks: Sequence[Look]) -> bool:
    """Whether nothing has moved for STEADY_FOR, the valve least of all.

    Return and supply may drift together, as they do for minutes in a loop with much water: what the exchanger does between them is steady.
    """
    if not looks or looks[-1].at - looks[0].at < STEADY_FOR:
        return False
    late = [look.unit for look in looks if look.at >= looks[-1].at - STEADY_FOR]
    temperatures = ([unit.supply for unit in late], [unit.return_temperature for unit in late], [unit.primary for unit in late])
    drifts = _stays([find_effect(unit) for unit in late], STEADY_EFFECT) and all(_stays(values, DRIFT_C) for values in temperatures)
    still = all(_stays(values, STEADY_C) for values in temperatures)
    return (still or drifts) and _stays([unit.valve for unit in late], STANDS)


def find_effect(unit: CoolingUnit) -> float | None:
    """What the coolant is cooled by, of what it could be; None when that cannot be told."""
    supply, returned, primary = unit.supply, unit.return_temperature, unit.primary
    if supply is None or returned is None or primary is None or returned <= primary:
        return None
    return (returned - supply) / (returned - primary)


def _stays(values: Sequence[float | None], most: float) -> bool:
    known = [value for value in values if value is not None]
    return len(known) == len(values) and max(known) - min(known) <= most + 1e-9  # a step of 0.1 is not quite one in binary


def take_point(looks: Sequence[Look], *, steady: bool) -> Point:
    """The means of the last STEADY_FOR. Raises AdminError when something of it was not read."""
    late = [look.unit for look in looks if look.at >= looks[-1].at - STEADY_FOR]
    return Point(
        valve=_mean("valve", [unit.valve for unit in late]),
        supply=_mean("supply temperature", [unit.supply for unit in late]),
        return_temperature=_mean("return temperature", [unit.return_temperature for unit in late]),
        primary=_mean("temperature of the primary water", [unit.primary for unit in late]),
        flow=_mean("flow", [unit.flow for unit in late]),
        steady=steady,
    )


def _mean(what: str, values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    if not known:
        raise AdminError(f"its {what} was not read once in {STEADY_FOR:g} s: without it there is no point to record")
    return sum(known) / len(known)
