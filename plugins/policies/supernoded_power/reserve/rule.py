"""The reserve against what saving and stopping take; raised till everything that was on is on again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import JOB_WATCHES, Level, Node, Severity, Verdict, View, list_jobs
from supernoded_power.jobs import say_need
from supernoded_power.mains import WATCHES, Feed, Feeds, Mains, Track
from supernoded_power.reserve import spending
from supernoded_power.reserve.batteries import WEAK, Batteries, Reserve
from supernoded_power.reserve.spending import Spent
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_cords

OUTLET = "outlet.state"
GIVE_UP_S = 3600.0  # of mains, after which what is still off is no longer waited for: the next outage has a reserve of its own


class ReserveMemory(msgspec.Struct, frozen=True):
    """What is remembered of feeds and batteries; once the reserve was low, which cords of nodes were on then."""

    tracks: dict[str, Track] = {}
    spent: dict[str, Spent] = {}
    low: bool = False
    on: tuple[str, ...] = ()


class ReserveRule:
    """Raises the site when what is left on battery falls to what saving and stopping take (safety rules 9 and 10)."""

    kind = "power.reserve"
    watches: Mapping[str, float] = {**WATCHES, **spending.WATCHES, **JOB_WATCHES, OUTLET: 60.0}

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        self.scope = settings.subject
        self._feeds, self._set = feeds, settings
        self._batteries = Batteries(node.topology, settings)
        self._cords = tuple(dict.fromkeys(cord.outlet for cord in list_cords(node.topology)))

    def start(self) -> ReserveMemory:
        """Nothing is known."""
        return ReserveMemory()

    def judge(self, seen: View, memory: ReserveMemory) -> tuple[ReserveMemory, Sequence[Verdict]]:
        """The level of the site; none for one without a UPS."""
        tracks, feeds = self._feeds.follow(seen, memory.tracks)
        spent = self._batteries.spend(seen, feeds, memory.spent)
        if not spent:
            return memory, ()
        if memory.low:
            level, text = self._weigh_return(seen, feeds, memory.on)
        else:
            level, text = self._weigh(seen, feeds, spent)
        low = level is Level.RAISED
        on = memory.on if memory.low else self._list_on(seen)
        verdict = judge(self.kind, self.scope, seen.now, level, text, Severity.CRITICAL)
        return ReserveMemory(tracks, spent, low, on if low else ()), [verdict]

    def _list_on(self, seen: View) -> tuple[str, ...]:
        return tuple(outlet for outlet in self._cords if seen.text(OUTLET, outlet) == "on")

    def _weigh(self, seen: View, feeds: Sequence[Feed], spent: Mapping[str, Spent]) -> tuple[Level, str]:
        present = [feed.subject for feed in feeds if feed.mains is Mains.PRESENT]
        if present:
            return Level.CLEAR, f"{', '.join(present)} has mains"
        doubtful = [feed for feed in feeds if not feed.is_away and not feed.is_silent_after_battery]
        if doubtful:
            return Level.UNSURE, "; ".join(feed.text for feed in doubtful)
        carriers = self._batteries.list_carriers(feeds)
        if not carriers:
            if all(feed.mains is Mains.SAGGED for feed in feeds):
                return Level.CLEAR, "the mains have sagged, and no UPS says that it is on battery"
            return Level.UNSURE, "; ".join(feed.text for feed in feeds)
        return self._weigh_carriers(seen, carriers, self._batteries.list_reserves(seen, feeds, spent))

    def _weigh_carriers(self, seen: View, carriers: Sequence[Feed], reserves: Sequence[Reserve]) -> tuple[Level, str]:
        """A UPS that is about to cut, or says that it is low and no more, is not counted on while another can be."""
        if reserves:
            need, made_of = say_need(list_jobs(seen), self._set)
            return (Level.RAISED if reserves[0].seconds <= need else Level.CLEAR), f"{reserves[0].text}; needed are {made_of}"
        weak = [feed.ups for feed in carriers if feed.row is not None and feed.row.name in WEAK]
        if len(weak) == len(carriers):
            return Level.RAISED, f"{', '.join(weak)}: low on battery by its own word, and nothing else is known of its reserve"
        return Level.UNSURE, f"nothing is known of the reserve of {', '.join(feed.ups for feed in carriers)}"

    def _weigh_return(self, seen: View, feeds: Sequence[Feed], on: Sequence[str]) -> tuple[Level, str]:
        """Not over before the mains are, and all that was on then is."""
        back = max((feed.stable_s for feed in feeds if feed.mains is Mains.PRESENT and not feed.generator), default=0.0)
        if back < self._set.stable_s:
            return Level.RAISED, f"the reserve was low, and the mains are not back to stay: {'; '.join(feed.text for feed in feeds)}"
        off = [outlet for outlet in on if seen.text(OUTLET, outlet) != "on"]
        if off and back >= GIVE_UP_S:
            return (
                Level.CLEAR,
                f"the mains are back for {back / 3600:.1f} h; {len(off)} cords are not seen on, a person's work now",
            )
        if off:
            return Level.RAISED, f"the mains are back; {len(off)} of {len(on)} cords that were on are not seen on, such as {off[0]}"
        return Level.CLEAR, f"the mains are back, and {len(on)} cords that were on are on"
