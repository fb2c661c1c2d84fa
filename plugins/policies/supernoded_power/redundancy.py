"""2N: per phase and in VA, what all UPSes carry must fit on those that remain when the largest is lost (safety rule 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Topology, Verdict, View, find_most, say_why
from supernoded_power.mains import WATCHES, Feed, Feeds, Mains, Track
from supernoded_power.seeing import PHASES, judge, list_phases, name_phases
from supernoded_power.settings import PowerSettings

VA, LOAD, RATED = "ups.output_va", "ups.load", "ups.rated_va"


class RedundancyMemory(msgspec.Struct, frozen=True):
    """What is remembered of feeds; since when the load is too much for one, one is missing, and one is dead beside another. 0 = not."""

    tracks: dict[str, Track] = {}
    over_since: float = 0.0
    lost_since: float = 0.0
    dead_since: float = 0.0


class Share(msgspec.Struct, frozen=True):
    """What one UPS carries and may carry, VA by phase; a single phase is called `all`."""

    ups: str
    carries: Mapping[str, float]
    rated: float  # of each phase


class RedundancyRule:
    """Raises the site at once when one UPS could not carry it alone, or is dead; and when one has been missing for long."""

    kind = "power.redundancy"
    watches: Mapping[str, float] = {**WATCHES, **dict.fromkeys((*name_phases(VA, LOAD), RATED), 60.0)}

    def __init__(self, feeds: Feeds, site: Topology, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._set = feeds, settings
        self._rated = {ups.name: ups.rated_va for ups in site.ups}

    def start(self) -> RedundancyMemory:
        """Nothing is known."""
        return RedundancyMemory()

    def judge(self, seen: View, memory: RedundancyMemory) -> tuple[RedundancyMemory, Sequence[Verdict]]:
        """The level of the site; none where there are fewer than two UPSes."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        backed = [feed for feed in feeds if feed.name in self._rated]
        if len(backed) < 2:
            return memory, ()
        shares = {feed.name: self._look(seen, feed.name) for feed in backed}
        known = [share for share in shares.values() if share is not None]
        over = find_overload(known)
        missing = [feed for feed in backed if not _is_ready(feed)]
        dead = [feed for feed in missing if feed.mains is Mains.LOST or feed.dark] if len(missing) < len(backed) else []
        memory = RedundancyMemory(
            tracks,
            (memory.over_since or seen.now) if over else 0.0,
            (memory.lost_since or seen.now) if missing else 0.0,
            (memory.dead_since or seen.now) if dead else 0.0,
        )
        unseen = [say_why(seen, VA, f"ups/{name}") for name, share in shares.items() if share is None]
        return memory, [self._weigh(seen.now, memory, over, missing, unseen)]

    def _weigh(self, now: float, memory: RedundancyMemory, over: str, missing: Sequence[Feed], unseen: Sequence[str]) -> Verdict:
        if over and now - memory.over_since >= self._set.settle_s:
            return judge(self.kind, self.scope, now, Level.RAISED, f"redundancy is lost: {over}", Severity.CRITICAL, unseen)
        if missing:
            hours, told = (now - memory.lost_since) / 3600.0, "; ".join(feed.text for feed in missing)
            is_dead = bool(memory.dead_since) and now - memory.dead_since >= self._set.flash_s
            level = Level.RAISED if is_dead or hours >= self._set.redundancy_h else Level.UNSURE
            text = f"redundancy is lost for {hours:.1f} h, told {'at once' if is_dead else f'from {self._set.redundancy_h:g} h on'}: {told}"
            return judge(self.kind, self.scope, now, level, text, unseen=unseen)
        if over:
            return judge(self.kind, self.scope, now, Level.UNSURE, f"{over}, for {now - memory.over_since:.0f} s", unseen=unseen)
        if unseen:
            return judge(self.kind, self.scope, now, Level.UNSURE, "whether one UPS could carry all cannot be told", unseen=unseen)
        return judge(self.kind, self.scope, now, Level.CLEAR, "any one UPS may be lost, the others carry its load")

    def _look(self, seen: View, name: str) -> Share | None:
        ups = f"ups/{name}"
        rated = self._rated[name] or find_most(seen, RATED, ups)
        if not rated:
            return None
        phases = list_phases(seen, VA, ups)
        if not phases:
            shares = list_phases(seen, LOAD, ups)
            phases = {phase: rated / len(PHASES) * share / 100.0 for phase, share in shares.items()}
        if len(phases) >= 2:
            return Share(ups, phases, rated / len(PHASES))
        whole, load = find_most(seen, VA, ups), find_most(seen, LOAD, ups)
        whole = whole if whole is not None or load is None else rated * load / 100.0
        return None if whole is None else Share(ups, {"all": whole}, rated)


def _is_ready(feed: Feed) -> bool:
    """Whether it could take over: on mains, with a battery that rides through."""
    return feed.mains is Mains.PRESENT and (feed.row is None or feed.row.rides or not feed.settled)


def find_overload(shares: Sequence[Share]) -> str:
    """Where the load is more than what remains without the largest UPS can carry; empty where it fits, or too little is known."""
    if len(shares) < 2:
        return ""
    per_phase = all(len(share.carries) > 1 for share in shares)
    for phase in PHASES if per_phase else ("all",):
        carried = sum(share.carries.get(phase, 0.0) if per_phase else sum(share.carries.values()) for share in shares)
        ratings = [share.rated * (1 if per_phase or "all" in share.carries else len(PHASES)) for share in shares]
        remains = sum(ratings) - max(ratings)
        if carried > remains * (1 + 1e-9):
            where = f"phase {phase}" if per_phase else "all phases together"
            return f"{where} carries {carried / 1000:.1f} kVA, and {remains / 1000:.1f} kVA remain when the largest UPS is lost"
    return ""
