"""128 sensors in a die, by their maximum, mean and median; each is true to 0.1 C (T2)."""

from __future__ import annotations

import math

from sim_hardware.plant.chance import draw
from sim_hardware.plant.cooling.plates import SPREAD
from sim_hardware.plant.cooling.state import State

SENSORS = 128
NOISE = 0.1  # C
_MAX, _MEAN, _MEDIAN = 1, 2, 3


def _draw_noise(state: State, card: int, which: int) -> float:
    """Chance of this seed, card and substep, from -1 to 1: whoever reads twice in one substep reads the same."""
    _, share = draw((state.site.seed << 40) ^ (card << 34) ^ (state.steps << 2) ^ which)
    return 2.0 * share - 1.0


def _read(state: State, place: int, slot: int) -> tuple[int, float, float]:
    """The card's place in the rack, its die's mean temperature and its watts."""
    cards = state.nodes[place].cards
    return state.site.nodes[place].first + slot, cards.dies[slot], cards.watts[slot]


def find_max(state: State, place: int, slot: int) -> float:
    """The highest of all sensors."""
    card, mean, watts = _read(state, place, slot)
    hottest = mean + SPREAD * watts + NOISE * _draw_noise(state, card, _MAX)
    return max(hottest, state.stuck_sensors.get(card, -math.inf))


def find_mean(state: State, place: int, slot: int) -> float:
    """The mean of all sensors; a stuck one pulls it by its part."""
    card, mean, _ = _read(state, place, slot)
    shown = mean + NOISE / math.sqrt(SENSORS) * _draw_noise(state, card, _MEAN)
    return shown + (state.stuck_sensors.get(card, shown) - shown) / SENSORS


def find_median(state: State, place: int, slot: int) -> float:
    """The median of all sensors, which one stuck sensor does not move."""
    card, mean, _ = _read(state, place, slot)
    return mean + NOISE / math.sqrt(SENSORS) * _draw_noise(state, card, _MEDIAN)
