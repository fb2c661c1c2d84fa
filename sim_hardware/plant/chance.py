"""Chance as a pure function: a generator is an integer, and a draw returns the next one (splitmix64, Steele et al., OOPSLA 2014)."""

from __future__ import annotations

import hashlib
import math

Chance = int

_MASK = (1 << 64) - 1
_FEW = 30.0  # mean from which a Poisson draw is taken as a rounded normal one; its skew is then below 0.2


def start_chance(seed: int, name: str) -> Chance:
    """The generator of this name; one more draw in one does not move another."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest())


def draw(chance: Chance) -> tuple[Chance, float]:
    """The next generator, and a number in [0, 1)."""
    chance = (chance + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((chance ^ (chance >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return chance, ((mixed ^ (mixed >> 31)) >> 11) * 2.0**-53


def draw_normal(chance: Chance) -> tuple[Chance, float]:
    """The next generator, and a standard normal number (Box and Muller)."""
    chance, one = draw(chance)
    chance, other = draw(chance)
    return chance, math.sqrt(-2.0 * math.log(1.0 - one)) * math.cos(2.0 * math.pi * other)


def draw_poisson(chance: Chance, mean: float) -> tuple[Chance, int]:
    """The next generator, and a count of so many on average."""
    if mean <= 0.0:
        return chance, 0
    if mean > _FEW:
        chance, normal = draw_normal(chance)
        return chance, max(0, round(mean + normal * math.sqrt(mean)))
    chance, level = draw(chance)
    count, term = 0, math.exp(-mean)
    total = term
    while total < level and term > 0.0:
        count += 1
        term *= mean / count
        total += term
    return chance, count
