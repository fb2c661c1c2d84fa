"""The fewest moves that make every ring what it ought to be. Pure.

One move = one cable end that goes into another port. An end may be taken out and kept in the hand until its turn comes, so that two ends
change places in two moves, one each. Where a hop has no cable, both ends of a new one (or of the one that nobody sees) are plugged in:
two moves. An end that has to leave its port for good is a move, too. Cables are alike: any may serve any hop.

Why these are the fewest: one plug completes at most one hop, so that a chain of n hops without links needs n; a chain that lacks a cable
needs one more, for its second end. A chain with a cable too many needs one more for the end that is pulled, unless that cable can
serve the chain that lacks one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from supernoded_ring.chains import Chain, Step
from supernoded_ring.plan import Hop


class Move(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """One cable end re-plugged. Empty `from` = the end is in no port that is seen; empty `to` = it is laid aside."""

    number: int = 0
    ring: str
    from_: str
    to: str
    other_end: str  # the port in which the other end of this cable is at that moment, empty when in none
    sentence: str


def plan_moves(chains: Sequence[Chain]) -> list[Move]:
    """The moves in an order in which they can be made, numbered from 1."""
    surplus = deque(chain for chain in chains if chain.head and chain.tail)
    moves: list[Move] = []
    for chain in chains:
        if chain.closed:
            moves += _turn_round(chain)
        elif chain.head and chain.tail:
            continue
        elif chain.head or chain.tail:
            moves += _shift(chain if chain.head else chain.turn())
        elif surplus:
            moves += _lend(surplus.popleft(), chain)
        else:
            moves += _add_cable(chain)
    for chain in surplus:
        moves += _drop_cable(chain)
    return [msgspec.structs.replace(move, number=number) for number, move in enumerate(moves, start=1)]


def _turn_round(chain: Chain) -> Iterator[Move]:
    """A closed chain: each link stays at the exit of its hop, and its other end goes to the entry. The first of them needs a free hand."""
    steps = min(chain, chain.turn(), key=_weigh_ends).steps
    following = (*steps[1:], steps[0])
    held = steps[0].entry
    for step, after in zip(steps, following, strict=True):
        yield _move(step.hop, after.entry, step.entry, step.exit, holding=held if step is steps[0] else "", held=after.entry == held)


def _weigh_ends(chain: Chain) -> tuple[int, int]:
    """Rather at one card than at two, rather at receiving ports."""
    entries = [step.entry for step in chain.steps]
    return len({entry.rpartition("/")[0] for entry in entries}), sum(step.entry == step.hop.a for step in chain.steps)


def _shift(chain: Chain) -> Iterator[Move]:
    """A link from outside at its head and a port without a link at its end: every link stays at the entry of its hop."""
    steps = chain.steps
    sources = (chain.head, *(step.exit for step in steps))
    for step, source in reversed(list(zip(steps, sources[:-1], strict=True))):
        yield _move(step.hop, source, step.exit, step.entry)


def _close_up(chain: Chain) -> Iterator[Move]:
    """Without a link at either end: every link stays at the exit of its hop, and the last hop is left without."""
    for step, after in zip(chain.steps[:-1], chain.steps[1:], strict=True):
        yield _move(step.hop, after.entry, step.entry, step.exit)


def _add_cable(chain: Chain) -> Iterator[Move]:
    yield from _close_up(chain)
    hop, last = chain.steps[-1].hop, chain.steps[-1]
    first, second = (last.entry, last.exit) if last.entry == hop.a else (last.exit, last.entry)
    yield _move(hop, "", first, "")
    yield _move(hop, "", second, first)


def _drop_cable(chain: Chain) -> Iterator[Move]:
    last = chain.steps[-1]
    yield _move(last.hop, last.exit, "", chain.tail)
    yield from _shift(chain)


def _lend(rich: Chain, poor: Chain) -> Iterator[Move]:
    """A cable too many here serves where one is missing."""
    yield from _close_up(poor)
    last: Step = poor.steps[-1]
    spare = rich.steps[-1]
    yield _move(last.hop, spare.exit, last.entry, rich.tail)
    yield _move(last.hop, rich.tail, last.exit, last.entry)
    yield from _shift(rich)


def _move(hop: Hop, source: str, target: str, other: str, *, holding: str = "", held: bool = False) -> Move:
    if not source:
        which = "the other end" if other else "one end"
        sentence = f"Plug {which} of the cable that is not seen into {target}; if it is there already, take it out and plug it in again."
    elif not target:
        sentence = f"Pull the end out of {source} (its other end is in {other}) and lay it aside."
    elif held:
        sentence = f"Plug the end from {source} that you hold into {target} (its other end is in {other})."
    else:
        before = f"Take the end in {holding} out and hold it; then move" if holding else "Move"
        sentence = f"{before} the end in {source} to {target} (its other end is in {other})."
    return Move(ring=hop.ring, from_=source, to=target, other_end=other, sentence=sentence)
