"""Which closed rings the links really make, and how their order differs from the one that was meant. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded_ring.plan import Plan


def trace_cycles(plan: Plan, sides: Mapping[str, str], mates: Mapping[str, str]) -> list[list[str]]:
    """The closed rings, each as its members in the order of the links, beginning with the first. Every port needs a link within `sides`.

    A member is left by the port at which it was not entered, whichever that is.
    """
    owners = plan.find_owners()
    cycles: list[list[str]] = []
    seen: set[str] = set()
    for hop in plan.hops:
        if hop.sender in seen:
            continue
        cycle, port = list[str](), hop.a
        while owners[port] not in seen:
            cycle.append(owners[port])
            seen.add(owners[port])
            port = sides[mates[port]]
        cycles.append(cycle)
    return cycles


def is_directed(plan: Plan, mates: Mapping[str, str]) -> bool:
    """Whether every link joins a sending port with a receiving one."""
    receiving = {hop.b for hop in plan.hops}
    return all(mates.get(hop.a, "") in receiving for hop in plan.hops)


def is_same_order(found: Sequence[str], meant: Sequence[str]) -> bool:
    """Whether both are the same cycle, walked in either direction."""
    if len(found) != len(meant):
        return False
    return _rotate(found, meant[0]) == list(meant) or _rotate(found[::-1], meant[0]) == list(meant)


def find_reversal(found: Sequence[str], meant: Sequence[str]) -> tuple[str, ...]:
    """The members, three or more, that come in the reverse order while all others are in theirs; none when there is no such segment.

    Both are walked in the direction in which the cards send.
    """
    turned = _rotate(found, meant[0])
    if turned == [meant[0], *reversed(meant[1:])]:
        return tuple(meant)
    start = next((place for place in range(len(meant)) if turned[place] != meant[place]), None)
    if start is None:
        return ()
    stop = max(place for place in range(len(meant)) if turned[place] != meant[place]) + 1
    inside = list(meant[start:stop])
    if turned[start:stop] == inside[::-1]:
        return tuple(inside) if len(inside) > 2 else ()
    outside = [*meant[stop:], *meant[:start]]
    around = [*turned[stop:], *turned[:start]]
    return tuple(outside) if around == outside[::-1] and len(outside) > 2 else ()


def find_displaced(found: Sequence[str], meant: Sequence[str]) -> list[str]:
    """The members that are not where they were meant to be, seen from one that is; of any three, two exchanged leave one in its place."""
    displaced = (_compare(found, [*meant[place:], *meant[:place]]) for place in range(min(3, len(meant))))
    return min(displaced, key=len)


def _compare(found: Sequence[str], meant: Sequence[str]) -> list[str]:
    return [member for member, other in zip(_rotate(found, meant[0]), meant, strict=True) if member != other]


def _rotate(cycle: Sequence[str], first: str) -> list[str]:
    place = cycle.index(first)
    return [*cycle[place:], *cycle[:place]]
