"""A card that clocks lower because it is hot: by its own word, or by what it draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_thermal.node.dies import FULL_SHARE, THROTTLED, WATCHES, Die, read_dies
from supernoded_thermal.node.looking import judge, list_below, list_numbers, say_why
from supernoded_thermal.node.settings import NodeSettings

TEMPERATURE = "card.temperature"
RELIEF = 7.0  # K below the throttle point, above which a card that throttled still does (ours; makers have 5 to 10)


CALM_S = 60.0  # s without it, after which a card no longer does: its clock comes and goes within seconds (ours)


class Throttling(msgspec.Struct, frozen=True):
    """The cards that throttle."""

    cards: frozenset[str] = frozenset()


class ThrottleRule:
    """Raises a card that says so. Of one whose tool has no word for it: one at its throttle point that draws less than its neighbours."""

    kind, scope = "card.throttled", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, node: str, cards: Sequence[str], settings: NodeSettings) -> None:
        self._node, self._cards, self._settings = node, tuple(cards), settings

    def start(self) -> Throttling:
        """None does."""
        return Throttling()

    def judge(self, seen: View, memory: Throttling) -> tuple[Throttling, Sequence[Verdict]]:
        """The level of every card that was ever read."""
        cards = sorted({*self._cards, *list_below(seen, TEMPERATURE, self._node), *list_below(seen, THROTTLED, self._node)})
        dies = read_dies(seen, cards, self._settings)
        verdicts = [
            self._judge(seen, die, dies, die.card in memory.cards) for die in dies if die.is_ever_read or seen.sources(THROTTLED, die.card)
        ]
        raised = {one.subject for one in verdicts if one.level is Level.RAISED}
        kept = {one.subject for one in verdicts if one.level is Level.UNSURE} & memory.cards
        return Throttling(frozenset(raised | kept)), verdicts

    def _judge(self, seen: View, die: Die, dies: Sequence[Die], did: bool) -> Verdict:
        told = [number for source in seen.sources(THROTTLED, die.card) if (number := seen.number(THROTTLED, die.card, source)) is not None]
        at = "at a temperature that is not known" if die.celsius is None else f"at {die.celsius:.0f} C"
        if told:
            if max(told) > 0.0:
                return self._raise(die.card, f"{die.card} says that it throttles, {at}", seen.now)
            if did and any(value > 0.0 for _, value in list_numbers(seen, THROTTLED, die.card, seen.now - CALM_S)):
                return self._raise(die.card, f"{die.card} throttled within the last {CALM_S:g} s, {at}", seen.now)
            return judge(self.kind, die.card, seen.now, Level.CLEAR, f"{die.card} does not throttle, {at}")
        if seen.sources(THROTTLED, die.card) or die.celsius is None:
            why = say_why(seen, THROTTLED, die.card) if seen.sources(THROTTLED, die.card) else die.note
            return judge(self.kind, die.card, seen.now, Level.UNSURE, f"whether {die.card} throttles cannot be seen: {why}", unseen=(why,))
        return self._deduce(die, [one.watts for one in dies if one.card != die.card and one.watts is not None], did, seen.now)

    def _deduce(self, die: Die, others: Sequence[float], did: bool, now: float) -> Verdict:
        """By its temperature and its power: no tool says it."""
        celsius, limit = die.celsius or 0.0, self._settings.throttle_c
        said = f"{die.card} is at {celsius:.0f} C, and {limit:g} C is where it throttles"
        if celsius < limit - RELIEF or (celsius < limit - 1.0 and not did):
            return judge(self.kind, die.card, now, Level.CLEAR, said)
        if did:
            return self._raise(die.card, f"{said}: it did, and has not cooled down since", now)
        if die.watts is None or not others:
            return judge(
                self.kind,
                die.card,
                now,
                Level.UNSURE,
                f"{said}: whether it does cannot be seen, as powers are not read",
                unseen=("card.power",),
            )
        usual = median(others)
        if die.watts >= FULL_SHARE * usual:
            return judge(self.kind, die.card, now, Level.CLEAR, f"{said}; it draws {die.watts:.0f} W as its neighbours do ({usual:.0f} W)")
        return self._raise(die.card, f"{said}: it draws {die.watts:.0f} W where its neighbours draw {usual:.0f} W", now)

    def _raise(self, card: str, said: str, now: float) -> Verdict:
        text = f"{said}. Its job waits for it: cool it or cap its node's power, and blame no link for what times out"
        return judge(self.kind, card, now, Level.RAISED, text, Severity.CRITICAL)
