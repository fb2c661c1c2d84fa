"""All feeds are gone at once, or one of them while another carries on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Topology, Verdict, View, find_most
from supernoded_power.mains import AWAY, STATUS, WATCHES, Feed, Feeds, Mains, Track
from supernoded_power.seeing import find_last, judge
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable

FIRED, DELAY = "pdu.event_age", "pdu.shed_delay"
UNREAD = "no UPS has been read since"
FIRED_S = 30.0  # a shed that is older is no news; as long as a return must last


class OutageMemory(msgspec.Struct, frozen=True):
    """What is remembered of each feed, and whether there is an outage."""

    tracks: dict[str, Track] = {}
    out: bool = False


class OutageRule:
    """Raises the site when every feed is away, till one of them is back for long enough and no generator's (safety rule 11)."""

    kind = "power.outage"
    watches: Mapping[str, float] = {**WATCHES, FIRED: 60.0, DELAY: 60.0}

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
        fired, at = self._find_firing(seen)
        unread = all((find_last(seen, STATUS, feed.ups) or 0.0) < at for feed in feeds)
        level, text = self._weigh(feeds, fired, unread=unread, out=memory.out)
        out = level is Level.RAISED or (memory.out and level is Level.UNSURE)
        unseen = tuple(feed.text for feed in feeds if feed.mains in {Mains.UNKNOWN, Mains.CONFLICT})
        verdict = judge(self.kind, self.scope, seen.now, level, text, Severity.CRITICAL, unseen)
        return OutageMemory(tracks, out), [verdict]

    def _find_firing(self, seen: View) -> tuple[str, float]:
        """A shed that has just been and when, by the PDU's own record: the sag behind it may have been shorter than a poll."""
        told = {pdu: seen.good(FIRED, pdu) for pdu in self._pdus}
        found = {pdu: one.value + seen.now - one.at for pdu, one in told.items() if one is not None and isinstance(one.value, float)}
        ages = {pdu: age for pdu, age in found.items() if age < FIRED_S}
        if not ages:
            return "", 0.0
        delays = [delay for pdu in ages if (delay := find_most(seen, DELAY, pdu)) is not None]
        took = f", {max(delays):.1f} ms after the trigger" if delays else ""
        clock = "their own clocks" if len(ages) > 1 else "its own clock"
        newest = min(ages.values())
        names = " and ".join((*list(ages)[:2], *([f"{len(ages) - 2} more"] if len(ages) > 2 else [])))
        return f"{names} shed {newest:.1f} s ago by {clock}{took}", seen.now - newest

    def _weigh(self, feeds: Sequence[Feed], fired: str, *, unread: bool, out: bool) -> tuple[Level, str]:
        told = "; ".join(feed.text for feed in feeds)
        if all(feed.is_away for feed in feeds):
            return Level.RAISED, f"no feed has mains: {told}{f'; {fired}' if fired else ''}"
        present = [feed for feed in feeds if feed.mains is Mains.PRESENT]
        if not present:
            return Level.UNSURE, f"whether there are mains cannot be told: {told}"
        if fired:
            now = UNREAD if unread else f"now {told}"
            return Level.RAISED, f"{fired}, so that no feed had mains, if only for a moment; {now}"
        if not out:
            return Level.CLEAR, told
        back = max(present, key=lambda feed: (not feed.generator, feed.stable_s))
        if back.generator:
            return Level.RAISED, f"{back.subject} is carried by a generator, which is not the mains: a second break is to be expected"
        if back.stable_s < self._stable_s:
            return Level.RAISED, f"{back.subject} is back for {back.stable_s:.0f} s, it counts from {self._stable_s:g} s on"
        return Level.CLEAR, f"{back.subject} has mains for {back.stable_s:.0f} s"


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
        there = [other for other in feeds if other is not feed and other.mains is Mains.PRESENT]
        carries = [other.subject for other in there]
        if feed.mains is Mains.PRESENT:
            return judge(self.kind, feed.subject, now, Level.CLEAR, feed.text)
        if feed.mains not in AWAY:
            return judge(self.kind, feed.subject, now, Level.UNSURE, feed.text, unseen=(feed.text,))
        if not carries:
            return judge(self.kind, feed.subject, now, Level.UNSURE, f"{feed.text}, and no other feed is known to carry the load")
        lasts = min(feed.away_s, max(other.stable_s for other in there))
        if lasts < self._flash_s:  # the other may be gone as well, or this one be back, and not have been read since
            return judge(self.kind, feed.subject, now, Level.UNSURE, f"{feed.text}, and another is there, for {lasts:.1f} s")
        return judge(self.kind, feed.subject, now, Level.RAISED, f"{feed.text}; {', '.join(carries)} carries the load alone")
