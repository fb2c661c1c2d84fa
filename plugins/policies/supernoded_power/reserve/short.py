"""On mains: whether the batteries would last for saving and stopping, were the mains to go now (safety rule 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import JOB_WATCHES, Job, Level, Node, Verdict, View, find_least, list_jobs
from supernoded_power.jobs import say_need
from supernoded_power.mains import WATCHES, Feeds, Mains, Track
from supernoded_power.reserve import spending
from supernoded_power.reserve.batteries import Batteries, Reserve
from supernoded_power.reserve.spending import Spent
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings

CARD_POWER = "card.power"


class ShortMemory(msgspec.Struct, frozen=True):
    """What is remembered of feeds and batteries, and since when there is too little. 0 = there is enough."""

    tracks: dict[str, Track] = {}
    spent: dict[str, Spent] = {}
    since: float = 0.0


class ShortRule:
    """Raises the site while a job runs that could not be saved and stopped on battery; on battery itself that is `power.reserve`."""

    kind = "power.reserve_short"
    watches: Mapping[str, float] = {**WATCHES, **spending.WATCHES, **JOB_WATCHES, CARD_POWER: 60.0}

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._set = feeds, settings
        self._batteries = Batteries(node.topology, settings)
        self._cards = tuple(card for one in node.topology.nodes for card in one.list_cards())

    def start(self) -> ShortMemory:
        """Nothing is known."""
        return ShortMemory()

    def judge(self, seen: View, memory: ShortMemory) -> tuple[ShortMemory, Sequence[Verdict]]:
        """The level of the site; none for one without a UPS."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        spent = self._batteries.spend(seen, feeds, memory.spent)
        if not spent:
            return memory, ()
        present = [feed for feed in feeds if feed.mains is Mains.PRESENT and feed.name in spent and (feed.row is None or feed.row.rides)]
        reserves = self._batteries.list_prospects(seen, present, spent, self._find_capped(seen))
        level, text = self._weigh([job for job in list_jobs(seen) if job.runs], reserves, is_there=bool(present))
        since = (memory.since or seen.now) if level is Level.RAISED else memory.since if level is Level.UNSURE else 0.0
        if level is Level.RAISED and seen.now - since < self._set.settle_s:
            level, text = Level.UNSURE, f"{text}, for {seen.now - since:.0f} s"
        return ShortMemory(tracks, spent, since), [judge(self.kind, self.scope, seen.now, level, text)]

    def _find_capped(self, seen: View) -> float:
        """What the caps would take away first, W: of cards that tell what they draw (safety rule 9)."""
        drawn = (find_least(seen, CARD_POWER, card) for card in self._cards)
        return sum(max(watts - self._set.cap_w, 0.0) for watts in drawn if watts is not None)

    def _weigh(self, jobs: Sequence[Job], reserves: Sequence[Reserve], *, is_there: bool) -> tuple[Level, str]:
        if not is_there:
            return Level.UNSURE, "no UPS is seen on mains that would ride through a break of them"
        if not jobs:
            return Level.CLEAR, "no job runs"
        if not reserves:
            return Level.UNSURE, "how long a UPS would last is not known: neither its tested energy nor a claim"
        need, made_of = say_need(jobs, self._set)
        return (Level.RAISED if reserves[0].seconds <= need else Level.CLEAR), f"without mains {reserves[0].text}; needed are {made_of}"
