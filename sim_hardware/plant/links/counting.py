"""How many events of a Poisson process have come by now, as a pure function of how many were to be expected.

Counters are not drawn while time passes: only what is to be expected of them is added up. The process itself is fixed by its
generator, once and for all, and is looked up where somebody asks. So a count does not depend on who looks, nor on how time was cut.
"""

from __future__ import annotations

import math
from functools import lru_cache

from sim_hardware.plant.chance import Chance, draw, draw_normal, draw_poisson

_SEGMENT = 0xD1342543DE82EF95  # an odd number: every segment has its own generator
_RIGHT = 0x9E6C63D0676A9A99
_BITS = 53  # of one draw
KEPT = 1 << 15  # parts of processes that are remembered: one that is looked up again and again is not made anew each time
_FINEST = 2.0**-60  # of its beginning, at which an interval is a point


def count_arrivals(chance: Chance, expected: float) -> int:
    """The events of this process until so many were to be expected. Never falls as `expected` grows; its mean is `expected`.

    The axis is cut into [0, 1), [1, 2), [2, 4), [4, 8)...; each has a Poisson number of events of its own.
    """
    number = max(0, math.frexp(expected)[1])
    start = 2.0 ** (number - 1) if number else 0.0
    total, inside, count = _reach(chance, number)
    return total + _count_left(inside, count, start, start or 1.0, expected)


@lru_cache(maxsize=KEPT)
def _reach(chance: Chance, number: int) -> tuple[int, Chance, int]:
    """The events before a segment; the segment's own generator, and its own events."""
    total = 0
    if number:
        before, _, last = _reach(chance, number - 1)
        total = before + last
    return total, *draw_poisson(chance + number * _SEGMENT, 2.0 ** max(0, number - 1))


def _count_left(chance: Chance, count: int, start: float, width: float, until: float) -> int:
    """Of `count` events spread evenly from `start` on, those before `until`: halve the interval until nothing is left to share out."""
    total = 0
    while count and width > max(start, _FINEST) * _FINEST and until > start:
        width /= 2.0
        chance, left = _halve(chance, count)
        if until >= start + width:
            total, start, count, chance = total + left, start + width, count - left, chance ^ _RIGHT
        else:
            count = left
    return total


def _halve(chance: Chance, count: int) -> tuple[Chance, int]:
    """How many of `count` fall into the left half: heads of as many coins; of very many, the normal number near it."""
    if count <= _BITS:
        chance, level = draw(chance)
        return chance, (int(level * 2.0**_BITS) & ((1 << count) - 1)).bit_count()
    chance, normal = draw_normal(chance)
    return chance, min(count, max(0, round(count / 2 + normal * count**0.5 / 2)))
