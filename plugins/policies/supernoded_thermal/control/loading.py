"""The heat that the racks make, by what their cards say they draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from supernoded.plugin import View
from supernoded_thermal.control.sensing import POWER

KNOWN_FOR = 60.0  # s for which a silent card is taken to draw what it drew last
LEAST_KNOWN = 0.5  # of the cards, without which their sum says nothing


def sum_power(seen: View, cards: Sequence[str]) -> float | None:
    """Watts of these cards; None when too few are known. A silent one counts with its last word, and later as one like the others."""
    known = [watts for card in cards if (watts := _read(seen, card)) is not None]
    if not known or len(known) < LEAST_KNOWN * len(cards):
        return None
    return sum(known) * len(cards) / len(known)


def _read(seen: View, card: str) -> float | None:
    reading = seen.newest(POWER, card)
    if reading is None or not isinstance(reading.value, int | float) or seen.now - reading.at > KNOWN_FOR:
        return None
    if not 0.0 <= reading.value < math.inf:
        return None
    return float(reading.value)
