"""Bit error rates above the limit, and those that a better counter denies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_link_ber.ber.following import BerMemory, Tracks, find_date, find_overrule, follow, list_counters
from supernoded_link_ber.ber.gravity import find_gravity
from supernoded_link_ber.ber.judging import Finding, Judge
from supernoded_link_ber.ber.sources import COUNTERS, VOUCHING
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall


class CounterRule:
    """What the rules on counters of errors share: they follow every counter of every link."""

    kind, scope = "", NODE

    def __init__(self, judge: Judge, gallery: Gallery) -> None:
        self._judge = judge
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[Tracks](gallery, self.kind, COUNTERS)

    def start(self) -> BerMemory:
        """No link was ever seen."""
        return BerMemory()

    def judge(self, seen: View, memory: BerMemory) -> tuple[BerMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        tracks, verdicts = self._recall.ask(self._recall.look(seen), memory.tracks, self._weigh, find_date)
        return BerMemory(tracks), verdicts

    @abstractmethod
    def _weigh(self, seen: Glimpse, tracks: Tracks | None) -> tuple[Tracks | None, Verdict | None]:
        """What is remembered of one link, and what is said of it."""


class BerRule(CounterRule):
    """Raises a link whose errors a BER of the limit cannot explain, and clears it when they are again well below (L2, Q5).

    The best ranked counters that can be read decide. A worse one raises where no better one denies it. It is a warning, and critical when
    the rate is `GRAVE` times the limit, or code words are being lost: see `ber.gravity`.
    """

    kind = "link.ber"

    def _weigh(self, seen: Glimpse, tracks: Tracks | None) -> tuple[Tracks | None, Verdict | None]:
        kept, findings = follow(seen, tracks or {}, self._judge)
        return (kept, self._tell(seen.port, findings, seen.now)) if findings else (tracks, None)

    def _tell(self, subject: str, findings: Sequence[Finding], now: float) -> Verdict:
        raised = [one for one in findings if one.level is Level.RAISED]
        denied = [(one, by) for one in raised if (by := find_overrule(one, findings, self._judge)) is not None]
        left = [one for one in raised if one not in [pair[0] for pair in denied]]
        unsure = [one for one in findings if one.level is Level.UNSURE]
        severity = Severity.WARNING
        if left:
            level, text = Level.RAISED, self._judge.describe(min(left, key=lambda one: one.counter.rank))
            severity, grave = find_gravity(left, findings, self._judge.limit, now)
            text += grave
        else:
            level, text = self._find_best(findings, unsure)
            text += "".join(f"; {self._judge.describe(one)}: overruled, as {by.counter.name} are none of them" for one, by in denied)
        unseen = tuple(one.reason for one in unsure)
        words = f"{subject}: {text}"
        return Verdict(kind=self.kind, subject=subject, level=level, text=words, at=now, severity=severity, unseen=unseen)

    def _find_best(self, findings: Sequence[Finding], unsure: Sequence[Finding]) -> tuple[Level, str]:
        """The word of the best ranked counter that is clear, unless one that was raised, or all of the line, cannot be seen."""
        clear = [one for one in findings if one.level is Level.CLEAR]
        blind = next((one for one in unsure if one.track.raised), None)
        if blind is None and not any(one.counter.rank < VOUCHING for one in clear):
            blind = next((one for one in unsure if one.counter.rank < VOUCHING), None)
        if blind is not None or not clear:
            return Level.UNSURE, (blind or findings[0]).reason
        return Level.CLEAR, self._judge.describe(min(clear, key=lambda one: one.counter.rank))


class OverruledRule(CounterRule):
    """Raises a link of which a worse ranked counter says that it is bad, and a better one that it is not: one of them is wrong.

    That is no alarm on the link, but not to be hidden either: a counter that stands still says that all is well.
    """

    kind = "link.overruled"

    def _weigh(self, seen: Glimpse, tracks: Tracks | None) -> tuple[Tracks | None, Verdict | None]:
        if sum(len(told) for _, told in list_counters(seen)) < 2:
            return tracks, None
        kept, findings = follow(seen, tracks or {}, self._judge)
        return kept, self._tell(seen.port, findings, seen.now)

    def _tell(self, subject: str, findings: Sequence[Finding], now: float) -> Verdict:
        level, text = Level.CLEAR, "its counters of errors do not contradict each other"
        if not any(one.level is not Level.UNSURE for one in findings):
            level, text = Level.UNSURE, "none of its counters of errors can be judged"
        for one in findings:
            by = find_overrule(one, findings, self._judge) if one.level is Level.RAISED else None
            if by is not None:
                level = Level.RAISED
                text = f"{self._judge.describe(one)}, but {self._judge.describe(by)}; the latter decides, so this is a warning only"
                break
        unseen = tuple(one.reason for one in findings if one.level is Level.UNSURE)
        return Verdict(kind=self.kind, subject=subject, level=level, text=f"{subject}: {text}", at=now, unseen=unseen)
