"""Causes that are not the card's own: heat, a process that takes too much, work on it, and what several suspects share. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from supernoded.plugin import Topology, View

THROTTLED, HOG, UPTIME = "card.throttled", "host.hog", "host.uptime"
SHARED_WATCHES: Mapping[str, float] = dict.fromkeys((THROTTLED, HOG, UPTIME), 30.0)


def find_heat(seen: View, card: str) -> str:
    """Heat as a part of a sentence, empty when it is not hot: that is the business of who judges heat, not of the card."""
    told = (seen.number(THROTTLED, card, source) for source in seen.sources(THROTTLED, card))
    return f"{card} slows itself down because it is hot: heat is judged before any card is blamed" if 1.0 in told else ""


def find_hog(seen: View, node: str) -> str:
    """Who takes so much of a node that its ranks wait (H3); empty when nobody is seen to."""
    told = (seen.text(HOG, node, source) for source in seen.sources(HOG, node))
    return next((f"{one} takes {node} from its ranks: end it before any card is blamed" for one in told if one), "")


def has_settled(seen: View, node: str, settle_s: float) -> bool:
    """Whether its boot is long enough ago, or not known: links and cards come one by one (fleet row 9)."""
    uptime = seen.number(UPTIME, node)
    return uptime is None or uptime >= settle_s


def find_common(
    card: str, since: Mapping[str, float], others: Collection[str], site: Topology, within: float
) -> tuple[str, tuple[str, ...]]:
    """The nearest thing that it shares with other suspects of the same time, and those; a cable, loop, PDU, feed or the node itself."""
    near = [one for one in sorted(others) if one != card and abs(since[one] - since[card]) <= within]
    for thing in list_things(card, site):
        sharing = tuple(one for one in near if thing in list_things(one, site))
        if sharing:
            return thing, sharing
    return "", ()


def list_things(card: str, site: Topology) -> list[str]:
    """What it shares with others, nearest first."""
    return [*_list_cables(card, site), *site.shared(card)]


def _list_cables(card: str, site: Topology) -> Iterator[str]:
    for port in (f"{card}/port0", f"{card}/port1"):
        yield from (thing for thing in site.shared(port) if thing.startswith("cable/"))
