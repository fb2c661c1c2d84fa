"""Fans that fail, and fans under manual control that nobody claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Severity, Verdict, View
from supernoded_thermal.node.fans import CONTROL, WATCHES, Fan, look_at_fans
from supernoded_thermal.node.looking import judge, say_list, say_why
from supernoded_thermal.node.settings import NodeSettings

SHED_S = 20.0  # s that all fans may stand: twice what a PDU keeps a shed group off (safety 7)
SETTLED_S = 600.0  # s after which whoever has the fans has them for good (ours)


class Standing(msgspec.Struct, frozen=True):
    """Since when all fans stand."""

    since: float | None = None
    raised: frozenset[str] = frozenset()


class FanRule:
    """Raises a fan that stands or moves no air while the others do, and a node all of whose fans stand for longer than a shed."""

    kind, scope = "fan.failed", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, node: str, settings: NodeSettings) -> None:
        self._node, self._settings = node, settings

    def start(self) -> Standing:
        """Nothing stands."""
        return Standing()

    def judge(self, seen: View, memory: Standing) -> tuple[Standing, Sequence[Verdict]]:
        """The level of every fan that was ever read, and of the node."""
        look = look_at_fans(seen, self._node, self._settings)
        if not look.fans:
            return memory, []
        since = (seen.now if memory.since is None else min(memory.since, seen.now)) if look.standing else None
        verdicts = [self._judge(fan, seen, fan.subject in memory.raised) for fan in look.fans]
        verdicts.append(self._judge_all(seen.now, since, len(look.fans)))
        failed = frozenset(look.failed) | (memory.raised & {fan.subject for fan in look.fans if fan.failed is None})
        return Standing(since, failed), verdicts

    def _judge(self, fan: Fan, seen: View, was_raised: bool) -> Verdict:
        if fan.failed is None:
            return judge(self.kind, fan.subject, seen.now, Level.UNSURE, fan.text, unseen=(fan.text,))
        level = Level.RAISED if fan.failed else Level.CLEAR
        again = "" if fan.failed or not was_raised else " again"
        return judge(self.kind, fan.subject, seen.now, level, f"{fan.text}{again}")

    def _judge_all(self, now: float, since: float | None, count: int) -> Verdict:
        if since is None:
            return judge(self.kind, self._node, now, Level.CLEAR, f"fans of {self._node} turn")
        stood = now - since
        text = f"all {count} fans of {self._node} stand for {stood:.0f} s though they were told to turn: see to their power"
        if stood < SHED_S:
            return judge(self.kind, self._node, now, Level.UNSURE, f"{text}, unless a shed ends within {SHED_S:g} s")
        return judge(self.kind, self._node, now, Level.RAISED, text, Severity.CRITICAL)


class Owner(msgspec.Struct, frozen=True):
    """Who has the fans, since when, and who had them before."""

    now: str = ""
    since: float = 0.0
    before: str = ""


class ControlRule:
    """Whose the fans are.

    With `fans = "bmc"` nobody of ours ever leaves them in manual: they are told after `unclaimed_s`. With `fans = "loop"` they are manual
    while we steer; that they no longer are is told as information, as it is right where they were handed back.
    """

    kind, scope = "fan.control", NODE
    watches: Mapping[str, float] = {CONTROL: 60.0}

    def __init__(self, node: str, settings: NodeSettings) -> None:
        self._node, self._settings = node, settings

    def start(self) -> Owner:
        """Not known."""
        return Owner()

    def judge(self, seen: View, memory: Owner) -> tuple[Owner, Sequence[Verdict]]:
        """The level of the node."""
        if self._node not in seen.subjects(CONTROL):
            return memory, []
        words = [word for source in seen.sources(CONTROL, self._node) if (word := seen.text(CONTROL, self._node, source)) is not None]
        if not words:
            why = say_why(seen, CONTROL, self._node)
            text = f"who controls the fans of {self._node} cannot be seen: {why}"
            return memory, [judge(self.kind, self._node, seen.now, Level.UNSURE, text, unseen=(why,))]
        word = "manual" if "manual" in words else say_list(sorted(set(words)))
        if word != memory.now:
            memory = Owner(word, seen.now, memory.now)
        memory = msgspec.structs.replace(memory, since=min(memory.since, seen.now))  # a clock that was set back
        level, text, severity = self._weigh(memory, max(seen.now - memory.since, 0.0))
        return memory, [judge(self.kind, self._node, seen.now, level, text, severity)]

    def _weigh(self, owner: Owner, for_s: float) -> tuple[Level, str, Severity]:
        said = f"the fans of {self._node} are under {owner.now} control"
        if self._settings.fans == "loop":
            if owner.now == "manual" or owner.before != "manual" or for_s >= SETTLED_S:
                return Level.CLEAR, said, Severity.INFO
            text = (
                f"{said} for {for_s:.0f} s, and were manual before: handed back, or taken by the BMC or another hand; it is not fought over"
            )
            return Level.RAISED, text, Severity.INFO
        if owner.now != "manual":
            return Level.CLEAR, said, Severity.INFO
        if for_s < self._settings.unclaimed_s:
            return Level.CLEAR, f"{said} for {for_s:.0f} s; told after {self._settings.unclaimed_s:g} s", Severity.INFO
        text = f"{said} for {for_s:.0f} s, nothing here steers them: they keep their duty however hot it gets. Give them back to the BMC"
        return Level.RAISED, text, Severity.WARNING
