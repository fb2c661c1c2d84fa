"""Every ring against the links that were seen: a verdict each, findings, and the fewest moves that repair them all. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from supernoded_ring.adopting import adopt
from supernoded_ring.chains import Chain, find_chains
from supernoded_ring.explaining import CLOSED, MISWIRED, WORST_FIRST, judge_ring
from supernoded_ring.moves import Move, plan_moves
from supernoded_ring.naming import Finding
from supernoded_ring.plan import Plan, node_of

UNSEEN = "unseen"  # a ring of nodes of which neither a cable is described nor a link was told, beside rings of which there is


class RingReport(msgspec.Struct, frozen=True):
    """One ring. A move belongs to the ring for whose sake it is made."""

    ring: str
    verdict: str  # closed, broken, split or miswired; unseen, which has no part in the verdict on all
    findings: tuple[Finding, ...] = ()
    moves: tuple[Move, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """All rings: the worst verdict, every finding once, every move in the order in which they can be made."""

    verdict: str
    findings: tuple[Finding, ...] = ()
    moves: tuple[Move, ...] = ()
    rings: tuple[RingReport, ...] = ()


def verify(plans: Sequence[Plan], mates: Mapping[str, str], faults: Iterable[Finding] = (), known: Iterable[str] = ()) -> Report:
    """What the links make of the rings. `mates` holds both directions of every link; `faults` are findings of reading them.

    A ring of nodes without described cables takes its hops from the links; `known` are ports that were seen without one.
    """
    whole = complete(plans, mates, known)
    chains = find_chains([hop for plan in whole for hop in plan.hops], mates)
    moves, of_ring = plan_moves(chains), _sort_chains(chains)
    rings = tuple(_report(plan, of_ring.get(plan.ring, ()), mates, moves) for plan in whole)
    found = dict.fromkeys([*faults, *(finding for ring in rings for finding in ring.findings)])
    verdict = min((ring.verdict for ring in rings if ring.verdict != UNSEEN), key=WORST_FIRST.index, default=CLOSED)
    return Report(MISWIRED if verdict == CLOSED and found else verdict, tuple(found), tuple(moves), rings)


def complete(plans: Sequence[Plan], mates: Mapping[str, str], known: Iterable[str] = ()) -> list[Plan]:
    """The plans, those of nodes with hops made of the links where no cables are described."""
    if all(plan.hops for plan in plans):
        return list(plans)
    foreign = {port for plan in plans for hop in plan.hops for port in (hop.a, hop.b)}
    ports = [port for port in (*mates, *known) if port not in foreign]
    whole = []
    for plan in plans:
        unseen = bool(foreign) and not any(node_of(port) in plan.members for port in ports)
        whole.append(plan if plan.hops or unseen else adopt(plan, mates, foreign, ports))
    return whole


def _sort_chains(chains: Sequence[Chain]) -> Mapping[str, list[Chain]]:
    found: dict[str, list[Chain]] = {}
    for chain in chains:
        for ring in dict.fromkeys(step.hop.ring for step in chain.steps):
            found.setdefault(ring, []).append(chain)
    return found


def _report(plan: Plan, chains: Sequence[Chain], mates: Mapping[str, str], moves: Sequence[Move]) -> RingReport:
    if not plan.hops:
        return RingReport(plan.ring, UNSEEN)
    verdict, findings = judge_ring(plan, chains, mates)
    return RingReport(plan.ring, verdict, tuple(findings), tuple(move for move in moves if move.ring == plan.ring))
