"""How often in a row a thing was seen: windows are short where thousands of cards are heard, so this is remembered. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from supernoded_isolation.evidence.words import Evidence


class Mark(msgspec.Struct, frozen=True):
    """One thing that one view shows of a card: first and last seen so, and at how many looks since it began."""

    evidence: Evidence
    first: float

    @property
    def looks(self) -> int:
        """At how many looks in a row."""
        return self.evidence.looks


def follow(marks: Mapping[str, Mark], found: Iterable[Evidence], now: float, memory_s: float) -> dict[str, Mark]:
    """The marks of one card after a look: what is seen again counts on, and what is not seen any more is forgotten.

    Growth of memory errors is seen in a moment and stands for `memory_s`. A look whose time is not later than the last is no new one.
    """
    after: dict[str, Mark] = {}
    for one in found:
        key = f"{one.view} {one.hang} {one.grave} {one.passing}"
        before = marks.get(key)
        newer = before is not None and one.at > before.evidence.at
        looks = before.looks + newer if before is not None else one.looks
        first = before.first if before is not None else one.at
        mark = Mark(msgspec.structs.replace(one, looks=looks, began=one.at if one.passing else first), first)
        if key not in after or mark.looks > after[key].looks:
            after[key] = mark
    for key, mark in marks.items():
        if key not in after and mark.evidence.passing and 0.0 <= now - mark.evidence.at < memory_s:
            after[key] = mark
    return after
