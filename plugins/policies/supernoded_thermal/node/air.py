"""A part that air alone cools is near its own limit, or past it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_thermal.node.looking import judge
from supernoded_thermal.node.parts import WATCHES, Part, list_parts
from supernoded_thermal.node.settings import NodeSettings

ADVICE = "see whether its fans turn and its air is free, or cap the node's power"


class Heard(msgspec.Struct, frozen=True):
    """Parts that were ever read, and those that are told as hot."""

    known: frozenset[str] = frozenset()
    hot: frozenset[str] = frozenset()


class AirRule:
    """Raises what is `near_c` below its limit, critically at it; also what is on its way there and arrives soon."""

    kind, scope = "air.hot", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, node: str, settings: NodeSettings) -> None:
        self._node, self._settings = node, settings

    def start(self) -> Heard:
        """Nothing was read."""
        return Heard()

    def judge(self, seen: View, memory: Heard) -> tuple[Heard, Sequence[Verdict]]:
        """The level of every part that was ever read."""
        parts = list(list_parts(seen, self._node, self._settings))
        known = memory.known | {part.subject for part in parts if part.celsius is not None}
        verdicts = [self._judge(part, part.subject in memory.hot, seen.now) for part in parts if part.subject in known]
        raised = {one.subject for one in verdicts if one.level is Level.RAISED}
        unsure = {one.subject for one in verdicts if one.level is Level.UNSURE} & memory.hot
        listed = {part.subject for part in parts}
        gone = [judge(self.kind, one, seen.now, Level.CLEAR, f"{one} is no longer there") for one in sorted(memory.hot - listed)]
        return Heard(known & listed, frozenset(raised | unsure)), [*verdicts, *gone]

    def _judge(self, part: Part, was_hot: bool, now: float) -> Verdict:
        if part.celsius is None or part.room is None:
            return judge(
                self.kind, part.subject, now, Level.UNSURE, f"how hot {part.subject} is cannot be seen: {part.note}", unseen=(part.note,)
            )
        said = f"{part.subject} is at {part.celsius:.1f} C, and {part.limit:g} C is its limit"
        soon = self._foretell(part)
        if part.room <= 0.0:
            return judge(self.kind, part.subject, now, Level.RAISED, f"{said}: {ADVICE}", Severity.CRITICAL)
        limit = self._settings.near_c + (self._settings.relief_c if was_hot else 0.0)
        if part.room <= limit or soon is not None:
            rises = "" if soon is None else f", which it reaches in {soon:.0f} s at {part.rise:.2f} K/s"
            return judge(self.kind, part.subject, now, Level.RAISED, f"{said}{rises}: {ADVICE}")
        return judge(self.kind, part.subject, now, Level.CLEAR, said)

    def _foretell(self, part: Part) -> float | None:
        """Seconds to its limit, when they are few and it is past what fans aim at: a part that warms up is not in trouble."""
        room, rise = part.room or 0.0, part.rise
        if rise <= 0.0 or room > self._settings.margin_c:
            return None
        return room / rise if room / rise <= self._settings.foretell_s else None
