"""What all rules of a loop share: a trouble must last to be told, and be gone for a while to be over. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Node, Severity, Verdict, View
from supernoded_thermal.coolant.site import Loop
from supernoded_thermal.settings import ThermalSettings


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule sees of a subject at one moment. `trouble` None = it cannot tell."""

    trouble: bool | None
    text: str
    severity: Severity = Severity.WARNING
    unseen: tuple[str, ...] = ()
    advice: str = ""  # what to do, where that is not what the rule always says
    explained: str = ""  # by what other trouble, which is told and answered in its place
    after_s: float | None = None  # that it must last, where that is not the rule's own time


class Track(msgspec.Struct, frozen=True):
    """Whether a subject is raised, and since when it looks as if that were to change."""

    raised: bool = False
    since: float | None = None


class Memory(msgspec.Struct, frozen=True):
    """What is remembered: a track of each subject, and a few numbers by name, as learned."""

    tracks: dict[str, Track] = {}
    known: dict[str, float] = {}
    asked: float = -1e9  # when it last looked


class LoopRule(ABC):
    """A rule of one loop."""

    kind: str
    advice: str  # what a person is to do, in a few words
    watches: Mapping[str, float]
    every_s = 0.0  # seconds between two looks of a rule that has much to look at, and is in no hurry

    def __init__(self, loop: Loop, node: Node, settings: ThermalSettings) -> None:
        self.scope = loop.subject
        self._loop, self._cdu = loop, loop.subject
        self._limits, self._set = node.limits.coolant, settings
        self._spares = node.is_under_maintenance

    def start(self) -> Memory:
        """Nothing is known."""
        return Memory()

    @abstractmethod
    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """What is seen of each subject now, and the numbers to remember."""

    @property
    def after_s(self) -> float:
        """Seconds that a trouble must last to be told."""
        return self._set.settle_s

    @property
    def clear_s(self) -> float:
        """Seconds that it must be gone to be over."""
        return 2.0 * self._set.settle_s

    def judge(self, seen: View, memory: Memory) -> tuple[Memory, Sequence[Verdict]]:
        """The level of every subject of which anything is seen."""
        if 0.0 <= seen.now - memory.asked < self.every_s:
            return memory, ()
        looks, known = self.look(seen, memory)
        tracks = {subject: self._follow(look, memory.tracks.get(subject, Track()), seen.now) for subject, look in looks.items()}
        verdicts = [self._judge(subject, look, tracks[subject], seen.now) for subject, look in looks.items()]
        kept = {subject: track for subject, track in memory.tracks.items() if track.raised}  # also of what is not read yet after a restart
        return Memory({**kept, **tracks}, dict(known), seen.now), verdicts

    def _follow(self, look: Look, track: Track, now: float) -> Track:
        if look.trouble is None or look.explained or look.trouble == track.raised:
            return Track(track.raised)
        since = now if track.since is None or track.since > now else track.since
        least = self._find_least(look, raising=look.trouble)
        return Track(look.trouble) if now - since >= least else Track(track.raised, since)

    def _find_least(self, look: Look, *, raising: bool) -> float:
        if not raising:
            return self.clear_s
        return self.after_s if look.after_s is None else look.after_s

    def _judge(self, subject: str, look: Look, track: Track, now: float) -> Verdict:
        level, text = self._weigh(subject, look, track, now)
        unseen = look.unseen or ((text,) if look.trouble is None else ())
        return Verdict(kind=self.kind, subject=subject, level=level, text=text, at=now, severity=look.severity, unseen=unseen)

    def _weigh(self, subject: str, look: Look, track: Track, now: float) -> tuple[Level, str]:
        if look.trouble is None:
            return Level.UNSURE, look.text
        if look.trouble and self._spares(subject):
            return Level.UNSURE, f"{subject}: under maintenance; {look.text}"
        if look.trouble and look.explained:
            return Level.UNSURE, f"explained by {look.explained}: {look.text}"
        if track.since is None:
            return (Level.RAISED, f"{look.text}; {look.advice or self.advice}") if track.raised else (Level.CLEAR, look.text)
        lasts = now - track.since
        if track.raised:
            return Level.RAISED, f"{look.text}: well again for {lasts:.0f} s, it is over when that lasts {self.clear_s:g} s"
        return Level.UNSURE, f"{look.text}, for {lasts:.0f} s; it is a trouble when that lasts {self._find_least(look, raising=True):g} s"
