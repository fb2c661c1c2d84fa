"""Rings and what can be done to their cables, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from supernoded.topology import Cable, Ring, RingLevel, Supernode, Topology
from supernoded_ring.plan import Plan, build_plans

Mates = dict[str, str]


def make_site(members: int = 8, *, described: bool = True, rings: int = 1) -> Topology:
    """Nodes n0, n1 ... with one ring of cards each."""
    orders = [tuple(f"n{number}/card{card}" for card in range(members)) for number in range(rings)]
    cables = [Cable(a=f"{one}/port0", b=f"{two}/port1") for order in orders for one, two in zip(order, (*order[1:], order[0]), strict=True)]
    return Topology(
        nodes=tuple(Supernode(name=f"n{number}", cards=members + 2) for number in range(rings)),  # two cards are in no ring
        rings=tuple(Ring(name=f"r{number}", level=RingLevel.BACKPLANE, order=order) for number, order in enumerate(orders)),
        cables=tuple(cables) if described else (),
    )


def make_plans(members: int = 8, rings: int = 1) -> tuple[Plan, ...]:
    return build_plans(make_site(members, rings=rings))


def card(number: int, port: int, node: int = 0) -> str:
    return f"n{node}/card{number}/port{port}"


def join(pairs: Iterable[tuple[str, str]]) -> Mates:
    return {port: mate for a, b in pairs for port, mate in ((a, b), (b, a))}


def wire(plans: Iterable[Plan]) -> Mates:
    """Every cable where it belongs."""
    return join((hop.a, hop.b) for plan in plans for hop in plan.hops)


def wire_order(order: Sequence[int]) -> Mates:
    """PORT_0 to PORT_1 all round, in this order of cards."""
    return join((card(one, 0), card(two, 1)) for one, two in zip(order, (*order[1:], order[0]), strict=True))


def swap(mates: Mapping[str, str], one: str, two: str) -> Mates:
    """What is plugged into the two ports changes places; either may be empty."""
    kept = dict(mates)
    if kept.get(one) == two:
        return kept
    ends = kept.pop(one, None), kept.pop(two, None)
    for port, end in zip((two, one), ends, strict=True):
        if end is not None:
            kept[port], kept[end] = end, port
    return kept


def cut(mates: Mapping[str, str], *ports: str) -> Mates:
    """The links of these ports are gone."""
    gone = set(ports) | {mates[port] for port in ports if port in mates}
    return {port: mate for port, mate in mates.items() if port not in gone}
