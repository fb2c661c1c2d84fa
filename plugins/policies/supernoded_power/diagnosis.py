"""Why a UPS, a feed, a PDU or the site is in trouble, for `supernodectl diagnose ups/A`; every cause rests on what is read now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Cause, Topology, View, find_least
from supernoded_power.battery import HEALTH, TEST, find_excess, has_failed
from supernoded_power.mains import AWAY, WATCHES, Feed, Feeds, Mains
from supernoded_power.seeing import name_phases
from supernoded_power.settings import PowerSettings
from supernoded_power.status import Source


class PowerDiagnosis:
    """Explains power."""

    name = "power"
    watches: Mapping[str, float] = {**WATCHES, **dict.fromkeys((*name_phases("ups.load"), HEALTH, TEST), 60.0)}

    def __init__(self, feeds: Feeds, site: Topology, settings: PowerSettings) -> None:
        self.scope, self._feeds, self._set = settings.subject, feeds, settings
        self._feed_of = {f"pdu/{pdu.name}": pdu.feed for pdu in site.pdus}

    def diagnose(self, seen: View, subject: str) -> Sequence[Cause]:
        """Causes, the best first."""
        feeds = self._feeds.look(seen)
        head = "/".join(subject.split("/")[:2])
        mine = [feed for feed in feeds if subject == self.scope or head in {feed.subject, feed.ups} or self._feed_of.get(head) == feed.name]
        causes = [cause for feed in mine for cause in self._explain(seen, feed, feeds)]
        return sorted(causes, key=lambda cause: -cause.weight)

    def _explain(self, seen: View, feed: Feed, feeds: Sequence[Feed]) -> Iterator[Cause]:
        views, away = feed.views, [other for other in feeds if other.mains in AWAY]
        if feed.mains in AWAY and len(away) == len(feeds) > 1:
            yield _say(
                "mains lost on every feed", feed.subject, 0.9, views, "Ask the utility, and look whether the generator starts.", seen
            )
        elif feed.mains in AWAY:
            yield _say("one feed lost", feed.subject, 0.9, views, "Look at the breaker and the supply of this feed alone.", seen)
        says_on_line = feed.mains is Mains.LOST and len(away) == 1 and feed.row is not None and feed.row.source is Source.MAINS
        if feed.mains is Mains.CONFLICT or says_on_line:
            conflict = feed.conflict or "; ".join(views)
            advice = f"Go and look at {feed.ups}: {conflict}. The wrong one of the two is to be repaired."
            yield _say("views contradict each other", feed.ups, 0.95 if says_on_line else 0.8, (conflict,), advice, seen)
        if feed.silent:
            yield _say("nothing is heard of it", feed.ups, 0.7, views, "Look at its line, its card and the server that speaks to it.", seen)
        elif feed.row is not None and not feed.row.rides:
            yield _say("no ride-through", feed.ups, 0.6, (feed.row.means,), "Bring it back to its inverter with a good battery.", seen)
        yield from self._explain_battery(seen, feed)

    def _explain_battery(self, seen: View, feed: Feed) -> Iterator[Cause]:
        health, test, excess = find_least(seen, HEALTH, feed.ups), seen.text(TEST, feed.ups) or "", find_excess(seen, feed.ups)
        if has_failed(test):
            yield _say("bad battery", feed.ups, 0.7, (f"its last test says {test!r}",), "Replace the battery.", seen)
        elif health is not None and health < self._set.health_low_percent:
            yield _say("old battery", feed.ups, 0.5, (f"its health is {health:.0f} %",), "Plan a new battery.", seen)
        if excess:
            yield _say("overload", feed.ups, 0.8, (excess,), "Lower its load, phase by phase.", seen)


def _say(name: str, subject: str, weight: float, evidence: tuple[str, ...], advice: str, seen: View) -> Cause:
    return Cause(name=name, subject=subject, weight=weight, evidence=evidence, advice=advice, at=seen.now)
