"""What a gauge is, and the values as they are now rather than at the last event."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import msgspec

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.solving import find_load
from sim_hardware.plant.power.state import State
from sim_hardware.plant.words import Value


class Gauge(msgspec.Struct, frozen=True):
    """A quantity's unit, and how it is read from the thing with this number."""

    unit: str
    read: Callable[[State, int], Value]


Gauges = Mapping[str, Gauge]


def find_energy(state: State, ups: int) -> float:
    """J in a UPS's battery now."""
    return max(0.0, state.ups[ups].energy + state.flow.ups[ups].stored * (state.at - state.since))


def find_ups_load(state: State, ups: int) -> float:
    """The load of its fullest phase, as a share."""
    return find_load(state.spec.ups[ups], state.flow.ups[ups].phases)


def find_heat(state: State, pdu: int) -> float:
    """The heat of a breaker now."""
    target = state.flow.breakers[pdu].target
    return target + (state.pdus[pdu].heat - target) * math.exp(-(state.at - state.since) / figures.BREAKER_TAU_S)


def find_shelf(state: State, node: int) -> float:
    """J in a node's shelf now."""
    rate = next((shelf.stored for shelf in state.flow.shelves if shelf.node == node), 0.0)
    return max(0.0, state.shelves[node] + rate * (state.at - state.since))
