"""Batteries that would not carry the load, that are to be replaced, and UPSes that carry too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Verdict, View, find_least, find_most, is_read, say_why
from supernoded_power.mains import STATUS, WATCHES, Feed, Feeds, Mains, Track
from supernoded_power.outage import FeedMemory
from supernoded_power.seeing import judge, name_phases
from supernoded_power.settings import PowerSettings
from supernoded_power.status import Source

CHARGE, HEALTH, TEST, LOAD = "ups.charge", "ups.battery_health", "ups.test_result", "ups.load"
EMPTY = 1.0  # percent: a battery with less is none
FULL_LOAD = 100.0  # percent


class RideRule:
    """Raises a UPS that would not carry its load through a break: save oftener, shed nothing (safety rule 13)."""

    kind = "power.no_ride_through"
    watches: Mapping[str, float] = {**WATCHES, CHARGE: 60.0}

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope, self._feeds = settings.subject, feeds

    def start(self) -> FeedMemory:
        """Nothing is known."""
        return FeedMemory()

    def judge(self, seen: View, memory: FeedMemory) -> tuple[FeedMemory, Sequence[Verdict]]:
        """The level of every UPS."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        return FeedMemory(tracks), [verdict for feed in feeds if (verdict := self._judge(seen, feed)) is not None]

    def _judge(self, seen: View, feed: Feed) -> Verdict | None:
        row = feed.row
        if row is None:
            return None
        if row.source not in {Source.MAINS, Source.BYPASS, Source.OFF}:
            return judge(self.kind, feed.ups, seen.now, Level.UNSURE, feed.text)
        charge = find_least(seen, CHARGE, feed.ups)
        if charge is not None and charge < EMPTY:
            text = f"{feed.ups} would not carry its load through a break: its battery is at {charge:.0f} %"
            return judge(self.kind, feed.ups, seen.now, Level.RAISED, text)
        if not row.oftener:
            return judge(self.kind, feed.ups, seen.now, Level.CLEAR, f"{feed.ups} is {row.means}")
        level = Level.RAISED if feed.settled else Level.UNSURE
        what = "carries nothing" if row.source is Source.OFF else "may not carry its load through a break"
        return judge(self.kind, feed.ups, seen.now, level, f"{feed.ups} {what}: {row.means}")


class Flagged(msgspec.Struct, frozen=True):
    """What is remembered of feeds, and since when each UPS has been flagged or too heavy."""

    tracks: dict[str, Track] = {}
    since: dict[str, float] = {}


class BatteryRule:
    """Raises a battery that is to be replaced: by its UPS's flag where that lasts, by a test, by its health."""

    kind = "ups.battery"
    watches: Mapping[str, float] = {**WATCHES, HEALTH: 60.0, TEST: 60.0}

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._set = feeds, settings

    def start(self) -> Flagged:
        """Nothing is known."""
        return Flagged()

    def judge(self, seen: View, memory: Flagged) -> tuple[Flagged, Sequence[Verdict]]:
        """The level of every UPS that says a word."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        upses = [feed.ups for feed in feeds if feed.row is not None and any(is_read(seen, one, feed.ups) for one in (STATUS, HEALTH, TEST))]
        flagged = [ups for ups in upses if has_flag(seen, ups, "rb")]
        since = {ups: memory.since.get(ups, seen.now) for ups in flagged}
        return Flagged(tracks, since), [self._judge(seen, ups, since.get(ups)) for ups in upses]

    def _judge(self, seen: View, ups: str, since: float | None) -> Verdict:
        health, test = find_least(seen, HEALTH, ups), (seen.text(TEST, ups) or "")
        reasons = []
        if since is not None and seen.now - since >= self._set.flash_s:
            reasons.append(f"it has asked for a new one for {seen.now - since:.0f} s")
        if has_failed(test):
            reasons.append(f"its last test says {test!r}")
        if health is not None and health < self._set.health_low_percent:
            reasons.append(f"its health is {health:.0f} %, told below {self._set.health_low_percent:g} %")
        if reasons:
            return judge(self.kind, ups, seen.now, Level.RAISED, f"the battery of {ups} is to be replaced: {'; '.join(reasons)}")
        if since is not None:
            return judge(self.kind, ups, seen.now, Level.UNSURE, f"{ups} asks for a new battery, for less than {self._set.flash_s:g} s")
        if seen.flags(STATUS, ups) is None and health is None:
            why = say_why(seen, STATUS, ups)
            return judge(self.kind, ups, seen.now, Level.UNSURE, f"the battery of {ups} cannot be seen: {why}", unseen=(why,))
        return judge(self.kind, ups, seen.now, Level.CLEAR, f"nothing speaks against the battery of {ups}")


def has_flag(seen: View, ups: str, flag: str) -> bool:
    """Whether any fresh source has this flag."""
    return any(flag in {one.lower() for one in seen.flags(STATUS, ups, source) or ()} for source in seen.sources(STATUS, ups))


def has_failed(test: str) -> bool:
    """Whether a test's result, in whatever words, is bad; `no test initiated` and the like are no result."""
    words = test.lower()
    return not words.startswith("no ") and any(word in words for word in ("fail", "bad", "error", "replace"))


class OverloadRule:
    """Raises a UPS that carries more than it is made for, by its flag or its load, when that lasts."""

    kind = "ups.overload"
    watches: Mapping[str, float] = {**WATCHES, **dict.fromkeys(name_phases(LOAD), 60.0)}

    def __init__(self, feeds: Feeds, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._set = feeds, settings

    def start(self) -> Flagged:
        """Nothing is known."""
        return Flagged()

    def judge(self, seen: View, memory: Flagged) -> tuple[Flagged, Sequence[Verdict]]:
        """The level of every UPS that tells a load or its flags."""
        upses = [f"ups/{name}" for name in self._feeds.names if is_read(seen, STATUS, f"ups/{name}") or is_read(seen, LOAD, f"ups/{name}")]
        found = {ups: find_excess(seen, ups) for ups in upses}
        since = {ups: memory.since.get(ups, seen.now) for ups, excess in found.items() if excess}
        return Flagged({}, since), [self._judge(seen, ups, found[ups], since.get(ups)) for ups in upses]

    def _judge(self, seen: View, ups: str, excess: str, since: float | None) -> Verdict:
        if since is not None:
            level = Level.RAISED if seen.now - since >= self._set.settle_s else Level.UNSURE
            return judge(self.kind, ups, seen.now, level, f"{ups} is overloaded: {excess}", Severity.CRITICAL)
        load = find_most(seen, LOAD, ups)
        if load is None and seen.flags(STATUS, ups) is None:
            why = say_why(seen, LOAD, ups)
            return judge(self.kind, ups, seen.now, Level.UNSURE, f"the load of {ups} cannot be seen: {why}", unseen=(why,))
        return judge(
            self.kind, ups, seen.now, Level.CLEAR, f"{ups} carries {load:.0f} %" if load is not None else f"{ups} is not overloaded"
        )


def find_excess(seen: View, ups: str) -> str:
    """In what a UPS carries too much; empty when in nothing."""
    for quantity in name_phases(LOAD):
        load = find_most(seen, quantity, ups)
        if load is not None and load > FULL_LOAD:
            return f"{quantity} is {load:.0f} %"
    return "it says so" if has_flag(seen, ups, "over") else ""


def is_calm(feeds: Sequence[Feed], seen: View) -> bool:
    """Whether no UPS that is present carries too much."""
    return not any(find_excess(seen, feed.ups) for feed in feeds if feed.mains is Mains.PRESENT)
