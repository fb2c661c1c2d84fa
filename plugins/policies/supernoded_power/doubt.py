"""Views that contradict each other, and a UPS of which nothing is heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Level, Severity, Verdict, View, is_read, say_why
from supernoded_power.mains import STATUS, WATCHES, Feed, Feeds, Mains
from supernoded_power.outage import FeedMemory
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings


class ConflictRule:
    """Raises a feed whose views contradict each other: that may start a checkpoint, never a shed (safety rule 13)."""

    kind = "power.conflict"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope, self._feeds = settings.subject, feeds

    def start(self) -> FeedMemory:
        """Nothing is known."""
        return FeedMemory()

    def judge(self, seen: View, memory: FeedMemory) -> tuple[FeedMemory, Sequence[Verdict]]:
        """The level of every feed."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        return FeedMemory(tracks), [self._judge(feed, seen.now) for feed in feeds]

    def _judge(self, feed: Feed, now: float) -> Verdict:
        if feed.mains is Mains.CONFLICT:
            return judge(self.kind, feed.subject, now, Level.RAISED, f"{feed.subject} contradicts itself: {feed.conflict}")
        if feed.mains is Mains.UNKNOWN:
            return judge(self.kind, feed.subject, now, Level.UNSURE, feed.text, unseen=(feed.text,))
        return judge(self.kind, feed.subject, now, Level.CLEAR, feed.text)


class SilentRule:
    """Raises a UPS of which nothing is heard: critical when it was on battery then, or when its PDUs are silent too.

    Safety rule 10; nut#2454: a short loss of the line while on battery; nut#2925: it vanishes in the moment in which the mains do.
    """

    kind = "power.silent"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._silent_s, self._flash_s = feeds, settings.silent_s, settings.flash_s

    def start(self) -> FeedMemory:
        """Nothing is known."""
        return FeedMemory()

    def judge(self, seen: View, memory: FeedMemory) -> tuple[FeedMemory, Sequence[Verdict]]:
        """The level of every UPS that was ever heard."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        heard = [feed for feed in feeds if feed.row is not None and is_read(seen, STATUS, feed.ups)]
        return FeedMemory(tracks), [self._judge(feed, seen) for feed in heard]

    def _judge(self, feed: Feed, seen: View) -> Verdict:
        if not feed.silent:
            return judge(self.kind, feed.ups, seen.now, Level.CLEAR, f"{feed.ups} is heard")
        why = say_why(seen, STATUS, feed.ups)
        if feed.was_on_battery:
            text = f"{feed.ups} was on battery and is silent ({why}); the load is taken to be alive till a second source says otherwise"
            return judge(self.kind, feed.ups, seen.now, Level.RAISED, text, Severity.CRITICAL, (why,))
        if feed.dark and feed.silent_s >= self._flash_s:
            text = (
                f"nothing is heard of {feed.ups} ({why}), nor of the PDUs behind it, for {feed.silent_s:.0f} s: {feed.subject} may be dead"
            )
            return judge(self.kind, feed.ups, seen.now, Level.RAISED, text, Severity.CRITICAL, (why,))
        text = f"nothing is heard of {feed.ups} for {feed.silent_s:.0f} s ({why})"
        level = Level.RAISED if feed.silent_s >= self._silent_s else Level.UNSURE
        return judge(self.kind, feed.ups, seen.now, level, text, unseen=(why,))
