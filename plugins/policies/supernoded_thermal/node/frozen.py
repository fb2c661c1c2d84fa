"""A temperature that stays where it is while its power moves is not read. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from supernoded.plugin import State, View
from supernoded_thermal.node.looking import list_numbers

POWER = "card.power"
WINDOW = 150.0  # s that are looked at: it shows in the time of a few looks and one change of load (ours)
LEAST_LOOKS = 4  # at a temperature that does not move (ours)


def say_frozen(seen: View, card: str, quantities: Sequence[str], watts: float) -> str:
    """Why a temperature that does not move is not believed; empty when it is, or its power did not move either."""
    since, shown = -math.inf, 0.0
    for quantity in quantities:
        for source in seen.sources(quantity, card):
            run = _list_still(seen, quantity, card, source)
            if 0 < len(run) < LEAST_LOOKS:
                return ""
            since, shown = (max(since, run[-1][0]), run[0][1]) if run else (since, shown)
    move = _measure_move([value for _, value in list_numbers(seen, POWER, card, since)]) if since > -math.inf else 0.0
    return f"{card} has stayed at {shown:g} C while its power moved by {move:.0f} W: frozen" if move > watts else ""


def _list_still(seen: View, quantity: str, card: str, source: str) -> list[tuple[float, float]]:
    """When, and what it has read, newest first, as far back as that is all the same."""
    run: list[tuple[float, float]] = []
    for one in reversed(seen.window(quantity, card, source)):
        if one.at < seen.now - WINDOW or (run and one.state is State.GOOD and one.value != run[0][1]):
            break
        if one.state is State.GOOD and isinstance(one.value, int | float):
            run.append((one.at, float(one.value)))
    return run


def _measure_move(values: Sequence[float]) -> float:
    """How far apart two levels lie that were each seen twice running: one odd reading is no move."""
    pairs = list(pairwise(values))
    return max(map(min, pairs)) - min(map(max, pairs)) if len(pairs) > 1 else 0.0
