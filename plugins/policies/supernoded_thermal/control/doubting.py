"""Whether the supply's thermometer can be right: a held temperature does not move, so that it stands still tells nothing (safety 19).

Three others must contradict it, in the same sense: the racks' power with the return, the valve, which had to be moved far from where
commissioning says it belongs, and what power and valve make of the primary water. One alone may be a power meter that is off, or a fouled
exchanger; the first two together may be a return that lies, as both go by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

OFF = 0.75  # K that each of them must be off by (ours: what a rear door's late heat is not)
NEAR = 0.4  # K within which it is believed again
MOVED = 0.25  # K that it must have moved by then: what is frozen at the setpoint agrees with a supply that is held there
FOR = 20.0  # s that either must last
LATE_S, WITHIN = 30.0, 5.0  # s by which the supply comes after what valve and power make of it, and K by which that is off at most (ours)


class Doubt(msgspec.Struct, frozen=True):
    """Whether it is believed, and since when the contrary holds."""

    doubted: bool = False
    since: float | None = None
    shown: float = 0.0  # C, what it showed when it came to be doubted
    made: tuple[float, ...] = ()  # C, what power and valve make, as late as the supply is
    at: float | None = None


def doubt_supply(
    doubt: Doubt, supply: float | None, balance: float | None, correction: float, now: float, made: Sequence[float] = ()
) -> Doubt:
    """The doubt after a look. `correction` is what the integral adds to what commissioning says, K; what cannot be told changes nothing.

    `made` are the supplies that power and valve make when all is steady, C.
    """
    if supply is None or balance is None:
        return doubt
    doubt = replace(doubt, made=_follow(doubt, supply, made, now), at=now)
    off, others = supply - balance, [supply - celsius for celsius in doubt.made]
    if doubt.doubted:
        agrees = abs(off) < NEAR or (bool(others) and max(map(abs, others)) < NEAR)
        contrary = agrees and abs(supply - doubt.shown) > MOVED
    else:
        contrary = min(off, correction, *others) > OFF or max(off, correction, *others) < -OFF
    if not contrary:
        return replace(doubt, since=None)
    since = now if doubt.since is None else doubt.since
    return replace(doubt, doubted=not doubt.doubted, since=None, shown=supply) if now - since >= FOR else replace(doubt, since=since)


def _follow(doubt: Doubt, supply: float, made: Sequence[float], now: float) -> tuple[float, ...]:
    """What is made comes to the thermometer later."""
    bounded = tuple(max(supply - WITHIN, min(supply + WITHIN, celsius)) for celsius in made)
    if doubt.at is None or len(doubt.made) != len(bounded):
        return bounded
    share = 1.0 - math.exp(-max(0.0, now - doubt.at) / LATE_S)
    return tuple(before + share * (celsius - before) for before, celsius in zip(doubt.made, bounded, strict=True))
