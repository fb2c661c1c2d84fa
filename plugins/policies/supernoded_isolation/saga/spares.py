"""Which spare takes the place of a card. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from supernoded.plugin import Hold, Incident, Topology, View, World, find_replica, parse_plan
from supernoded_isolation.evidence.card_views import PRESENT, is_well
from supernoded_isolation.evidence.ranks import CARD, has_ended
from supernoded_isolation.evidence.unheard import list_gone, list_torn
from supernoded_isolation.health import Table
from supernoded_isolation.saga.place import PLAN, find_rank_on, find_ranks_on, is_card, is_running, list_holds, list_older, list_ours

FLEET = "fleet"  # the owner of holds on nodes that are gone, or were and are on probation
FAR = 3  # how far a spare is that shares neither node nor supernode nor loop
RESERVED_S = 600.0  # since its hold, in which another saga is given its spare before it can be seen there (ours)


def choose_spare(card: str, world: World, seen: View, table: Table, taken: Collection[str] = (), job: str = "") -> tuple[str, ...]:
    """The spares that may take its place, the best first: of its node, of its supernode, else any; then what its job has freed.

    None is held, has a rank, is in trouble, or has no answer for its tool. One whose node was gone and is heard again will do, after its
    test, where there is no other: that it is held still is for its probation alone.
    """
    troubled = {one.subject for one in world.incidents if one.kind.startswith("card.")} | {
        m for one in world.incidents for m in one.members
    }
    declared = {spare.card for spare in world.topology.spares}
    freed = [one for one in list_freed(seen, job) if is_card(one, world)]
    spares = dict.fromkeys((*(spare.card for spare in world.topology.spares), *freed))
    used = find_ranks_on(seen, spares)
    free = [
        spare
        for spare in spares
        if spare != card
        and spare not in taken
        and spare not in troubled
        and not list_hindering(world, spare)
        and spare not in used
        and is_well(seen, spare, table, 0.0)
    ]

    def rank(spare: str) -> tuple[bool, bool, int]:
        return bool(list_holds(world, spare)), spare not in declared, measure_distance(card, spare, world.topology)

    return tuple(sorted(free, key=rank))


def list_freed(seen: View, job: str) -> list[str]:
    """The cards that a job was on before it gave replicas up, which shows by ranks of numbers that it has no more: whole replicas of them.

    The ranks that are left have closed up: so each node's last word of each counts, of those that are elsewhere by now, too.
    """
    ranks = [subject for subject in seen.subjects(CARD) if subject.rpartition("/rank")[0] == job] if job else []
    ended = [subject for subject in ranks if has_ended(seen, subject)]
    size = _measure_replica(seen.text(PLAN, job) or "") if ended else 0
    if not size or len(ended) % size:
        return []
    last = [seen.newest(CARD, subject, source) for subject in ranks for source in seen.sources(CARD, subject)]
    return list(dict.fromkeys(one.value for one in last if one is not None and isinstance(one.value, str)))


def _measure_replica(plan: str) -> int:
    """Ranks of one replica; 0 = the plan is not told."""
    try:
        return len(find_replica(parse_plan(plan), 0))
    except ValueError:
        return 0


def list_hindering(world: World, spare: str) -> list[Hold]:
    """The holds that keep a spare from being used: not that of its node, because that was gone."""
    return [hold for hold in list_holds(world, spare) if hold.owner != FLEET]


def list_unheard(card: str, world: World, seen: View, taken: Collection[str] = ()) -> list[str]:
    """The spares of which nothing is read now, and that nobody holds; but those of a node that is itself to be replaced."""
    spares = [spare.card for spare in world.topology.spares if card not in (spare.card, spare.card.partition("/")[0])]
    heard = {one for one in spares for source in seen.sources(PRESENT, one) if seen.good(PRESENT, one, source) is not None}
    return [spare for spare in spares if spare not in heard and spare not in taken and not list_hindering(world, spare)]


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
    """The spares that older sagas take, which cannot be seen on them yet: each the best that are left for it."""
    taken: list[str] = []
    for place, wanted in _list_in_need(seen, world, mine, job, now):
        taken += choose_spare(place, world, seen, table, taken)[:wanted]
    return tuple(taken)


def _list_in_need(seen: View, world: World, mine: Incident, job: str, now: float) -> Iterator[tuple[str, int]]:
    """Cards, and nodes that are gone, with how many spares each takes."""
    others = [subject for subject in seen.subjects("job.state") if subject != job and subject.count("/") == 1]
    waits = any(not is_running(seen, other) for other in others)
    for one in list_older(world, mine):
        if one.kind == "job.lost":
            lost = [card for torn in list_torn(seen, only=one.subject) for card in torn.list_on(list_gone(seen) or ()).values()]
            yield from [(lost[0].partition("/")[0], len(lost))] if lost else ()
            continue
        fresh = any(now - hold.placed < RESERVED_S for hold in list_ours(world, one.subject))
        if is_card(one.subject, world) and (find_rank_on(seen, one.subject) or (fresh and waits)):
            yield one.subject, 1
