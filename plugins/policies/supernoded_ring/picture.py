"""What the readings show of a ring's links, and what they leave open. Pure.

A link is taken for what both of its ends say, or one where the other is not seen. A port whose link is down, or that says that it has
no neighbour, is dark. Where neither end says where it leads, but a link is up there or nothing is seen at all, the cable is assumed to be
where it belongs, and that is told as unseen. What is under maintenance is not held against the ring, nor is a link of a node that has
just booted, unless it has been up there steadily since: then it was trained, and is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from supernoded.plugin import Node, View
from supernoded_ring.adopting import adopt
from supernoded_ring.claims import NEIGHBOUR, Claim, date_claims, join_claims, read_claim, recall_claim
from supernoded_ring.plan import Hop, Plan, node_of

STATE, UPTIME = "link.state", "host.uptime"
WATCHES: Mapping[str, float] = {STATE: 600.0, NEIGHBOUR: 600.0, UPTIME: 60.0}  # the newest counts; the past shows what was steady
STEADY = 20.0  # seconds for which a link is up that is trained (ours)


class Picture(msgspec.Struct, frozen=True):
    """The links of one ring as far as they are seen. `plan` has the hops that were found where none are described."""

    plan: Plan
    mates: Mapping[str, str]
    dark: Mapping[str, str]  # port -> why: its link is down, or it has no neighbour
    unseen_links: tuple[str, ...]  # hops of which nothing is seen, or whose ends contradict each other, or that are excused
    unseen_ends: tuple[str, ...]  # hops that are up, but where they lead is not seen
    loose: tuple[str, ...]  # ports of which it is neither seen that they are dark nor where they lead
    at: float  # of the newest reading in it


def look_at(plan: Plan, seen: View, node: Node, settle: float, foreign: Collection[str] = ()) -> Picture:
    """What is seen of a ring; `foreign` are the ports of other rings, which a ring of nodes without described cables leaves alone."""
    ports = _list_ports(plan, seen, foreign)
    dark, claims, lit = dict[str, str](), dict[str, Claim](), dict[str, None]()
    found = ((port, find_excuse(port, seen, node, settle)) for port in ports)
    excuses = {port: excuse for port, excuse in found if excuse}
    for port in ports:
        state, claim = seen.number(STATE, port), read_claim(seen, port)
        if state == 0.0:
            note = _note(seen, STATE, port)
            dark[port] = f"the link at {port} is down{f' ({note})' if note else ''}"
        elif claim is not None and not claim.mate:
            dark[port] = f"{port} says that it has no neighbour"
        elif claim is not None:
            claims[port] = claim
        if state:
            lit[port] = None
    mates, contradictions = join_claims(date_claims(seen, claims), dark)
    if not plan.hops:
        known = _list_open(ports, claims, lit, mates)
        led = {port: mate for port in known if (mate := recall_claim(seen, port))}
        plan = adopt(plan, mates, foreign, sorted(known, key=lambda port: (port not in lit, port not in led)), led)
    for hop in plan.hops:  # what is excused at one end is at the other, too
        if excuse := excuses.get(hop.a) or excuses.get(hop.b):
            excuses[hop.a] = excuses[hop.b] = excuse
    kept = {port: why for port, why in dark.items() if port not in excuses}
    unseen_links, unseen_ends = _assume(plan, mates, kept, lit, excuses, contradictions)
    loose = [port for hop in plan.hops for port in (hop.a, hop.b) if port not in mates and port not in kept]
    if len(loose) == 2 and lit.keys() >= set(loose):  # both lead somewhere, and nothing else is left
        mates[loose[0]], mates[loose[1]] = loose[1], loose[0]
        unseen_ends.append(f"{loose[0]} and {loose[1]}: links are up, where they lead is not seen")
        loose = []
    at = max((one.at for port in ports for one in (seen.newest(STATE, port), seen.newest(NEIGHBOUR, port)) if one is not None), default=0.0)
    return Picture(plan, mates, kept, tuple(unseen_links), tuple(unseen_ends), tuple(loose), at)


def _list_open(ports: Iterable[str], claims: Collection[str], lit: Collection[str], mates: Collection[str]) -> list[str]:
    """The ports whose other end is not seen. A node with a link that is up has ports to spare: its others do not count."""
    alive = {node_of(port) for port in (*claims, *lit)}
    return [port for port in ports if port not in mates and (port in lit or node_of(port) not in alive)]


def _list_ports(plan: Plan, seen: View, foreign: Collection[str]) -> list[str]:
    if plan.hops:
        return [port for hop in plan.hops for port in (hop.a, hop.b)]
    members = set(plan.members)
    told = dict.fromkeys((*seen.subjects(NEIGHBOUR), *seen.subjects(STATE)))
    return [port for port in told if node_of(port) in members and port not in foreign and "/lane" not in port]


def find_excuse(port: str, seen: View, node: Node, settle: float) -> str:
    """Why a port without a link is nobody's trouble yet; empty when it is."""
    if node.is_under_maintenance(port):
        return "under maintenance"
    booted = seen.good(UPTIME, node_of(port))
    if booted is None or not isinstance(booted.value, int | float):
        return ""
    uptime = booted.value + seen.now - booted.at
    if uptime >= settle or _was_steady(seen, port, seen.now - uptime):
        return ""
    return f"{node_of(port)} booted {uptime:.0f} s ago, it is judged from {settle:.0f} s on"


def _was_steady(seen: View, port: str, since: float) -> bool:
    """Whether its link was up for long without a break since then, as any of its sources saw it."""
    for source in seen.sources(STATE, port):
        begun: float | None = None
        for one in seen.window(STATE, port, source):
            if one.value != 1.0 or one.at < since:
                begun = None
            elif begun is None:
                begun = one.at
            elif one.at - begun >= STEADY:
                return True
    return False


def _note(seen: View, quantity: str, port: str) -> str:
    newest = seen.newest(quantity, port)
    return newest.note if newest is not None else ""


def _assume(
    plan: Plan,
    mates: dict[str, str],
    dark: Mapping[str, str],
    lit: Collection[str],
    excuses: Mapping[str, str],
    contradictions: Mapping[str, str],
) -> tuple[list[str], list[str]]:
    """Put the cables that are not seen where they belong; which hops are not seen at all, and of which only that a link is up."""
    unseen, open_ended = list[str](), list[str]()
    for hop in plan.hops:
        ends = (hop.a, hop.b)
        if any(port in mates or port in dark for port in ends):
            continue
        mates[hop.a], mates[hop.b] = hop.b, hop.a
        strange = next((contradictions[port] for port in ends if port in contradictions), "")
        excuse = next((excuses[port] for port in ends if port in excuses), "")
        if strange or (excuse and not any(port in lit for port in ends)):
            unseen.append(f"{hop}: {strange or excuse}")
        elif any(port in lit for port in ends):
            open_ended.append(f"{hop}: a link is up, where it leads is not seen")
        else:
            unseen.append(f"{hop}: neither {STATE} nor {NEIGHBOUR} is seen at either end")
    return unseen, open_ended


def list_dark_hops(picture: Picture) -> Iterator[tuple[Hop, str]]:
    """The hops with an end that is down, and why."""
    for hop in picture.plan.hops:
        why = [picture.dark[port] for port in (hop.a, hop.b) if port in picture.dark]
        if why:
            yield hop, " and ".join(why)
