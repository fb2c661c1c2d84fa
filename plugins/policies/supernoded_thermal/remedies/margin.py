"""How far dies are from where they slow down, and how fast they get there. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import View
from supernoded_thermal.coolant.seeing import list_past
from supernoded_thermal.node.dies import HIGHEST, WATCHES, Die, read_dies
from supernoded_thermal.node.looking import measure_slope
from supernoded_thermal.node.settings import NodeSettings

__all__ = ["HIGHEST", "WATCHES", "Margin", "measure"]

SLOPE_S = 20.0  # over which a rise is measured: four looks at another node (ours)
STEADY = 0.05  # K/s, below which a temperature is steady (ours)


class Margin(msgspec.Struct, frozen=True):
    """The hottest die that is believed; `room` and `left` None = none is."""

    room: float | None  # K to where it slows down; negative = past it
    left: float | None  # s till it is there, at its present rise; inf = it does not rise
    text: str
    rises: bool = False  # whether any die does

    def is_near(self, kelvin: float) -> bool:
        """Whether it is that close; a die that nobody can see is."""
        return self.room is None or self.room <= kelvin

    def is_due_within(self, seconds: float) -> bool:
        """Whether it slows down within that time."""
        return self.left is not None and self.left <= seconds


def measure(seen: View, cards: Mapping[str, Sequence[str]], settings: NodeSettings) -> Margin:
    """Of the cards of these nodes, the one that is soonest where it slows down."""
    dies = [die for listed in cards.values() for die in read_dies(seen, listed, settings) if die.celsius is not None]
    if not dies:
        return Margin(None, None, "no die can be seen")
    times = {die.card: _find_time(seen, die, settings) for die in dies}
    soonest = min(dies, key=lambda die: (times[die.card], -(die.celsius or 0.0)))
    hottest = max(die.celsius or 0.0 for die in dies)
    left = times[soonest.card]
    told = f"{left:.0f} s from it" if math.isfinite(left) and left > 0.0 else "at it" if left <= 0.0 else "steady"
    text = f"the hottest die is at {hottest:.0f} C, {settings.throttle_c:g} C is where it slows down, {soonest.card} is {told}"
    return Margin(settings.throttle_c - hottest, left, text, any(_find_rise(seen, die) > STEADY for die in dies))


def _find_rise(seen: View, die: Die) -> float:
    """K/s of late; of a die whose hottest sensor is not believed that of the others."""
    return die.rise if die.note else measure_slope(list_past(seen, HIGHEST, die.card, within=SLOPE_S)) or 0.0


def _find_time(seen: View, die: Die, settings: NodeSettings) -> float:
    room, rise = settings.throttle_c - (die.celsius or 0.0), max(die.rise, _find_rise(seen, die))
    return 0.0 if room <= 0.0 else room / rise if rise > STEADY else math.inf
