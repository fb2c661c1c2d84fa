"""How much coolant flows: pump curves in parallel against the branches in parallel.

Everything is in rated units: flow 1 is the loop's rated flow, pressure 1 what its pumps' own loop holds over the branches. A pump at
full speed gives 3 against a closed valve and 2 at rated flow; the exchanger and mains lose 0.6 at rated flow (ours: a common sizing).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sim_hardware.plant.cooling.design import Pumping

_SHUT_OFF = 3.0
_MAINS = 0.6
_BACKFLOW = 0.25  # how freely a standing pump without a check valve lets coolant back, against how freely it gives
_HALVINGS = 48


def find_flow(pumping: Pumping, speeds: Sequence[float], openness: float, head: float = 1.0) -> float:
    """Flow with the pumps at these speeds (0 to 1) through branches open to this share.

    `head` is what the pumps' pressure is of that with coolant free of air.
    """
    heads = [_SHUT_OFF * head * speed * speed for speed in speeds]
    most = max(heads)
    if openness <= 0.0 or most <= 0.0:
        return 0.0
    passage = openness / math.sqrt(1.0 + _MAINS * openness**2)
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if _pump(pumping, heads, middle) > math.sqrt(middle) * passage:
            low = middle
        else:
            high = middle
    return math.sqrt((low + high) / 2.0) * passage


def _pump(pumping: Pumping, heads: Sequence[float], pressure: float) -> float:
    """What the pumps give together against a pressure."""
    flow = 0.0
    for head in heads:
        if head > pressure:
            flow += math.sqrt(head - pressure)
        elif not pumping.check_valves:
            flow -= _BACKFLOW * math.sqrt(pressure - head)
    return flow / pumping.duty


def find_pressure(flow: float, openness: float) -> float:
    """The pressure difference over branches that are open to a share."""
    return (flow / openness) ** 2


def find_shut_off(speeds: Sequence[float], head: float = 1.0) -> float:
    """The pressure difference over closed branches: nothing flows, and nothing of the pumps' head is lost on the way."""
    return _SHUT_OFF * head * max(speeds) ** 2


def find_speed(pumping: Pumping, openness: float) -> float:
    """The speed at which the duty pumps hold the rated pressure difference; 1 when they cannot."""
    if openness <= 0.0:
        return 1.0 / math.sqrt(_SHUT_OFF)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        speeds = [middle] * pumping.duty + [0.0] * (pumping.pumps - pumping.duty)
        if find_pressure(find_flow(pumping, speeds, openness), openness) < 1.0:
            low = middle
        else:
            high = middle
    return high
