"""The names of what can be wrong with a ring, and a sentence on each for people who stand in front of the rack. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded_ring.chains import Chain
from supernoded_ring.plan import Hop, Plan
from supernoded_ring.tracing import find_displaced

MOST_NAMED = 8  # members that a sentence names


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong: its kind (the docs list them), the member, port or ring to look at, and one sentence."""

    kind: str
    subject: str
    sentence: str


def name_missing(hop: Hop, leads: str) -> Finding:
    """No link at the sending end; `leads` is where the receiving end leads, empty when it has none either."""
    where = f"at {hop.a}, and {hop.b} leads to {leads}" if leads else "at either end"
    return Finding("missing_hop", hop.a, f"The hop {hop} is missing: no link is seen {where}.")


def name_astray(hop: Hop, leads: str, *, dark: bool) -> Finding:
    """The sending end leads somewhere else; `dark` = there is no link at all where it belongs."""
    return Finding("wrong_port", hop.a, f"{hop.a} leads to {leads} instead of {hop.b}{', where no link is seen' if dark else ''}.")


def name_lost(member: str, before: Hop, past: str) -> Finding:
    """A member without any link; `past` = the port to which the one before it leads instead."""
    more = f", and {before.a} leads past it to {past}" if past else ""
    return Finding("missing_hop", member, f"{member} is missing from the ring: no link is seen at any of its ports{more}.")


def name_crossed(member: str, receiving: str, sending: str) -> Finding:
    """Both cables of a member in each other's port."""
    text = f"The two cables at {member} are swapped: the one in {sending} belongs in {receiving}, and the one in {receiving} in {sending}."
    return Finding("wrong_port", member, text)


def name_exchange(chain: Chain) -> Finding:
    """Two cables, one end of each in the other's place."""
    one, two = chain.steps
    text = (
        f"The cables of {one.hop} and {two.hop} are exchanged at one end: {one.exit} leads to {two.entry}, and {two.exit} to {one.entry}."
    )
    return Finding("exchanged_cables", one.hop.a, text)


def name_reversal(segment: Sequence[str], plan: Plan) -> Finding:
    """Members that are wired in the opposite direction."""
    if len(segment) == len(plan.members):
        return Finding("reversed_segment", plan.subject, f"The whole ring {plan.ring} is wired the other way round.")
    text = f"The segment {name_some(segment)} is wired the other way round: it is entered at {segment[-1]} and left at {segment[0]}."
    return Finding("reversed_segment", segment[0], text)


def name_sub_ring(plan: Plan, cycle: Sequence[str]) -> Finding:
    """A closed ring that is not the whole one."""
    verb, own = ("make", "their") if len(cycle) > 1 else ("makes", "its")
    text = f"{name_some(cycle)} {verb} a closed ring of {own} own, {len(cycle)} of the {len(plan.members)} members, with all links up."
    return Finding("closed_sub_ring", cycle[0], text)


def name_order(plan: Plan, cycle: Sequence[str]) -> Finding:
    """One closed ring through all members, in another order."""
    turned = [cycle[0], *reversed(cycle[1:])]
    walked = min(cycle, turned, key=lambda one: len(find_displaced(one, plan.members)))
    displaced = find_displaced(walked, plan.members)
    if len(displaced) == 2:
        first, second = sorted(displaced, key=plan.members.index)
        return Finding("wrong_order", first, f"{first} and {second} have changed places in the ring {plan.ring}.")
    start = walked.index(plan.members[0])
    walked = [*walked[start:], *walked[:start]]
    place = next((place for place in range(len(walked)) if walked[place] != plan.members[place]), 0)
    text = f"The ring is closed in another order: {walked[place - 1]} is followed by {walked[place]} instead of {plan.members[place]}."
    return Finding("wrong_order", walked[place], text)


def name_some(members: Sequence[str]) -> str:
    """The members, or the first and last of many."""
    if len(members) <= MOST_NAMED:
        return ", ".join(members)
    return f"{members[0]}, {members[1]} ... {members[-1]} ({len(members)} members)"
