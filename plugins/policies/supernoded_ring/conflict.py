"""The communication library's own view of a ring beside ours: where they differ for long, one of the two is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Verdict, View
from supernoded_ring.explaining import BROKEN, CLOSED
from supernoded_ring.lookout import Lookout
from supernoded_ring.picture import WATCHES, Picture, list_dark_hops
from supernoded_ring.settings import RingSettings

LIBRARY, PLACE = "ring.closed", "ring.broken_at"


class ConflictMemory(msgspec.Struct, frozen=True):
    """For how many readings of the library in a row the views have differed; a reading is known by its time."""

    polls: int = 0
    at: float = -1.0


class ConflictRule:
    """Raises a ring that the library and the links judge differently."""

    kind = "ring.conflict"
    watches: Mapping[str, float] = {**WATCHES, LIBRARY: 60.0, PLACE: 60.0}

    def __init__(self, lookout: Lookout, settings: RingSettings) -> None:
        self._lookout, self._settings, self.scope = lookout, settings, lookout.subject

    def start(self) -> ConflictMemory:
        """They have not differed."""
        return ConflictMemory()

    def judge(self, seen: View, memory: ConflictMemory) -> tuple[ConflictMemory, Sequence[Verdict]]:
        """The level of the ring; nothing is said where the library is not asked."""
        told = seen.newest(LIBRARY, self.scope)
        if told is None:
            return memory, ()
        closed = seen.number(LIBRARY, self.scope)
        ours = self._look(seen)
        if closed is None or ours is None:
            why = f"{LIBRARY}: {told.note}" if closed is None else "our own view of the links is not whole"
            return memory, [self._say(seen, Level.UNSURE, f"{self.scope}: the library's view and ours cannot be compared: {why}", (why,))]
        difference = self._differ(bool(closed), seen.text(PLACE, self.scope) or "", *ours)
        if told.at != memory.at:
            memory = ConflictMemory(memory.polls + 1 if difference else 0, told.at)
        if not difference:
            return memory, [self._say(seen, Level.CLEAR, f"{self.scope}: the library and the links agree")]
        if memory.polls <= self._settings.conflict_polls:
            return memory, [self._say(seen, Level.UNSURE, f"{difference}; that may pass", ("which of the two is behind",))]
        return memory, [self._say(seen, Level.RAISED, f"{difference}, for {memory.polls} readings: one of the two is wrong")]

    def _look(self, seen: View) -> tuple[str, Picture] | None:
        """Our verdict, if it is one: a fault that is seen, or every link seen up."""
        picture, report = self._lookout.look(seen, self.kind)
        verdict = report.verdict
        unsure = verdict == CLOSED and (picture.unseen_links or not picture.plan.hops)
        return None if unsure else (verdict, picture)

    def _differ(self, closed: bool, place: str, verdict: str, picture: Picture) -> str:
        """How the two differ, in a sentence without its end; empty when they agree."""
        if closed != (verdict == CLOSED):
            where = f" at {place}" if place and not closed else ""
            return f"the library calls {self.scope} {'closed' if closed else f'broken{where}'}, by its links it is {verdict}"
        if closed or verdict != BROKEN or not place:
            return ""
        hops = [hop for hop, _ in list_dark_hops(picture)]
        if not hops or any(place in (hop.a, hop.b, hop.sender, hop.receiver) for hop in hops):
            return ""
        return f"the library finds {self.scope} broken at {place}, by its links it is broken at {hops[0]}"

    def _say(self, seen: View, level: Level, text: str, unseen: Sequence[str] = ()) -> Verdict:
        return Verdict(
            kind=self.kind, subject=self.scope, level=level, text=text, at=seen.now, severity=Severity.WARNING, unseen=tuple(unseen)
        )
