"""Two daemons of one name, clocks that differ, a site that is split, a breaker that has tripped. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from supernoded.plugin import Level, Node, Severity, Verdict, View
from supernoded_fleet.seeing import FLEET, HEARD, OFFSET, RIVAL
from supernoded_fleet.settings import FleetSettings
from supernoded_fleet.turns import Turn, choose, pass_turn

BREAKERS = "fleet.breakers"
BACK = 0.8  # share of the limit below which a clock is right again (ours)


class RivalRule:
    """Raises a name that two daemons use."""

    kind, scope = "node.rival", FLEET
    watches: Mapping[str, float] = {RIVAL: 60.0, "node.life": 60.0}

    def start(self) -> Turn:
        """The readings say all: what it remembers saves it words."""
        return Turn()

    def judge(self, seen: View, memory: Turn) -> tuple[Turn, Sequence[Verdict]]:
        """The level of every name that is heard, of those that are well in turns."""
        names = seen.subjects(RIVAL)
        told = {name: rival for name in names if (rival := seen.text(RIVAL, name)) != ""}
        unknown = {name for name, rival in told.items() if rival is None}
        said = [self._judge(seen, name) for name in choose(names, told.keys() - unknown, unknown, memory)]
        return pass_turn(names, said, memory), said

    def _judge(self, seen: View, name: str) -> Verdict:
        rival = seen.text(RIVAL, name)
        if rival is None:
            level, text = Level.UNSURE, f"{name}: it is not known who beats there"
        elif rival:
            mine = seen.text("node.life", name) or "another"
            text = f"{name}: two daemons call themselves so, lives {mine} and {rival}, the limit is one; stop one or give it another name"
            level = Level.RAISED
        else:
            level, text = Level.CLEAR, f"{name}: one daemon beats there"
        return Verdict(kind=self.kind, subject=name, level=level, text=text, at=seen.now, severity=Severity.CRITICAL)


class ClockMemory(msgspec.Struct, frozen=True):
    """Whose clocks were wrong when last judged."""

    wrong: frozenset[str] = frozenset()
    turn: Turn = Turn()


class ClockRule:
    """Raises a clock that differs from the site's: from the median of all, where there are three or more, else from ours."""

    kind, scope = "node.clock", FLEET
    watches: Mapping[str, float] = {OFFSET: 60.0}

    def __init__(self, settings: FleetSettings) -> None:
        self._limit = settings.skew_s

    def start(self) -> ClockMemory:
        """All are right."""
        return ClockMemory()

    def judge(self, seen: View, memory: ClockMemory) -> tuple[ClockMemory, Sequence[Verdict]]:
        """The level of every clock that is known, of those that are right in turns."""
        offsets = {name: seen.number(OFFSET, name) for name in seen.subjects(OFFSET)}
        known = [offset for offset in offsets.values() if offset is not None]
        middle = median(known) if len(known) >= 3 else 0.0
        names, near = list(offsets), BACK * self._limit
        odd = {name for name, offset in offsets.items() if offset is not None and abs(offset - middle) > near}
        unknown = {name for name, offset in offsets.items() if offset is None}
        said = [self._judge(seen, name, offsets[name], middle, memory) for name in choose(names, odd, unknown, memory.turn)]
        raised = frozenset(one.subject for one in said if one.level is Level.RAISED)
        right = {one.subject for one in said if one.level is Level.CLEAR}
        wrong = raised | (memory.wrong & offsets.keys()) - right
        return ClockMemory(wrong, pass_turn(names, said, memory.turn)), said

    def _judge(self, seen: View, name: str, offset: float | None, middle: float, memory: ClockMemory) -> Verdict:
        if offset is None:
            return Verdict(kind=self.kind, subject=name, level=Level.UNSURE, text=f"{name}: its clock is not known", at=seen.now)
        off = offset - middle
        limit = self._limit * (BACK if name in memory.wrong else 1.0)
        level = Level.RAISED if abs(off) > limit else Level.CLEAR
        text = f"{name}: its clock is {abs(off):.1f} s {'ahead of' if off > 0 else 'behind'} the site's, the limit is {self._limit:g} s"
        advice = "; look at its time service (`chronyc tracking`): commands and leases go by clocks" if level is Level.RAISED else ""
        return Verdict(kind=self.kind, subject=name, level=level, text=f"{text}{advice}", at=seen.now)


class SplitMemory(msgspec.Struct, frozen=True):
    """Since when half of the site or less is heard; None = more is."""

    since: float | None = None


class SplitRule:
    """Raises the site when half of it or less is heard: this side takes nothing out meanwhile."""

    kind, scope = "fleet.split", FLEET
    watches: Mapping[str, float] = {HEARD: 60.0}

    def __init__(self, node: Node, settings: FleetSettings) -> None:
        self._count, self._node = len(node.topology.nodes), node.name
        self._patience = settings.split_s

    def start(self) -> SplitMemory:
        """It is whole."""
        return SplitMemory()

    def judge(self, seen: View, memory: SplitMemory) -> tuple[SplitMemory, Sequence[Verdict]]:
        """The level of the site."""
        heard = seen.number(HEARD, FLEET)
        if heard is None or self._count < 2:
            return memory, [self._say(seen, Level.UNSURE, "it is not known how many nodes beat")] if self._count > 1 else []
        if 2 * heard > self._count:
            return SplitMemory(), [self._say(seen, Level.CLEAR, f"{heard:.0f} of {self._count} nodes are heard")]
        since = memory.since if memory.since is not None and memory.since <= seen.now else seen.now
        text = (
            f"{self._node} hears {heard:.0f} of {self._count} nodes, where more than half are needed: nothing is taken out of service from "
            "here; look at the network between the nodes and the broker"
        )
        level = Level.RAISED if seen.now - since >= self._patience else Level.UNSURE
        return SplitMemory(since), [self._say(seen, level, text)]

    def _say(self, seen: View, level: Level, text: str) -> Verdict:
        return Verdict(kind=self.kind, subject=FLEET, level=level, text=text, at=seen.now, severity=Severity.CRITICAL)


class BreakerRule:
    """Raises the site while a breaker has tripped."""

    kind, scope = "breaker.tripped", FLEET
    watches: Mapping[str, float] = {BREAKERS: 60.0}

    def start(self) -> None:
        """It remembers nothing: breakers latch by themselves."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of the site."""
        tripped = seen.flags(BREAKERS, FLEET)
        if tripped is None:
            return memory, []
        names = ", ".join(sorted(tripped))
        text = f"tripped: {names}; nothing is taken out of service until a person resets it: `supernodectl breakers`" if names else "none"
        level = Level.RAISED if tripped else Level.CLEAR
        said = Verdict(kind=self.kind, subject=FLEET, level=level, text=f"breakers {text}", at=seen.now, severity=Severity.CRITICAL)
        return memory, [said]
