"""PDUs: a shed that came late, and loads whose two cords hang on one feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Limits, Topology, Verdict, View, find_least, is_read, say_why
from supernoded_power.mains import WATCHES, Feeds, Mains, Track
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings
from supernoded_power.site import Cord, list_cords

DELAY, AGE, EVENT = "pdu.shed_delay", "pdu.event_age", "pdu.event"
OUTLET_POWER, OUTLET_STATE = "outlet.power", "outlet.state"
RECENT_S = 3600.0  # a firing is told as late for so long
IDLE_W, IDLE_SHARE = 50.0, 0.05  # a node that draws more than this, less than that share of it by one feed, does not use that feed


class ShedLateRule:
    """Raises a PDU that took longer than P4 allows for its newest shed, by its own clock (Q22)."""

    kind = "power.shed_late"
    watches: Mapping[str, float] = {DELAY: 60.0, AGE: 60.0, EVENT: 60.0}

    def __init__(self, site: Topology, limits: Limits, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._pdus, self._most = tuple(f"pdu/{pdu.name}" for pdu in site.pdus), limits.power.shed_ms

    def start(self) -> None:
        """It remembers nothing."""

    def judge(self, seen: View, memory: None) -> tuple[None, Sequence[Verdict]]:
        """The level of every PDU that tells how long its sheds take."""
        return memory, [self._judge(seen, pdu) for pdu in self._pdus if is_read(seen, DELAY, pdu)]

    def _judge(self, seen: View, pdu: str) -> Verdict:
        delay, age = seen.number(DELAY, pdu), seen.number(AGE, pdu)
        if delay is None and age is None and seen.text(EVENT, pdu) is not None:
            return judge(self.kind, pdu, seen.now, Level.CLEAR, f"{pdu} tells of no shed")
        if delay is None:
            why = say_why(seen, DELAY, pdu)
            return judge(self.kind, pdu, seen.now, Level.UNSURE, f"how long {pdu} takes for a shed cannot be seen: {why}", unseen=(why,))
        text = f"{pdu} took {delay:.2f} ms for its newest shed, the limit is {self._most:g} ms"
        late = delay > self._most and (age is None or age <= RECENT_S)
        return judge(self.kind, pdu, seen.now, Level.RAISED if late else Level.CLEAR, text)


class CordsMemory(msgspec.Struct, frozen=True):
    """What is remembered of feeds, and since when each node draws by one of them alone."""

    tracks: dict[str, Track] = {}
    since: dict[str, float] = {}


class CordsRule:
    """Raises a node both of whose cords hang on one feed: as described, or by what its outlets give."""

    kind = "power.cords"
    watches: Mapping[str, float] = {**WATCHES, OUTLET_POWER: 60.0, OUTLET_STATE: 60.0}

    def __init__(self, feeds: Feeds, site: Topology, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._settle_s = feeds, settings.settle_s
        self._cords: dict[str, list[Cord]] = {}
        for cord in list_cords(site):
            self._cords.setdefault(cord.node, []).append(cord)
        self._meant = {node.name: len(set(node.feeds)) for node in site.nodes}

    def start(self) -> CordsMemory:
        """Nothing is known."""
        return CordsMemory()

    def judge(self, seen: View, memory: CordsMemory) -> tuple[CordsMemory, Sequence[Verdict]]:
        """The level of every node with two cords or more."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        present = {feed.name for feed in feeds if feed.mains is Mains.PRESENT}
        idle = {node: self._find_idle(seen, cords, present) for node, cords in self._cords.items() if len(cords) > 1}
        since = {node: memory.since.get(node, seen.now) for node, text in idle.items() if text}
        verdicts = [self._judge(seen, node, text, since.get(node)) for node, text in idle.items()]
        return CordsMemory(tracks, since), verdicts

    def _judge(self, seen: View, node: str, idle: str | None, since: float | None) -> Verdict:
        described = {cord.feed for cord in self._cords[node]}
        if len(described) == 1 and self._meant[node] > 1:
            text = f"{node}: all its cords are described on feed {next(iter(described))}, which nobody can lose"
            return judge(self.kind, node, seen.now, Level.RAISED, text)
        if since is not None and seen.now - since >= self._settle_s:
            return judge(self.kind, node, seen.now, Level.RAISED, f"{node}: {idle}")
        if idle is None or since is not None:
            return judge(self.kind, node, seen.now, Level.UNSURE, f"{node}: which feeds it draws from cannot be told yet")
        return judge(self.kind, node, seen.now, Level.CLEAR, f"{node} draws from feeds {', '.join(sorted(described))}")

    def _find_idle(self, seen: View, cords: Sequence[Cord], present: set[str]) -> str | None:
        """How it draws from one feed alone; empty when from all, None when that cannot be told."""
        drawn: dict[str, float] = {}
        for cord in cords:
            watts = find_least(seen, OUTLET_POWER, cord.outlet)
            is_off = seen.text(OUTLET_STATE, cord.outlet) == "off"
            if watts is None or is_off or cord.feed not in present:
                return None
            drawn[cord.feed] = drawn.get(cord.feed, 0.0) + watts
        total = sum(drawn.values())
        if total < IDLE_W:
            return None
        idle = [feed for feed, watts in drawn.items() if watts < IDLE_SHARE * total]
        if not idle:
            return ""
        return f"of {total:.0f} W it draws {drawn[idle[0]]:.0f} W from feed {idle[0]}: both cords on one feed, or a dead power supply"
