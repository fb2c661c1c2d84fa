"""Light: what a laser sends, what of it arrives, and how often a bit is then misread. Four lanes each way. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

LANES = 4
LANE_SPEED = 50.0  # Gb/s of data; four are the 200 Gb/s of L12
LANE_SYMBOLS = 26.5625e9 * 2 / 10  # ten-bit symbols a second: 26.5625 GBd of two bits each (IEEE 802.3, clause 121)
SENT_MW = 1.0  # of a new laser
BIAS_MA = 60.0
DARK_MW = 0.126  # -9 dBm: less is loss of signal (ours, as modules of this class are set)
LEAST_RADIUS_MM = 30.0  # L7
HOT = 70.0  # C; the highest case temperature of a commercial module (SFF-8636)

_CONNECTORS_DB = 1.0  # two of 0.5 dB
_FIBRE_DB_M = 0.003  # multimode at 850 nm (IEC 60793-2-10)
_BEND_DB = 0.8  # at 10 mm under 30 mm, growing with the square (ours)
_LOOSE_DB = 1.2  # a module not fully home (ours); with a weak lane it is at the edge
_HOT_DB = 0.1  # per kelvin over HOT (ours)
_EYE = 5.6  # eye opening over noise at nominal light: 1e-8 before correction, as good 50G PAM4 lanes show
_NOMINAL_MW = SENT_MW * math.pow(10.0, -_CONNECTORS_DB / 10.0)


def to_share(decibels: float) -> float:
    """The share of light that so many decibels let through."""
    return math.pow(10.0, -decibels / 10.0)


def lose_by_bend(radius_mm: float | None) -> float:
    """Micro-bend loss, dB: none from 30 mm on (L7)."""
    short = 0.0 if radius_mm is None else max(0.0, LEAST_RADIUS_MM - radius_mm)
    return _BEND_DB * (short / 10.0) ** 2


def lose_by_fibre(length_m: float) -> float:
    """Loss of the fibre and its two connectors, dB."""
    return _CONNECTORS_DB + _FIBRE_DB_M * length_m


def lose_by_seat(loose: bool) -> float:
    """Loss of a module that is not fully home, dB."""
    return _LOOSE_DB if loose else 0.0


def lose_by_heat(kelvin: float) -> float:
    """What a laser loses so many kelvin over `HOT`, dB."""
    return _HOT_DB * kelvin


def bias(aged: float, celsius: float) -> float:
    """A laser's current, mA: more for an old one, up to three times, and 0.5 % per kelvin from 40 C (ours)."""
    return min(3.0, 1.0 / (1.0 - aged)) * BIAS_MA * (1.0 + 0.005 * (celsius - 40.0))


def misread(light_mw: float) -> float:
    """The bit error rate of a PAM4 lane before correction: 3/8 erfc(Q / sqrt 2), Q in proportion to the light (thermal noise)."""
    return 0.375 * math.erfc(_EYE * light_mw / _NOMINAL_MW / math.sqrt(2.0))


def misread_all(light_mw: Sequence[float], lanes: int) -> tuple[float, ...]:
    """Lane by lane; a lane that is off has no errors."""
    return tuple(misread(light) if lane < lanes else 0.0 for lane, light in enumerate(light_mw))
