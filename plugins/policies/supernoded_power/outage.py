"""All feeds are gone at once, or one of them while another carries on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Topology, Verdict, View
from supernoded_power.mains import AWAY, WATCHES, Feed, Feeds, Mains, Track
from supernoded_power.seeing import find_least, judge
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable

FIRED = "pdu.event_age"
FIRED_S = 30.0  # a shed that is older is no news; as long as a return must last


class OutageMemory(msgspec.Struct, frozen=True):
    """What is remembered of each feed, and whether there is an outage."""

    tracks: dict[str, Track] = {}
    out: bool = False


class OutageRule:
    """Raises the site when every feed is away, till one of them is back for long enough and no generator's (safety rule 11)."""

    kind = "power.outage"
    watches: Mapping[str, float] = {**WATCHES, FIRED: 60.0}

    def __init__(self, feeds: Feeds, site: Topology, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._stable_s = feeds, settings.stable_s
        self._pdus = tuple(f"pdu/{pdu.name}" for pdu in site.pdus if list_sheddable(site, pdu.name))

    def start(self) -> OutageMemory:
        """Nothing is known."""
        return OutageMemory()

    def judge(self, seen: View, memory: OutageMemory) -> tuple[OutageMemory, Sequence[Verdict]]:
        """The level of the site; none for one without feeds."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        if not feeds:
            return memory, ()
        level, text = self._weigh(feeds, self._find_firing(seen), out=memory.out)
        out = level is Level.RAISED or (memory.out and level is Level.UNSURE)
        unseen = tuple(feed.text for feed in feeds if feed.mains in {Mains.UNKNOWN, Mains.CONFLICT})
        verdict = judge(self.kind, self.scope, seen.now, level, text, Severity.CRITICAL, unseen)
        return OutageMemory(tracks, out), [verdict]

    def _find_firing(self, seen: View) -> str:
        """A shed that has just been, by the PDU's own record: the sag behind it may have been shorter than a poll."""
        ages = {pdu: age for pdu in self._pdus if (age := find_least(seen, FIRED, pdu)) is not None and age < FIRED_S}
        pdu = min(ages, key=ages.__getitem__, default="")
        return f"{pdu} shed its outlets {ages[pdu]:.1f} s ago" if pdu else ""

    def _weigh(self, feeds: Sequence[Feed], fired: str, *, out: bool) -> tuple[Level, str]:
        told = "; ".join(feed.text for feed in feeds)
        if all(feed.is_away for feed in feeds):
            return Level.RAISED, f"no feed has mains: {told}"
        present = [feed for feed in feeds if feed.mains is Mains.PRESENT]
        if not present:
            return Level.UNSURE, f"whether there are mains cannot be told: {told}"
        if fired:
            return Level.RAISED, f"{fired}, so that no feed had mains, if only for a moment: {told}"
        if not out:
            return Level.CLEAR, told
        back = max(present, key=lambda feed: (not feed.generator, feed.stable_s))
        if back.generator:
            return Level.RAISED, f"{back.subject} is carried by a generator, which is not the mains: a second break is to be expected"
        if back.stable_s < self._stable_s:
            return Level.RAISED, f"{back.subject} is back for {back.stable_s:.0f} s, it counts from {self._stable_s:g} s on"
        return Level.CLEAR, f"{back.subject} is back for {back.stable_s:.0f} s"


class FeedMemory(msgspec.Struct, frozen=True):
    """What is remembered of each feed."""

    tracks: dict[str, Track] = {}


class FeedLostRule:
    """Raises one feed that is away while another carries the load: work is saved, nothing is ever shed (safety rule 5)."""

    kind = "power.feed_lost"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._flash_s = feeds, settings.flash_s

    def start(self) -> FeedMemory:
        """Nothing is known."""
        return FeedMemory()

    def judge(self, seen: View, memory: FeedMemory) -> tuple[FeedMemory, Sequence[Verdict]]:
        """The level of every feed, where there are two or more."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        if len(feeds) < 2:
            return memory, ()
        return FeedMemory(tracks), [self._judge(feed, feeds, seen.now) for feed in feeds]

    def _judge(self, feed: Feed, feeds: Sequence[Feed], now: float) -> Verdict:
        carries = [other.subject for other in feeds if other is not feed and other.mains is Mains.PRESENT]
        if feed.mains is Mains.PRESENT:
            return judge(self.kind, feed.subject, now, Level.CLEAR, feed.text)
        if feed.mains not in AWAY:
            return judge(self.kind, feed.subject, now, Level.UNSURE, feed.text, unseen=(feed.text,))
        if not carries:
            return judge(self.kind, feed.subject, now, Level.UNSURE, f"{feed.text}, and no other feed is known to carry the load")
        if feed.away_s < self._flash_s:  # the other may be gone as well, and not have been read since
            return judge(self.kind, feed.subject, now, Level.UNSURE, f"{feed.text} for {feed.away_s:.1f} s")
        return judge(self.kind, feed.subject, now, Level.RAISED, f"{feed.text}; {', '.join(carries)} carries the load alone")
