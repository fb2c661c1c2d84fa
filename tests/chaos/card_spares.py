"""What no storm may do to cards that are well: give a replica up while a spare could be had, or hold a card without a fault."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.chaos.card_judging import ask
from tests.chaos.card_site import CardSite

HAD_S = 30.0  # for which a spare has been well and heard, so that it could have been tested by anybody (ours)
WAIT_S = 300.0  # plugins.isolation.spare_wait_s, as it comes
DEAFENING = frozenset({"broker.lost", "daemon.killed", "net.partition", "node.clock"})  # whoever has it hears less


@dataclass(frozen=True)
class Blow:
    """One fault of a storm."""

    at: float
    until: float
    kind: str
    target: str
    parameters: Mapping[str, object]


@dataclass(frozen=True)
class Held:
    """A hold of any daemon's journal, by virtual time."""

    subject: str
    owner: str
    placed: float
    lifted: float


@dataclass(frozen=True)
class Glimpse:
    """What the plant shows at one moment."""

    at: float
    world: float  # ranks of the job
    free: tuple[str, ...]  # spares without a rank that are not isolated


def glimpse(site: CardSite) -> Glimpse:
    """Look at the plant."""
    world = float(site.sense("job.world_size"))
    taken = {*(site.find_rank(number) for number in range(int(world))), *site.list_isolated()}
    return Glimpse(site.loop.time(), world, tuple(spare.card for spare in site.rack.spares if spare.card not in taken))


def read_past_holds(site: CardSite) -> list[Held]:
    """What any daemon that lives ever knew of, lifted or not."""
    epoch, query = site.loop.wall() - site.loop.time(), "SELECT subject, owner, placed, lifted FROM holds ORDER BY placed, id"
    rows = [row for node in site.nodes for row in ask(site.folder / node / "journal.db", query)]
    return [Held(subject, owner, placed - epoch, math.inf if lifted is None else lifted - epoch) for subject, owner, placed, lifted in rows]


def judge_replicas(seen: Sequence[Glimpse], ended: Sequence[float], blows: Sequence[Blow], holds: Sequence[Held]) -> Iterator[str]:
    """Each replica that was given up: `ended` = when the job was ended, after which a spare is looked for."""
    for before, after in pairwise(seen):
        if after.world < before.world:
            at = before.at
            begun = max((moment for moment in ended if moment <= after.at), default=at)
            looks = [one for one in seen if at - HAD_S <= one.at <= at]
            well = [card for card in before.free if all(card in one.free for one in looks) and not _is_spoilt(card, at, blows, holds)]
            deaf = _is_any(blows, DEAFENING, at)
            if well and not deaf:
                yield f"at {at:.0f} s a replica was given up, and {well} were well and heard"
            elif well and at - begun < WAIT_S:
                yield f"at {at:.0f} s a replica was given up, {at - begun:.0f} s after the job was ended, and {well} were only not heard"


def judge_holds(holds: Iterable[Held], struck: Mapping[str, float]) -> Iterator[str]:
    """Each hold of a card: `struck` = when each card first had a fault, or a rank that was silent on it."""
    for hold in holds:
        if "/" in hold.subject and hold.placed < struck.get(hold.subject, hold.placed + 1.0):
            yield f"{hold.owner} held {hold.subject} from {hold.placed:.0f} s to {hold.lifted:.0f} s, and nothing had been wrong with it"


def _is_spoilt(card: str, at: float, blows: Sequence[Blow], holds: Sequence[Held]) -> bool:
    """Whether it had a fault or was held, but for the probation of its node, in the time in which it would have been tested."""
    held = any(hold.subject == card and hold.placed <= at and hold.lifted >= at - HAD_S for hold in holds)
    return held or any(blow.target == card and blow.at <= at and blow.until >= at - HAD_S for blow in blows)


def _is_any(blows: Sequence[Blow], kinds: Iterable[str], at: float) -> bool:
    return any(blow.kind in kinds and blow.at <= at and blow.until >= at - HAD_S for blow in blows)
