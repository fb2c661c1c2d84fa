"""A UPS's battery: what it gives, what it takes, and when it comes to its next mark."""

from __future__ import annotations

import math

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.spec import UpsSpec
from sim_hardware.plant.power.things import Ups


def measure_capacity(spec: UpsSpec, ups: Ups) -> float:
    """The energy of the battery when full, at its age, J."""
    return spec.full_j * ups.share


def find_low_mark(spec: UpsSpec, ups: Ups) -> float:
    """The energy at and below which the battery is low, J."""
    return figures.LOW_BATTERY * measure_capacity(spec, ups)


def can_discharge(ups: Ups) -> bool:
    """Whether the load can be carried from the battery."""
    return ups.energy > 0.0 and not ups.stopped and not ups.failed & {"battery", "inverter"}


def find_drain(spec: UpsSpec, watts: float) -> float:
    """What the battery loses while the output is so many watts: the converter's loss, and its own, which grows with the load."""
    inside = 1.0 - min(figures.BATTERY_DROP * watts / spec.watts, 0.5)
    return watts / (spec.build.efficiency * inside)


def find_charge(spec: UpsSpec, ups: Ups) -> float:
    """What the charger takes from the input, W."""
    capacity = measure_capacity(spec, ups)
    if not ups.input_ok or ups.path == "battery" or ups.failed & {"charger", "battery"} or ups.energy >= capacity:
        return 0.0
    return spec.watts * figures.CHARGE_SHARE * (figures.TAPER if ups.energy >= figures.TAPER_FROM * capacity else 1.0)


def find_mark(spec: UpsSpec, ups: Ups, watts: float, at: float) -> tuple[float, float]:
    """When the battery, gaining so many watts, comes to the next energy that matters, and that energy."""
    capacity = measure_capacity(spec, ups)
    marks = (0.0, find_low_mark(spec, ups), figures.TAPER_FROM * capacity, capacity)
    if watts < 0.0:
        mark = max((mark for mark in marks if mark < ups.energy), default=0.0)
    elif watts > 0.0:
        mark = min((mark for mark in marks if mark > ups.energy), default=capacity)
    else:
        return math.inf, 0.0
    return at + max(0.0, (mark - ups.energy) / watts), mark


def find_runtime(spec: UpsSpec, energy: float, watts: float) -> float:
    """How long the energy lasts at this output, s; a day at most, as most UPSes show, and nothing where there is no energy."""
    if energy <= 0.0:
        return 0.0
    return min(86400.0, energy / find_drain(spec, watts)) if watts > 0.0 else 86400.0
