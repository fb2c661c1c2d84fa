"""What a launcher has been told, and what it said to it. Pure.

An order is about one *incarnation*, which is one start of the job: what was to end or to restart that start does nothing to a later one,
however often and by whomever it is given again. Both are kept in the state folder, and a launcher that dials again tells its answers anew,
so that a crash on either side neither loses an order nor doubles it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from supernoded.job.protocol import Acted

MOST = 64  # that are remembered, the newest (ours)
MOST_WHY = 300  # characters


class Given(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One order and its answer; `ok` None = none yet. `kind` is empty of one that an earlier life took with it."""

    id: str
    kind: Literal["", "abort", "remap", "resume"] = ""
    incarnation: int = 0
    ok: bool | None = None
    why: str = ""
    plan: str = ""  # of the job once it is done, where that changes


Orders = tuple[Given, ...]


def find(orders: Orders, order: str) -> Given | None:
    """The newest of that id."""
    return next((one for one in reversed(orders) if one.id == order), None)


def give(orders: Orders, given: Given) -> Orders:
    """It has been said, perhaps again; what went wrong before is forgotten."""
    return (*(one for one in orders if one.id != given.id), given)[-MOST:]


def answer(orders: Orders, acted: Acted) -> Orders:
    """What the launcher says, also to what nobody here has asked: another life may have."""
    known = find(orders, acted.order) or Given(id=acted.order)
    return give(orders, msgspec.structs.replace(known, ok=acted.ok, why=acted.why[:MOST_WHY]))


def find_abort(orders: Orders, incarnation: int) -> bool:
    """Whether the launcher has ended this start of the job, and nothing has started it again."""
    return any(one.kind == "abort" and one.ok is True and one.incarnation == incarnation for one in orders)
