"""The exchanger's effectiveness by valve position, as it was commissioned, and the way back from a wanted effectiveness to the valve."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from supernoded.plugin import PluginError
from supernoded_thermal.control.commissioning import Commissioning

FLOW_POWER = 0.75  # effectiveness falls with this power of the coolant's flow (counterflow with the primary water as the lesser; ours)
MOST_DROP = 0.05  # effectiveness may seem to fall this much from one point to the next: 0.1 K steps and swaying water
NEAR = 5.0  # % of stroke within which points are one
BELOW = (0.0, 0.2, 0.4, 0.6, 0.8)  # of the lowest point's position
LEAST_POWER, MOST_POWER = 0.5, 4.0
LEAST_RISE = 1e-4  # for a per cent of stroke, so that there is a way back


class Exchanger(msgspec.Struct, frozen=True):
    """Rising pairs of valve position, %, and effectiveness at `flow`, L/min."""

    valves: tuple[float, ...]
    effects: tuple[float, ...]
    flow: float

    def find_effect(self, valve: float, flow: float) -> float:
        """Effectiveness at a position and flow."""
        return _interpolate(valve, self.valves, self.effects) * _scale(self.flow / flow)

    def find_valve(self, effect: float, flow: float) -> float:
        """The position for a wanted effectiveness at a flow, 0 to 100 %."""
        return _interpolate(effect * _scale(flow / self.flow), self.effects, self.valves)


def make_exchanger(data: Commissioning) -> Exchanger:
    """The curve through its points. Raises PluginError when more valve did not cool more."""
    (valve, effect), *others = _merge(data)
    valves, effects = [valve], [effect]
    for valve, effect in others:
        if effect < effects[-1] - MOST_DROP:
            raise PluginError(
                f"commissioning data of {data.cdu}: effectiveness falls from {effects[-1]:.3f} to {effect:.3f} at valve {valve:g} %, "
                "more water must cool more; was the valve's sense of action right, and everything steady?"
            )
        effects.append(max(effect, effects[-1] + LEAST_RISE * (valve - valves[-1])))
        valves.append(valve)
    below = [(share * valves[0], effects[0] * share ** _find_power(valves, effects)) for share in BELOW] if valves[0] > 0.0 else []
    if valves[-1] < 100.0:
        slope = (effects[-1] - effects[-2]) / (valves[-1] - valves[-2])
        effects.append(effects[-1] + 0.5 * slope * (100.0 - valves[-1]))  # the curve flattens towards its end
        valves.append(100.0)
    return Exchanger((*(at for at, _ in below), *valves), (*(effect for _, effect in below), *effects), data.flow)


def _find_power(valves: Sequence[float], effects: Sequence[float]) -> float:
    """Of the position, that effectiveness falls with below the lowest point: 1 of a linear valve, more of one that opens slowly."""
    power = math.log(effects[1] / effects[0]) / math.log(valves[1] / valves[0])
    return max(LEAST_POWER, min(MOST_POWER, power))


def _merge(data: Commissioning) -> list[tuple[float, float]]:
    """Position and effectiveness, by position. Near ones are one: what swayed between them would make a slope that is not there."""
    merged: list[list[tuple[float, float]]] = []
    for point in sorted(data.points, key=lambda point: point.valve):
        if merged and point.valve - merged[-1][0][0] < NEAR:
            merged[-1].append((point.valve, point.effectiveness))
        else:
            merged.append([(point.valve, point.effectiveness)])
    return [(sum(v for v, _ in near) / len(near), sum(e for _, e in near) / len(near)) for near in merged]


def _interpolate(at: float, given: Sequence[float], wanted: Sequence[float]) -> float:
    """On the straight line between the two neighbours; the last value beyond either end."""
    if at <= given[0]:
        return wanted[0]
    if at >= given[-1]:
        return wanted[-1]
    place = bisect_right(given, at)
    share = (at - given[place - 1]) / (given[place] - given[place - 1])
    return wanted[place - 1] + share * (wanted[place] - wanted[place - 1])


def _scale(flows: float) -> float:
    return float(flows**FLOW_POWER)
