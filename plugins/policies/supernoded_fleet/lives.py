"""Whether nodes beat: late, gone, or only without their daemon. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Level, Node, Severity, Verdict, View
from supernoded_fleet.seeing import FLEET, SIGHTS, Sight, find_split, is_beating, look
from supernoded_fleet.settings import FleetSettings
from supernoded_fleet.turns import Turn, choose, pass_turn


class Roll:
    """Which of the site's nodes are not simply well: looked at once for all rules that ask at one moment."""

    def __init__(self, node: Node, settings: FleetSettings) -> None:
        self.node, self.settings = node, settings
        self.names = [one.name for one in node.topology.nodes]
        self._found: tuple[float, int, set[str], set[str]] = (0.0, -1, set(), set())

    def find(self, seen: View) -> tuple[set[str], set[str]]:
        """Who does not beat in time, and of whom that is not known."""
        if self._found[:2] != (seen.now, seen.turn):
            silent, unknown = set[str](), set[str]()
            for name in self.names:
                beats = is_beating(seen, name, self.settings.late_s)
                if not beats:
                    (unknown if beats is None else silent).add(name)
            self._found = seen.now, seen.turn, silent, unknown
        return self._found[2:]


class _LifeRule:
    """Judges every node of the topology by its beats."""

    kind = ""
    scope = FLEET
    watches: Mapping[str, float] = SIGHTS

    def __init__(self, roll: Roll) -> None:
        self._roll, self._node, self._settings = roll, roll.node, roll.settings

    def start(self) -> Turn:
        """The readings say all: what it remembers saves it words."""
        return Turn()

    def judge(self, seen: View, memory: Turn) -> tuple[Turn, Sequence[Verdict]]:
        """The level of every node, of those that are well in turns."""
        names = self._roll.names
        split = find_split(seen, len(names))
        said = [self._judge(seen, name, split) for name in choose(names, *self._roll.find(seen), memory)]
        return pass_turn(names, said, memory), said

    def _judge(self, seen: View, name: str, split: str) -> Verdict:
        if self._node.is_under_maintenance(name):
            return self._say(seen, name, Level.UNSURE, f"{name}: under maintenance, it is not judged")
        sight = look(seen, name, self._settings)
        if sight.why:
            return self._say(seen, name, Level.UNSURE, f"{name}: {sight.why}", unseen=("node.beat_age",))
        if sight.age <= self._settings.late_s:
            return self._say(seen, name, Level.CLEAR, f"{name}: its daemon beats")
        if not sight.late:
            text = f"{name}: not heard since this daemon began to hear, it has {self._settings.settle_s:g} s"
            return self._say(seen, name, Level.UNSURE, text)
        level, text, severity = self.weigh(name, sight, split)
        return self._say(seen, name, level, text, severity)

    def weigh(self, name: str, sight: Sight, split: str) -> tuple[Level, str, Severity]:
        """What is said of a node that is late."""
        raise TypeError(f"{type(self).__name__} does not say what it makes of {name}: {sight}, {split}")

    def is_gone(self, sight: Sight, split: str) -> bool:
        """Whether the node is gone: only with a second view, and only while more than half of the site is heard."""
        return sight.age >= self._settings.gone_s and sight.answers is False and not split

    def is_daemon_gone(self, sight: Sight) -> bool:
        """Whether its daemon alone is: the machine has answered since the last beat, and for long enough to start one."""
        return sight.age >= self._settings.gone_s and sight.answers is True and sight.answering >= self._settings.start_s

    def _say(
        self, seen: View, name: str, level: Level, text: str, severity: Severity = Severity.WARNING, unseen: tuple[str, ...] = ()
    ) -> Verdict:
        return Verdict(kind=self.kind, subject=name, level=level, text=text, at=seen.now, severity=severity, unseen=unseen)


class LateRule(_LifeRule):
    """Raises a node of which no beat is heard, until it is known what is gone: then that is told in its place."""

    kind = "node.late"

    def weigh(self, name: str, sight: Sight, split: str) -> tuple[Level, str, Severity]:
        """Late is late; the second view is told."""
        if better := "node.gone" if self.is_gone(sight, split) else "daemon.gone" if self.is_daemon_gone(sight) else "":
            return Level.CLEAR, f"{name}: it is told as {better}", Severity.WARNING
        if sight.age >= self._settings.gone_s and sight.answers:  # what was gone is not late anew for that
            return Level.UNSURE, f"{name}: its machine has just come back, its daemon has {self._settings.start_s:g} s", Severity.WARNING
        more = f"; {split}, so it may be this side that is cut off" if split else ""
        text = f"{name}: no beat for {sight.age:.1f} s, the limit is {self._settings.late_s:g} s; {sight.view}{more}"
        return Level.RAISED, text, Severity.WARNING


class GoneRule(_LifeRule):
    """Raises a node that is silent and does not answer past the broker either."""

    kind = "node.gone"

    def weigh(self, name: str, sight: Sight, split: str) -> tuple[Level, str, Severity]:
        """What is seen past the broker decides."""
        text = f"{name}: no beat for {sight.age:.1f} s, and {sight.view}"
        if self.is_gone(sight, split):
            return Level.RAISED, f"{text}: the node is gone; look at its power, its console and its network", Severity.CRITICAL
        if sight.age < self._settings.gone_s or sight.answers is None:
            return Level.UNSURE, text, Severity.CRITICAL
        if split:
            return Level.UNSURE, f"{text}; but {split}, so it may be this side that is cut off", Severity.CRITICAL
        return Level.UNSURE, f"{text}: the machine is there", Severity.CRITICAL


class DaemonRule(_LifeRule):
    """Raises a node whose machine is there and whose daemon is silent."""

    kind = "daemon.gone"

    def weigh(self, name: str, sight: Sight, split: str) -> tuple[Level, str, Severity]:
        """The machine must have answered since the last beat."""
        del split
        text = f"{name}: no beat of its daemon for {sight.age:.1f} s, but {sight.view}"
        if self.is_daemon_gone(sight):
            advice = "start it there: `systemctl start supernoded`; if it runs, look at its way to the broker"
            return Level.RAISED, f"{text}: {advice}", Severity.WARNING
        if sight.age < self._settings.gone_s or sight.answers is None:
            return Level.UNSURE, text, Severity.WARNING
        if not sight.answers:
            return Level.CLEAR, f"{name}: {sight.view}: it is more than its daemon", Severity.WARNING
        return Level.UNSURE, f"{text}: it has just come back, its daemon has {self._settings.start_s:g} s", Severity.WARNING
