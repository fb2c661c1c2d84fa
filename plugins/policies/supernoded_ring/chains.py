"""Where what ought to be and what is differ: alternating chains of hops and links. Pure.

Every port has at most one hop (as it should be) and one link (as it is). Leaving out the hops that have their link, both together fall
into chains `hop link hop link ...`, which are independent of each other: what repairs one touches no port of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded_ring.plan import Hop


class Step(msgspec.Struct, frozen=True, gc=False):
    """One hop of a chain: it is entered at one port and left at the other."""

    hop: Hop
    entry: str
    exit: str

    def turn(self) -> Step:
        """The same walked the other way."""
        return Step(self.hop, self.exit, self.entry)


class Chain(msgspec.Struct, frozen=True):
    """Hops without their link, each joined to the next by a link from its exit to the other's entry.

    A `closed` chain has a link from its last exit to its first entry. An open one may have, at either end, a link to a port outside of
    all rings (`head`, `tail`); without, the port at that end has no link at all.
    """

    steps: tuple[Step, ...]
    closed: bool = False
    head: str = ""
    tail: str = ""

    def turn(self) -> Chain:
        """The same walked the other way."""
        return Chain(tuple(step.turn() for step in reversed(self.steps)), self.closed, self.tail, self.head)


def find_chains(hops: Sequence[Hop], mates: Mapping[str, str]) -> list[Chain]:
    """Every chain, in the order of the hops; none = each hop has its link."""
    missing = [hop for hop in hops if mates.get(hop.a) != hop.b]
    if not missing:
        return []
    at = {port: hop for hop in missing for port in (hop.a, hop.b)}
    seen: set[str] = set()  # sending ports of the hops that are in a chain
    return [_walk(hop, at, mates, seen) for hop in missing if hop.a not in seen]


def _walk(first: Hop, at: Mapping[str, Hop], mates: Mapping[str, str], seen: set[str]) -> Chain:
    start = Step(first, first.a, first.b)
    seen.add(first.a)
    ahead = list(_follow(start, at, mates, seen))
    tail = mates.get((ahead[-1] if ahead else start).exit, "")
    if tail == start.entry:
        return Chain((start, *ahead), closed=True)
    behind = list(_follow(start.turn(), at, mates, seen))
    head = mates.get((behind[-1] if behind else start.turn()).exit, "")
    return Chain((*(step.turn() for step in reversed(behind)), start, *ahead), head=head, tail=tail)


def _follow(step: Step, at: Mapping[str, Hop], mates: Mapping[str, str], seen: set[str]) -> Iterator[Step]:
    """The hops that follow, until a port has no link, or its link leads out or to a hop that is in a chain already."""
    entry = mates.get(step.exit, "")
    while (hop := at.get(entry)) is not None and hop.a not in seen:
        seen.add(hop.a)
        exit_ = hop.b if entry == hop.a else hop.a
        yield Step(hop, entry, exit_)
        entry = mates.get(exit_, "")
