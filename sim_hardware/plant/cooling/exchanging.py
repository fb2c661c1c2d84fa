"""What passes through the heat exchanger: effectiveness by number of transfer units, counterflow (Kays and London)."""

from __future__ import annotations

import math

from sim_hardware.plant.cooling.design import Design
from sim_hardware.plant.cooling.slugs import HEAT

_RANGEABILITY = 50.0  # of an equal-percentage valve: what most makers give


def find_effectiveness(units: float, ratio: float) -> float:
    """The share of the greatest possible heat, of NTU and the ratio of the lesser to the greater heat capacity flow."""
    if ratio > 1.0 - 1e-9:
        return 1.0 - 1.0 / (1.0 + units)  # of a trickle there are more units than a float has room for
    decay = math.exp(-units * (1.0 - ratio))
    return (1.0 - decay) / (1.0 - ratio * decay)


def exchange(hot: float, cold: float, hot_flow: float, cold_flow: float, watts_per_kelvin: float) -> float:
    """Heat from one water to the other, W; temperatures in C, flows in L/s."""
    least, most = sorted((hot_flow * HEAT, cold_flow * HEAT))
    if least <= 0.0 or watts_per_kelvin <= 0.0:
        return 0.0
    return find_effectiveness(watts_per_kelvin / least, least / most) * least * (hot - cold)


def open_valve(design: Design, position: float) -> float:
    """The share of full flow that a valve's position (0 to 1) lets through."""
    if design.valve.curve == "linear":
        return position
    return float((_RANGEABILITY**position - 1.0) / (_RANGEABILITY - 1.0))


def find_primary(design: Design, at: float, kelvin: float, kilopascals: float) -> tuple[float, float]:
    """The primary water's temperature, C, and pressure, kPa, at a time; the last two are what a fault adds."""
    primary = design.primary
    warmer = _sway(primary.swing_kelvin, at, primary.swing_s)
    higher = _sway(primary.swing_kilopascals, at, primary.swing_pressure_s)
    return primary.celsius + warmer + kelvin, max(0.0, primary.kilopascals + higher + kilopascals)


def _sway(size: float, at: float, period_s: float) -> float:
    return size * math.sin(2.0 * math.pi * at / period_s) if size else 0.0


def find_primary_flow(design: Design, position: float, pressure: float) -> float:
    """Primary water through the valve, L/s."""
    return design.primary.litres_per_second * open_valve(design, position) * math.sqrt(pressure / design.primary.kilopascals)
