"""Causes that are not the card's own: heat, a process that takes too much, work on it, and what several suspects share. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from supernoded.plugin import Reading, State, Topology, View

THROTTLED, HOG, UPTIME = "card.throttled", "host.hog", "host.uptime"
HOG_WAIT_S = 25.0  # s: two of its periods, and until another node has heard of it (ours)
SHARED_WATCHES: Mapping[str, float] = dict.fromkeys((THROTTLED, HOG, UPTIME), 30.0)


def find_heat(seen: View, card: str) -> str:
    """Heat as a part of a sentence, empty when it is not hot: that is the business of who judges heat, not of the card."""
    told = (seen.number(THROTTLED, card, source) for source in seen.sources(THROTTLED, card))
    return f"{card} slows itself down because it is hot: heat is judged before any card is blamed" if 1.0 in told else ""


def find_hog(seen: View, node: str) -> str:
    """Who takes so much of a node that its ranks wait (H3); empty when nobody is seen to."""
    told = (seen.text(HOG, node, source) for source in seen.sources(HOG, node))
    return next((f"{one} takes {node} from its ranks: end it before any card is blamed" for one in told if one), "")


def wait_for_hog(seen: View, node: str, since: float) -> str:
    """Why it cannot be said yet whether somebody takes a node from its ranks (H3), as a sentence; empty when a look since then has told.

    So it is too where nobody looks there, and when a look has not come in its time: then the ranks do not wait for it any longer.
    """
    looking = [one for source in seen.sources(HOG, node) if (one := seen.newest(HOG, node, source)) is not None and _has_looked(seen, one)]
    if not looking or seen.now - since >= HOG_WAIT_S or any(one.state is State.GOOD and one.at > since for one in looking):
        return ""
    return f"whether somebody takes {node} from its ranks has not been looked at since: that is waited for, {HOG_WAIT_S:g} s at most"


def _has_looked(seen: View, newest: Reading) -> bool:
    """Whether it could tell lately: where the processes may not be looked at, nothing is to be waited for."""
    if newest.state is not State.UNKNOWN:
        return True
    return any(one.state is State.GOOD for one in seen.window(HOG, newest.subject, newest.source))


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
