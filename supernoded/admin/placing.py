"""Which rank of a job runs on which card, as far as this daemon is told: its own ranks, and those in the digests of other nodes. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.messages import RankMap, RankPlace
from supernoded.model import Reading, State
from supernoded.topology import check_map

CARD, WORLD, PLAN, STATE = "rank.card", "job.world_size", "job.plan", "rank.state"
ELSEWHERE = frozenset({"gone", "stopped"})  # what a node says of a rank that may have come up on another


def find_rank_map(readings: Iterable[Reading], job: str, now: float) -> RankMap | None:
    """The newest word on each rank, one that is there before one that has gone; None when nothing is told of that job."""
    subject, known = f"job/{job}", [reading for reading in readings if reading.state is State.GOOD]
    mine = [reading for reading in known if reading.subject == subject or reading.subject.startswith(f"{subject}/rank")]
    if not mine:
        return None
    states = {(reading.subject, reading.source): reading.value for reading in mine if reading.quantity == STATE}
    placed = sorted((reading for reading in mine if reading.quantity == CARD), key=lambda one: one.at)
    placed.sort(key=lambda one: states.get((one.subject, one.source)) not in ELSEWHERE)
    cards = {int(number): str(one.value) for one in placed if (number := one.subject.removeprefix(f"{subject}/rank")).isdecimal()}
    worlds = [int(reading.value) for reading in mine if reading.quantity == WORLD and isinstance(reading.value, int | float)]
    plans = sorted((reading for reading in mine if reading.quantity == PLAN), key=lambda one: one.at)
    world = max(worlds, default=0)
    plan = str(plans[-1].value) if plans else ""
    ranks = tuple(RankPlace(rank=rank, card=card) for rank, card in sorted(cards.items()))
    return RankMap(now=now, job=job, world=world, plan=plan, ranks=ranks, faults=check_map(cards, world))
