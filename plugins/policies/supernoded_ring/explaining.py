"""What is wrong with one ring: a verdict, and the findings that explain it best. Pure.

* `closed`: each hop has its link.
* `broken`: a port of the ring has no link, or leads to a port that is in no ring.
* `split`: every port has a link to another of the ring, but they make several closed rings.
* `miswired`: they make one closed ring, but not the one that was meant; or they lead into another ring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded_ring.chains import Chain
from supernoded_ring.naming import (
    Finding,
    name_astray,
    name_crossed,
    name_exchange,
    name_lost,
    name_missing,
    name_order,
    name_reversal,
    name_sub_ring,
)
from supernoded_ring.plan import Hop, Plan
from supernoded_ring.tracing import find_displaced, find_reversal, is_directed, is_same_order, trace_cycles

CLOSED, BROKEN, MISWIRED, SPLIT = "closed", "broken", "miswired", "split"
WORST_FIRST = (BROKEN, SPLIT, MISWIRED, CLOSED)


def judge_ring(plan: Plan, chains: Sequence[Chain], mates: Mapping[str, str]) -> tuple[str, list[Finding]]:
    """The verdict on one ring, and why. `chains` are those in which it has a hop."""
    if not chains:
        return CLOSED, []
    sides = plan.find_sides()
    if not all(chain.closed for chain in chains):
        return BROKEN, list(_explain_open(plan, chains, sides, mates))
    if not sides or any(step.hop.ring != plan.ring for chain in chains for step in chain.steps):
        return MISWIRED, [finding for chain in chains for finding in _explain_chain(plan, chain, mates)]
    cycles = trace_cycles(plan, sides, mates)
    if len(cycles) > 1:
        exchanges = [name_exchange(chain) for chain in chains if len(chain.steps) == 2]
        return SPLIT, [*exchanges, *(name_sub_ring(plan, cycle) for cycle in cycles)]
    return MISWIRED, list(_explain_cycle(plan, cycles[0], chains, sides, mates))


def _explain_cycle(
    plan: Plan, cycle: Sequence[str], chains: Sequence[Chain], sides: Mapping[str, str], mates: Mapping[str, str]
) -> Iterator[Finding]:
    """One closed ring through all members, with all links up, that is not the one that was meant."""
    in_pairs, directed = all(len(chain.steps) == 2 for chain in chains), is_directed(plan, mates)
    segment = find_reversal(cycle, plan.members) if directed else ()
    if segment:
        yield name_reversal(segment, plan)
    elif not directed and is_same_order(cycle, plan.members):
        yield from _find_crossed(plan, sides, mates)
    elif in_pairs and not (directed and len(find_displaced(cycle, plan.members)) == 2):
        yield from (_explain_pair(plan, chain, mates) for chain in chains)
    else:
        yield name_order(plan, cycle)


def _find_crossed(plan: Plan, sides: Mapping[str, str], mates: Mapping[str, str]) -> Iterator[Finding]:
    """The members, in the right order, whose cables are in each other's ports. Of two members either may be called so."""
    owners = plan.find_owners()
    crossed = [hop for hop in plan.hops if owners[mates[hop.a]] != hop.receiver] or list(plan.hops[-1:])
    yield from (name_crossed(hop.sender, sides[hop.a], hop.a) for hop in crossed)


def _explain_open(plan: Plan, chains: Sequence[Chain], sides: Mapping[str, str], mates: Mapping[str, str]) -> Iterator[Finding]:
    """A ring that is open somewhere: members without any link first, then each hop that is not among theirs."""
    hops = [step.hop for chain in chains for step in chain.steps if step.hop.ring == plan.ring]
    lost = {hop.receiver: hop for hop in hops if sides and not mates.get(hop.b) and not mates.get(sides[hop.b])}
    for member in plan.members if lost else ():
        if member in lost:
            yield name_lost(member, lost[member], mates.get(lost[member].a, ""))
    for chain in chains:
        if not any(step.hop.sender in lost or step.hop.receiver in lost for step in chain.steps):
            yield from _explain_chain(plan, chain, mates)
            continue
        for step in chain.steps:
            if step.hop.ring == plan.ring and step.hop.sender not in lost and step.hop.receiver not in lost:
                yield _explain_hop(step.hop, mates)


def _explain_chain(plan: Plan, chain: Chain, mates: Mapping[str, str]) -> Iterator[Finding]:
    if chain.closed and len(chain.steps) == 2:
        yield _explain_pair(plan, chain, mates)
        return
    yield from (_explain_hop(step.hop, mates) for step in chain.steps if step.hop.ring == plan.ring)


def _explain_hop(hop: Hop, mates: Mapping[str, str]) -> Finding:
    """A hop without its link: where do its ports lead instead?"""
    a, b = mates.get(hop.a, ""), mates.get(hop.b, "")
    return name_astray(hop, a, dark=not b) if a else name_missing(hop, b)


def _explain_pair(plan: Plan, chain: Chain, mates: Mapping[str, str]) -> Finding:
    """Two cables that have one end each in the other's place."""
    one, two = (step.hop for step in chain.steps)
    crossed = mates[one.a] == two.a and one.ring == two.ring
    for first, second in ((one, two), (two, one)):
        if crossed and first.receiver == second.sender:
            return name_crossed(first.receiver, first.b, second.a)
    if crossed and plan.find_sides() and one.ring == plan.ring:
        return name_reversal(_find_segment(plan, one, two), plan)
    return name_exchange(chain)


def _find_segment(plan: Plan, one: Hop, two: Hop) -> Sequence[str]:
    """The members between two hops, on the shorter side."""
    first, last = sorted((plan.hops.index(one), plan.hops.index(two)))
    inside, outside = plan.members[first + 1 : last + 1], (*plan.members[last + 1 :], *plan.members[: first + 1])
    return min(inside, outside, key=len)
