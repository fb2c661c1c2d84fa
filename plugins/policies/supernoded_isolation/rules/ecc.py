"""Corrected memory errors that come much oftener than they did: nothing is wrong yet, and it seldom stays so. Its own node judges a card.

None of our sources gives a rate of corrected errors from which on a card is ill: drivers count them, and tell of rows that they remap, and
of what they could not correct. So a card is held against its own past, and told as a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import msgspec

from supernoded.plugin import NODE, Level, Reading, Verdict, View
from supernoded_isolation.settings import IsolationSettings

CORRECTED = "card.errors_corrected"
HOUR = 3600.0  # s
MOST_HOURS = 24  # of the past of a card that are remembered (ours)


class Tally(msgspec.Struct, frozen=True):
    """The errors of one card as one source counts them."""

    total: float
    at: float
    begun: float  # since when `grown` is counted
    grown: float = 0.0
    last: float = 0.0  # errors of the hour before
    past: tuple[float, ...] = ()  # errors an hour, of the hours that were not too many


class Tallies(msgspec.Struct, frozen=True):
    """By card and source."""

    known: dict[str, Tally] = {}


class EccRule:
    """Raises a card with `ecc_per_hour` corrected errors within an hour, if that is `ecc_times` as many as it had in its usual one, too."""

    kind, scope = "card.ecc", NODE
    watches: Mapping[str, float] = {CORRECTED: 60.0}

    def __init__(self, settings: IsolationSettings, is_under_maintenance: Callable[[str], bool]) -> None:
        self._set, self._is_under_maintenance = settings, is_under_maintenance

    def start(self) -> Tallies:
        """No card was ever counted."""
        return Tallies()

    def judge(self, seen: View, memory: Tallies) -> tuple[Tallies, Sequence[Verdict]]:
        """The level of every card that counts them."""
        known = dict[str, Tally]()
        for card in seen.subjects(CORRECTED):
            for source in seen.sources(CORRECTED, card):
                key, newest = f"{card} {source}", seen.good(CORRECTED, card, source)
                before = memory.known.get(key)
                after = before if newest is None else self._count(newest, before)
                known |= {key: after} if after is not None else {}
        return Tallies(known), [self._judge(seen, card, known) for card in seen.subjects(CORRECTED)]

    def _count(self, newest: Reading, before: Tally | None) -> Tally:
        """A total that falls is a new baseline; the first one is, too."""
        total = newest.value if isinstance(newest.value, float) else 0.0
        if before is None or newest.at < before.at:
            return Tally(total, newest.at, newest.at)
        grown = before.grown + max(total - before.total, 0.0)
        after = msgspec.structs.replace(before, total=total, at=newest.at, grown=grown)
        if newest.at - before.begun < HOUR:
            return after
        rate = grown * HOUR / (newest.at - before.begun)
        past = before.past if before.past and rate >= self._find_limit(before) else (*before.past, rate)[-MOST_HOURS:]
        return msgspec.structs.replace(after, begun=newest.at, grown=0.0, last=rate, past=past)

    def _find_limit(self, tally: Tally) -> float:
        return max(self._set.ecc_per_hour, self._set.ecc_times * median(tally.past))

    def _judge(self, seen: View, card: str, known: Mapping[str, Tally]) -> Verdict:
        sources = seen.sources(CORRECTED, card)
        tallies = [known[key] for source in sources if (key := f"{card} {source}") in known]
        read = any(seen.good(CORRECTED, card, source) is not None for source in sources)
        if self._is_under_maintenance(card) or not tallies or not read:
            return self._say(seen, card, Level.UNSURE, f"{card}: its corrected memory errors are not read now, or it is under maintenance")
        worst = max(tallies, key=lambda one: max(one.grown, one.last))
        many = max(worst.grown, worst.last)
        said = f"{card}: {many:.0f} corrected memory errors within an hour"
        if not worst.past:
            level = Level.CLEAR if many < self._set.ecc_per_hour else Level.UNSURE
            return self._say(seen, card, level, f"{said}; how many are usual with it is not known yet")
        if many < self._find_limit(worst):
            return self._say(seen, card, Level.CLEAR, said)
        text = f"{said}, where {median(worst.past):.0f} are usual with it: have its memory tested at the next occasion"
        return self._say(seen, card, Level.RAISED, text)

    def _say(self, seen: View, card: str, level: Level, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=card, level=level, text=text, at=seen.now)
