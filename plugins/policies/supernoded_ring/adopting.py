"""The hops of a ring of nodes of which no cable is described: whatever joins two of its nodes counts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from supernoded_ring.plan import RECEIVING, SENDING, SWITCH, Hop, Plan, node_of


def adopt(
    plan: Plan, mates: Mapping[str, str], foreign: Collection[str], known: Iterable[str] = (), led: Mapping[str, str] | None = None
) -> Plan:
    """The plan with hops made of the links that are there; `foreign` are the ports of rings of cards.

    `known` are ports whose other end is not seen, those that are up first, and `led` says where some of them once led.

    A link from a node to the next is a hop as it should be. What is left of hops and ports is matched by rule: PORT_0 sends, PORT_1
    receives, and a port of another name does what the other does not. With a link to a switch the ring runs over switches.
    """
    members = set(plan.members)
    own = [port for port in dict.fromkeys((*mates, *known)) if node_of(port) in members and port not in foreign]
    links = {port: mates[port] for port in own if port in mates and mates[port] not in foreign}
    led = led or {}
    if any(mate.startswith(SWITCH) for mate in (*links.values(), *led.values())):
        return msgspec.structs.replace(plan, hops=tuple(_list_uplinks(plan, links, own, led)))
    return msgspec.structs.replace(plan, hops=tuple(_list_hops(plan, links, own)))


def _list_uplinks(plan: Plan, links: Mapping[str, str], own: Iterable[str], led: Mapping[str, str]) -> Iterator[Hop]:
    up = {node_of(port): (port, mate) for port, mate in links.items() if mate.startswith(SWITCH)}
    other: dict[str, str] = {}
    for port in own:
        if port not in links:
            other.setdefault(node_of(port), port)
    for member in plan.members:
        port = other.get(member, f"{member}/{SENDING}")
        a, b = up.get(member, (port, led.get(port, f"{SWITCH}?/{member}")))
        yield Hop(plan.ring, member, b.rpartition("/")[0], a, b)


def _list_hops(plan: Plan, links: Mapping[str, str], own: Iterable[str]) -> Iterator[Hop]:
    free: dict[str, list[str]] = {member: [] for member in plan.members}
    for port in own:
        free[node_of(port)].append(port)
    steps = list(zip(plan.members, (*plan.members[1:], plan.members[0]), strict=True))
    pairs = [_find_link(sender, receiver, links, free) for sender, receiver in steps]
    for (sender, receiver), pair in zip(steps, pairs, strict=True):
        a, b = pair or (_take(sender, SENDING, free), _take(receiver, RECEIVING, free))
        yield Hop(plan.ring, sender, receiver, a, b)


def _find_link(sender: str, receiver: str, links: Mapping[str, str], free: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """A link between the two that is not taken yet, and takes it."""
    fitting = [port for port in free[sender] if port in links and links[port] in free[receiver] and node_of(links[port]) == receiver]
    if not fitting:
        return None
    a = min(fitting, key=lambda port: not port.endswith(SENDING))
    free[sender].remove(a)
    free[receiver].remove(links[a])
    return a, links[a]


def _take(member: str, wanted: str, free: Mapping[str, list[str]]) -> str:
    """The port of that name; else one whose name does not say that it does the opposite; else one that nobody has seen."""
    opposite = RECEIVING if wanted == SENDING else SENDING
    for fits in (lambda port: port.endswith(wanted), lambda port: not port.endswith(opposite), lambda _: True):
        for port in free[member]:
            if fits(port):
                free[member].remove(port)
                return port
    return f"{member}/{wanted}"
