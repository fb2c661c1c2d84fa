"""Communication times out while all links are up and lose nothing: its buffer is too small (N9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Level, Node, Severity, Verdict, View
from supernoded_network.growth import grow_most, list_subjects, say_why
from supernoded_network.settings import NetworkSettings
from supernoded_network.trouble import QUANTITIES, count_links, find_troubles, list_unseen

TIMEOUTS, RANK = "comm.timeouts", "rank.state"
STANDING = frozenset({"silent", "waiting", "gone"})  # states of a rank that does not step, or whose peers do not
MOST_NAMED = 3


class BufferRule:
    """Raises what times out without any other reason in sight. It is advice: nothing is isolated for it."""

    kind, scope = "comm.buffer", NODE

    def __init__(self, node: Node, settings: NetworkSettings) -> None:
        self._settings, self._ber = settings, node.limits.link.ber_alarm
        self._declared = frozenset(
            f"{member}/{port}" for ring in node.topology.rings for member in ring.order for port in ("port0", "port1")
        )
        members = (tuple(dict.fromkeys(member.partition("/")[0] for member in ring.order)) for ring in node.topology.rings)
        self._others = len({other for nodes in members if node.name in nodes for other in nodes} - {node.name})
        self.watches: Mapping[str, float] = dict.fromkeys((*QUANTITIES, TIMEOUTS, RANK), settings.buffer_window_s)

    def start(self) -> None:
        """It remembers nothing: the window holds all that it needs."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of everything that counts time-outs."""
        return memory, [self._judge(seen, subject) for subject in list_subjects(seen, [TIMEOUTS])]

    def _judge(self, seen: View, subject: str) -> Verdict:
        level, text, unseen = self._weigh(seen, subject)
        return Verdict(
            kind=self.kind, subject=subject, level=level, text=text, at=seen.now, severity=Severity.WARNING, unseen=tuple(unseen)
        )

    def _weigh(self, seen: View, subject: str) -> tuple[Level, str, Sequence[str]]:
        window, timeouts = self._settings.buffer_window_s, grow_most(seen, TIMEOUTS, subject)
        if timeouts is None:
            why = say_why(seen, TIMEOUTS, subject)
            return Level.UNSURE, f"{subject}: whether communication times out cannot be seen: {why}", (why,)
        said = f"{subject}: {timeouts:.0f} communication time-outs in {window:.0f} s"
        if timeouts < self._settings.buffer_timeouts:
            return Level.CLEAR, said if timeouts else f"{subject}: no communication time-out in {window:.0f} s", ()
        troubles = list(find_troubles(seen, self._declared, self._ber, self._settings.hot_c))
        if troubles:
            return Level.CLEAR, f"{said}, but not for want of buffer: {'; '.join(troubles[:MOST_NAMED])}", ()
        if stood := find_standing(seen):
            doubt = f"{said}, while {stood} stood still or waited: whatever holds a job up makes its communication time out"
            return Level.UNSURE, doubt, (f"whether it times out without {stood} standing still",)
        links = count_links(seen)
        if not links["up"] or links["unknown"]:
            unseen = [f"link.state: {links['unknown']} links are not seen" if links["unknown"] else "link.state: no link is seen up"]
            return Level.UNSURE, f"{said}, whether all links are up cannot be seen", unseen
        text = f"{said}, while all {links['up']} links are up and lose nothing: the communication buffer may be too small"
        if not self._others:
            return Level.RAISED, text, list_unseen(seen)
        elsewhere = (
            f"cards and links of the {self._others} other nodes of its rings"  # a job waits for its hottest card, wherever that is (T9)
        )
        return Level.RAISED, f"{text}, unless a card elsewhere is hot or a link broken", [*list_unseen(seen), elsewhere]


def find_standing(seen: View) -> str:
    """A rank here that was silent or gone within the window, or waited for one that is so anywhere in its job; empty where all step."""
    for rank in list_subjects(seen, [RANK]):
        for source in seen.sources(RANK, rank):
            if any(one.value in STANDING for one in seen.window(RANK, rank, source)):
                return rank
    return ""
