"""Heat explains time-outs, slow ranks and the links of a card that came after it: it is blamed first, and not the link (T9, L14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from supernoded.plugin import Cause, View
from supernoded_thermal.node import dies
from supernoded_thermal.node.dies import THROTTLED, Die, read_dies
from supernoded_thermal.node.looking import list_below, list_numbers
from supernoded_thermal.node.settings import NodeSettings

TIMEOUTS, TEMPERATURE = "comm.timeouts", "card.temperature"
WINDOW = 600.0  # s that heat and time-outs are looked back at: HCCL_EXEC_TIMEOUT is as long (N10)
LATE_S = 15.0  # s by which heat may be read after the first time-out and still have come before it: cards are read every 10 (ours)
HEAT = "a hot card"  # the cause's name
SURE, LIKELY, POSSIBLE = 0.95, 0.85, 0.6  # it says that it throttles; it was hot and time-outs came; it was hot
_JOB_WORDS = ("job/", "ring/", "cable/")


class Warmth(msgspec.Struct, frozen=True):
    """A card that is or was hot, since when, and how it is known."""

    card: str
    since: float
    text: str
    throttles: bool


class HeatDiagnosis:
    """Names the hot card for whatever its heat can explain: its node, its own ports, ranks, jobs and rings."""

    name = "heat"

    def __init__(self, scope: str, nodes: Mapping[str, Sequence[str]], settings: NodeSettings) -> None:
        self.scope = scope
        self._nodes, self._settings = nodes, settings
        self.watches: Mapping[str, float] = {**dict.fromkeys(dies.WATCHES, WINDOW), TIMEOUTS: WINDOW}

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """The hot cards, the hottest first; none for a subject that they cannot explain."""
        began = self._find_first_timeout(seen)
        warm = [one for one in self._list_warm(seen) if self._may_explain(one.card, subject)]
        causes = [self._make(seen, one, began) for one in warm]
        return sorted(causes, key=lambda cause: (-cause.weight, cause.subject))

    def _may_explain(self, card: str, subject: str) -> bool:
        """A port of another card is slow for another reason; everything that waits for a collective waits for its hottest card."""
        return subject in (card, card.partition("/")[0]) or subject.startswith((f"{card}/", *_JOB_WORDS))

    def _list_warm(self, seen: View) -> Iterator[Warmth]:
        for die in (die for node in self._nodes for die in self._read(seen, node)):
            throttled = [at for at, value in list_numbers(seen, THROTTLED, die.card, seen.now - WINDOW) if value == 1.0]
            hot = self._list_hot(seen, die)
            if throttled:
                since = min(throttled[0], hot[0][0]) if hot else throttled[0]
                peak = f", and was at {max(value for _, value in hot):.0f} C" if hot else ""
                yield Warmth(die.card, since, f"{die.card} says that it slows itself down{peak}", throttles=True)
            elif hot:
                text = f"{die.card} was at {max(value for _, value in hot):.0f} C, {self._settings.warn_c:g} C is the limit"
                yield Warmth(die.card, hot[0][0], text, throttles=False)

    def _read(self, seen: View, node: str) -> list[Die]:
        cards = sorted({*self._nodes[node], *list_below(seen, TEMPERATURE, node), *list_below(seen, THROTTLED, node)})
        return read_dies(seen, cards, self._settings)

    def _list_hot(self, seen: View, die: Die) -> list[tuple[float, float]]:
        """When it was hot, by its sensors but for one that is voted out now."""
        if die.note:
            return [] if die.celsius is None or die.celsius < self._settings.warn_c else [(seen.now, die.celsius)]
        looks = list_numbers(seen, TEMPERATURE, die.card, seen.now - WINDOW)
        return [(at, value) for at, value in looks if value >= self._settings.warn_c]

    def _find_first_timeout(self, seen: View) -> float | None:
        """When communication first timed out within the window; None when it was not seen to."""
        grown = [
            after[0]
            for subject in seen.subjects(TIMEOUTS)
            for source in seen.sources(TIMEOUTS, subject)
            for before, after in pairwise(list_numbers(seen, TIMEOUTS, subject, seen.now - WINDOW, source))
            if after[1] > before[1]
        ]
        return min(grown, default=None)

    def _make(self, seen: View, one: Warmth, began: float | None) -> Cause:
        ago = f"{one.text}, first seen so {seen.now - one.since:.0f} s ago"
        is_first = began is None or one.since <= began + LATE_S
        after = () if began is None or not is_first else (f"communication began to time out {max(began - one.since, 0.0):.0f} s after",)
        against = () if is_first else (f"communication timed out {one.since - (began or 0.0):.0f} s before it was hot",)
        weight = POSSIBLE / 2 if not is_first else SURE if one.throttles else LIKELY if began is not None else POSSIBLE
        advice = (
            f"Cool {one.card} first: see its coolant, its cold plate and its fans, and cap its node's power. Its peers wait for it: "
            "leave links, optics and buffers as they are until it is cool and time-outs go on."
        )
        return Cause(name=HEAT, subject=one.card, weight=weight, evidence=(ago, *after), against=against, advice=advice, at=seen.now)
