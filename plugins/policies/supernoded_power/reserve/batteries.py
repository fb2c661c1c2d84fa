"""The batteries of a site: what each has given, and how long it lasts with the whole load. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Topology, View
from supernoded_power.mains import Feed, Mains
from supernoded_power.reserve.estimating import Battery, list_estimates
from supernoded_power.reserve.recalling import recall
from supernoded_power.reserve.spending import Spent, imagine, spend
from supernoded_power.settings import PowerSettings

WEAK = frozenset({"battery-low", "battery-forced"})  # rows of the status table


class Reserve(msgspec.Struct, frozen=True, order=True):
    """How long one UPS lasts, and how that was found."""

    seconds: float
    ups: str
    text: str


class Batteries:
    """Of all UPSes that are described."""

    def __init__(self, site: Topology, settings: PowerSettings) -> None:
        self._ignored = settings.ignored_flags
        self._rated = {ups.name: ups.rated_va for ups in site.ups}
        self._batteries = {
            ups.name: Battery(None if ups.energy_wh is None else 3600.0 * ups.energy_wh, ups.efficiency, settings.health_percent / 100.0)
            for ups in site.ups
        }

    def spend(self, seen: View, feeds: Sequence[Feed], spent: Mapping[str, Spent]) -> dict[str, Spent]:
        """Move on to now, for each feed with a UPS."""
        backed = [feed for feed in feeds if feed.name in self._batteries]
        return {feed.name: spend(seen, feed, spent.get(feed.name, Spent()), self._rated[feed.name]) for feed in backed}

    def recall(self, seen: View, feeds: Sequence[Feed], opened: float) -> dict[str, Spent]:
        """The same by somebody who remembers nothing, in an incident that opened then: carriers by what was read lately."""
        spent, carriers = self.spend(seen, feeds, {}), self.list_carriers(feeds)
        return spent | {feed.name: recall(seen, feed.ups, opened, self._rated[feed.name], self._ignored) for feed in carriers}

    def list_carriers(self, feeds: Sequence[Feed]) -> list[Feed]:
        """Those that carry load on battery, and say so now: what is silent is not counted on."""
        return [feed for feed in feeds if feed.mains is Mains.BATTERY and feed.name in self._batteries]

    def list_reserves(self, seen: View, feeds: Sequence[Feed], spent: Mapping[str, Spent]) -> list[Reserve]:
        """The reserve of each carrier of which anything is known, the least first; not of one that is about to cut."""
        return self._list(seen, self.list_carriers(feeds), spent, add_up(feeds, spent))

    def list_prospects(self, seen: View, feeds: Sequence[Feed], spent: Mapping[str, Spent], capped_w: float) -> list[Reserve]:
        """The same of feeds that have mains, were these to go now and the load to be so many watts less once cards are capped."""
        imagined = {feed.name: imagine(seen, feed, spent[feed.name], self._rated[feed.name]) for feed in feeds}
        return self._list(seen, feeds, imagined, max(add_up(feeds, imagined) - capped_w, 0.0))

    def _list(self, seen: View, feeds: Sequence[Feed], spent: Mapping[str, Spent], total_w: float) -> list[Reserve]:
        found = list[Reserve]()
        for feed in feeds:
            ways = list_estimates(seen, feed.ups, spent[feed.name], self._batteries[feed.name], total_w)
            if ways and (feed.row is None or feed.row.name != "battery-forced"):
                load = f"with the whole load of {total_w / 1000:.1f} kW" if total_w else "with the whole load"
                told = ", ".join(f"{way.text}: {way.seconds:.0f} s" for way in ways)
                found.append(Reserve(ways[0].seconds, feed.ups, f"{feed.ups} lasts {ways[0].seconds:.0f} s {load} ({told})"))
        return sorted(found)


def add_up(feeds: Sequence[Feed], spent: Mapping[str, Spent]) -> float:
    """The load of the site, W: of all feeds that may carry some of it; one that is not measured counts as the largest."""
    bearing = [feed.name for feed in feeds if feed.mains is not Mains.LOST and feed.name in spent]
    known = [watts for name in bearing if (watts := spent[name].watts) is not None]
    return sum(known) + (len(bearing) - len(known)) * max(known, default=0.0)
