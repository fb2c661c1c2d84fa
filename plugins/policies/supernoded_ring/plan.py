"""What a ring ought to be: its hops, from described cables or, without them, by rule. Pure.

* Ring of cards: a hop is the described cable between a member and the next; where none is described, PORT_0 of each member leads to
  PORT_1 of the next (L11).
* Ring of nodes: a hop is the described cable, or cables, between a port at the one node and a port at the next. Without such cables the
  ring runs over switches (N1): its hops are then the described cables between its nodes and the switches. Where no cable is described at
  all, any link between two of its nodes that belongs to no ring of cards counts, see `adopting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.plugin import Ring, Topology

SENDING, RECEIVING = "port0", "port1"  # L11
SWITCH = "switch/"


class Hop(msgspec.Struct, frozen=True, gc=False):
    """A place for a cable: from `a`, a port of `sender`, to `b`, a port of `receiver`."""

    ring: str
    sender: str
    receiver: str
    a: str
    b: str

    @property
    def cable(self) -> str:
        """The subject of the cable that belongs there."""
        return "cable/" + "--".join(sorted((self.a, self.b)))

    def __str__(self) -> str:
        return f"{self.a} -> {self.b}"


class Plan(msgspec.Struct, frozen=True):
    """One ring as it ought to be. Of a ring of nodes without described cables `hops` is empty until links are known."""

    ring: str
    members: tuple[str, ...]
    hops: tuple[Hop, ...]
    of_nodes: bool = False

    @property
    def subject(self) -> str:
        """The ring as a subject, which is its role too."""
        return f"ring/{self.ring}"

    def find_owners(self) -> dict[str, str]:
        """Port -> its member."""
        return {port: member for hop in self.hops for port, member in ((hop.a, hop.sender), (hop.b, hop.receiver))}

    def find_sides(self) -> dict[str, str]:
        """Port -> the other port of its member, where every member has two; else empty: then links show no order."""
        ports: dict[str, list[str]] = {}
        for hop in self.hops:
            ports.setdefault(hop.sender, []).append(hop.a)
            ports.setdefault(hop.receiver, []).append(hop.b)
        if set(ports) != set(self.members) or any(len(pair) != 2 for pair in ports.values()):
            return {}
        return {port: other for one, two in ports.values() for port, other in ((one, two), (two, one))}


def build_plans(site: Topology) -> tuple[Plan, ...]:
    """Every ring of a topology."""
    return tuple(_plan_nodes(site, ring) if ring.level.value == "cluster" else _plan_cards(site, ring) for ring in site.rings)


def _list_steps(members: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(members, (*members[1:], *members[:1]), strict=True)


def _plan_cards(site: Topology, ring: Ring) -> Plan:
    taken: set[str] = set()
    described = [_find_described(site, sender, receiver, taken) for sender, receiver in _list_steps(ring.order)]
    hops = []
    for (sender, receiver), pair in zip(_list_steps(ring.order), described, strict=True):
        a, b = pair or (_take(sender, SENDING, RECEIVING, taken), _take(receiver, RECEIVING, SENDING, taken))
        hops.append(Hop(ring.name, sender, receiver, a, b))
    return Plan(ring.name, ring.order, tuple(hops))


def _find_described(site: Topology, sender: str, receiver: str, taken: set[str]) -> tuple[str, str] | None:
    """The described cable from one card to the next, which is then taken."""
    for name in (SENDING, RECEIVING):
        a = f"{sender}/{name}"
        b = site.peer(a)
        if b.rpartition("/")[0] == receiver and a not in taken:
            taken.update((a, b))
            return a, b
    return None


def _take(member: str, first: str, other: str, taken: set[str]) -> str:
    port = f"{member}/{first}"
    if port in taken:
        port = f"{member}/{other}"
    taken.add(port)
    return port


def _plan_nodes(site: Topology, ring: Ring) -> Plan:
    following = dict(_list_steps(ring.order))
    ends = [pair for cable in site.cables for pair in ((cable.a, cable.b), (cable.b, cable.a))]
    pairs = {(a, b): (node_of(a), node_of(b)) for a, b in ends}
    hops: dict[frozenset[str], Hop] = {}
    for (a, b), (sender, receiver) in pairs.items():
        if following.get(sender) == receiver:
            hops.setdefault(frozenset((a, b)), Hop(ring.name, sender, receiver, a, b))
    if not hops:
        hops = {
            frozenset((a, b)): Hop(ring.name, sender, b.rpartition("/")[0], a, b)
            for (a, b), (sender, _) in pairs.items()
            if sender in following and b.startswith(SWITCH)
        }
    place = {member: number for number, member in enumerate(ring.order)}
    return Plan(ring.name, ring.order, tuple(sorted(hops.values(), key=lambda hop: (place[hop.sender], hop.a))), of_nodes=True)


def node_of(subject: str) -> str:
    """The node, or family, that a subject begins with."""
    return subject.partition("/")[0]
