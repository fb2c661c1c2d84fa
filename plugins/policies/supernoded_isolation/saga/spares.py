"""Which spare takes the place of a card. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from supernoded.plugin import Incident, Topology, View, World
from supernoded_isolation.evidence.card_views import PRESENT, is_well
from supernoded_isolation.health import Table
from supernoded_isolation.saga.place import find_rank_on, find_ranks_on, is_card, is_running, list_holds, list_older, list_ours

FAR = 3  # how far a spare is that shares neither node nor supernode nor loop
RESERVED_S = 600.0  # since its hold, in which another saga is given its spare before it can be seen there (ours)


def choose_spare(card: str, world: World, seen: View, table: Table, taken: Collection[str] = ()) -> tuple[str, ...]:
    """The spares that may take its place, the best first: of its node, of its supernode, else any.

    None is held, has a rank, is in trouble, or has no answer for its tool.
    """
    troubled = {one.subject for one in world.incidents if one.kind.startswith("card.")} | {
        m for one in world.incidents for m in one.members
    }
    spares = dict.fromkeys(spare.card for spare in world.topology.spares)
    used = find_ranks_on(seen, spares)
    free = [
        spare
        for spare in spares
        if spare != card
        and spare not in taken
        and spare not in troubled
        and not list_holds(world, spare)
        and spare not in used
        and is_well(seen, spare, table, 0.0)
    ]
    return tuple(sorted(free, key=lambda spare: measure_distance(card, spare, world.topology)))


def list_unheard(card: str, world: World, seen: View, taken: Collection[str] = ()) -> list[str]:
    """The spares of which nothing is read now, and that nobody holds."""
    spares = [spare.card for spare in world.topology.spares if spare.card != card and spare.card not in taken]
    heard = {one for one in spares for source in seen.sources(PRESENT, one) if seen.good(PRESENT, one, source) is not None}
    return [spare for spare in spares if spare not in heard and not list_holds(world, spare)]


def measure_distance(card: str, spare: str, site: Topology) -> int:
    """0 = same node, 1 = same ring of nodes, 2 = same coolant loop, 3 = anywhere."""
    here, there = card.partition("/")[0], spare.partition("/")[0]
    if here == there:
        return 0
    if any({here, there} <= {member.partition("/")[0] for member in ring.order} for ring in site.rings):
        return 1
    loops = {node.name: node.loop for node in site.nodes}
    return 2 if loops.get(here) and loops.get(here) == loops.get(there) else FAR


def reserve(seen: View, world: World, mine: Incident, job: str, table: Table, now: float) -> tuple[str, ...]:
    """The spares that older sagas take, which cannot be seen on them yet: each the best that is left for it."""
    taken: list[str] = []
    for one in _list_in_need(seen, world, mine, job, now):
        best = choose_spare(one.subject, world, seen, table, taken)
        taken += best[:1]
    return tuple(taken)


def _list_in_need(seen: View, world: World, mine: Incident, job: str, now: float) -> Iterator[Incident]:
    others = [subject for subject in seen.subjects("job.state") if subject != job and subject.count("/") == 1]
    waits = any(not is_running(seen, other) for other in others)
    for one in list_older(world, mine):
        fresh = any(now - hold.placed < RESERVED_S for hold in list_ours(world, one.subject))
        if is_card(one.subject, world) and (find_rank_on(seen, one.subject) or (fresh and waits)):
            yield one
