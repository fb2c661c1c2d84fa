"""Is the ring whole, and is it wired as it was meant."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from supernoded.plugin import Level, Severity, Verdict, View
from supernoded_ring.explaining import BROKEN, MISWIRED
from supernoded_ring.lookout import Lookout
from supernoded_ring.picture import WATCHES, Picture, list_dark_hops
from supernoded_ring.verify import Report

MOST_TOLD = 3  # hops, sentences or moves in one verdict; `supernodectl diagnose` tells all


class RingRule:
    """What the rules of one ring's links share."""

    kind = ""
    watches: Mapping[str, float] = WATCHES

    def __init__(self, lookout: Lookout) -> None:
        self._lookout, self.scope = lookout, lookout.subject

    def start(self) -> None:
        """They remember nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of the ring."""
        picture, report = self._lookout.look(seen, self.kind)
        level, text, unseen = self._weigh(picture, report)
        verdict = Verdict(
            kind=self.kind, subject=self.scope, level=level, text=text, at=seen.now, severity=Severity.CRITICAL, unseen=tuple(unseen)
        )
        return memory, [verdict]

    @abstractmethod
    def _weigh(self, picture: Picture, report: Report) -> tuple[Level, str, Sequence[str]]:
        """What is said of the ring, and what could not be seen."""


class BrokenRule(RingRule):
    """Raises a ring with a hop that is missing, and names it."""

    kind = "ring.broken"

    def _weigh(self, picture: Picture, report: Report) -> tuple[Level, str, Sequence[str]]:
        hops = [f"{hop}: {why}" for hop, why in list_dark_hops(picture)]
        if not hops and report.verdict == BROKEN and not picture.loose:
            hops = [finding.sentence.rstrip(".") for finding in report.findings]
        if hops:
            return Level.RAISED, f"{self.scope} is broken at {_tell_some(hops)}", picture.unseen_links
        unseen = (*picture.unseen_links, *(f"{port}: where it leads is not seen" for port in picture.loose))
        if unseen or not picture.plan.hops:
            unseen = unseen or ("no port of its members is seen",)
            return Level.UNSURE, f"{self.scope}: whether it is whole cannot be seen: {_tell_some(unseen)}", unseen
        return Level.CLEAR, f"{self.scope}: all {len(picture.plan.hops)} hops from {picture.plan.hops[0].a} on have a link", ()


class OrderRule(RingRule):
    """Raises a ring whose cables are not where they belong, with the moves that repair it."""

    kind = "ring.order"

    def _weigh(self, picture: Picture, report: Report) -> tuple[Level, str, Sequence[str]]:
        wrong = [finding for finding in report.findings if finding.kind != "missing_hop"]
        unseen = (*picture.unseen_links, *picture.unseen_ends)
        if wrong:
            sentences = _tell_some([finding.sentence for finding in wrong], " ")
            verdict = MISWIRED if picture.loose and report.verdict == BROKEN else report.verdict
            return Level.RAISED, f"{self.scope} is {verdict}: {sentences} {tell_moves(report)}", unseen
        if unseen or not picture.plan.hops:
            unseen = unseen or ("no port of its members is seen",)
            return Level.UNSURE, f"{self.scope}: no cable is seen in a wrong place, but not all is seen: {_tell_some(unseen)}", unseen
        where = "all that is up is wired as it was meant" if report.findings else "its cables make one ring in the order that was meant"
        return Level.CLEAR, f"{self.scope}: {where}", ()


def tell_moves(report: Report, most: int = MOST_TOLD) -> str:
    """How to repair it, in a sentence or more."""
    count = len(report.moves)
    if not count:
        return ""
    steps = " ".join(f"({move.number}) {move.sentence}" for move in report.moves[:most])
    more = f" {count - most} more follow." if count > most else ""
    return f"{count} re-plugged cable {'end repairs' if count == 1 else 'ends repair'} it: {steps}{more}"


def _tell_some(parts: Sequence[str], between: str = "; ") -> str:
    more = f"{between}and {len(parts) - MOST_TOLD} more" if len(parts) > MOST_TOLD else ""
    return between.join(parts[:MOST_TOLD]) + more
