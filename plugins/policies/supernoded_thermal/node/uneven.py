"""A card that is hotter than its peers would be at its power: its cold plate, long before its die is too hot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_thermal.node.dies import HIGHEST, WATCHES, Die, read_dies
from supernoded_thermal.node.hot import measure_lead
from supernoded_thermal.node.looking import judge, list_below
from supernoded_thermal.node.settings import NodeSettings

LASTS_S = 30.0  # s that a die must stand out: after a change of power it lags behind by a few (ours)


class Standing(msgspec.Struct, frozen=True):
    """Since when cards stand out."""

    since: dict[str, float] = {}


class UnevenRule:
    """Raises a card whose way to the coolant is worse than that of the others. It asks for a look, not for less heat: that is `heat`."""

    kind, scope = "heat.uneven", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, node: str, cards: Sequence[str], settings: NodeSettings) -> None:
        self._node, self._cards, self._settings = node, tuple(cards), settings

    def start(self) -> Standing:
        """None does."""
        return Standing()

    def judge(self, seen: View, memory: Standing) -> tuple[Standing, Sequence[Verdict]]:
        """The level of every card that can be compared, or could when it was told."""
        dies = read_dies(seen, sorted({*self._cards, *list_below(seen, HIGHEST, self._node)}), self._settings)
        since, verdicts = dict[str, float](), []
        for die in dies:
            lead, began = measure_lead(die, dies, self._settings), memory.since.get(die.card)
            limit = self._settings.peer_c - (self._settings.relief_c if began is not None else 0.0)
            if (lead is None and began is not None) or (lead is not None and lead >= limit):
                since[die.card] = seen.now if began is None else min(began, seen.now)
            if lead is not None or began is not None:
                verdicts.append(self._judge(die, lead, seen.now - since.get(die.card, seen.now), seen.now))
        return Standing(since), verdicts

    def _judge(self, die: Die, lead: float | None, stood: float, now: float) -> Verdict:
        if lead is None:
            why = die.note or f"too few cards of {self._node} can be compared"
            return judge(self.kind, die.card, now, Level.UNSURE, f"whether {die.card} stands out cannot be seen: {why}", unseen=(why,))
        more = f"{abs(lead):.0f} K {'hotter' if lead >= 0.0 else 'cooler'} than its peers would be at its {die.watts or 0.0:.0f} W"
        said = f"{die.card} is at {die.celsius or 0.0:.0f} C, {more}"
        if stood < LASTS_S:
            return judge(self.kind, die.card, now, Level.CLEAR, said)
        advice = f"{self._settings.peer_c:g} K is the limit: look at its cold plate and its coolant channel at the next stop"
        return judge(self.kind, die.card, now, Level.RAISED, f"{said}; {advice}")
