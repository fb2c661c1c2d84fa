"""How much a temperature has swung, by readings that are good. Pure."""

from __future__ import annotations

from itertools import pairwise

from supernoded.plugin import View
from supernoded_thermal.coolant.seeing import find_range, list_good_supplies, list_past

FEWEST, SHORTEST_S, GAP_S = 5, 8.0, 15.0  # readings, and seconds that they span, to speak of a swing; and the most between two (ours)
WITHIN_S = 60.0  # T6


def find_swing(seen: View, cdu: str) -> float | None:
    """Peak to peak in K, as every sensor that moves at all has seen it; None where there is too little to see."""
    series = [
        [value for _, value in past]
        for quantity in list_good_supplies(seen, cdu)
        for source in seen.sources(quantity, cdu)
        if is_enough(past := list_past(seen, quantity, cdu, source, WITHIN_S)) and seen.now - past[-1][0] < GAP_S
    ]
    sizes = [find_range(smooth(values)) for values in series]
    moving = [size for size in sizes if size > 0.0]
    if not sizes:
        return None
    return min(moving, default=0.0)


def is_enough(past: list[tuple[float, float]]) -> bool:
    """Whether there are readings enough, without a long gap."""
    if len(past) < FEWEST or past[-1][0] - past[0][0] < SHORTEST_S:
        return False
    return all(after - before < GAP_S for (before, _), (after, _) in pairwise(past))


def smooth(values: list[float]) -> list[float]:
    """The median of each three in a row: one reading alone is no swing."""
    return [sorted(values[place : place + 3])[1] for place in range(len(values) - 2)]
