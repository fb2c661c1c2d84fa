"""Errors before and after correction: RS(544,514) over ten-bit symbols (IEEE 802.3 clause 119, "KP4"), which corrects 15 of 544.

With independent bit errors p a symbol is wrong with s = 1 - (1 - p)^10. A block of more than 15 wrong symbols stays as it is, so that
of all bits a share of (p / s) * sum over i > 15 of (i / 544) * C(544, i) * s^i * (1 - s)^(544 - i) is wrong afterwards (Sklar, Digital
Communications, 2nd ed., equation 8.26 for a bounded-distance decoder).
"""

from __future__ import annotations

import math

SYMBOLS, CORRECTABLE, SYMBOL_BITS = 544, 15, 10
FLOOR = 1e-15  # what even a good link has left, of causes that no correction sees (the effective BER that makers promise)
BAD_BLOCK_BITS = 17.0  # wrong bits of a block just past correction
_CLEAN, _HOPELESS = 1e-6, 0.1  # before correction: nothing is left afterwards; everything is
_FIRST = math.lgamma(SYMBOLS + 1) - math.lgamma(CORRECTABLE + 2) - math.lgamma(SYMBOLS - CORRECTABLE)  # ln C(544, 16)


def correct(before: float) -> float:
    """The bit error rate after correction. Grows with `before`, and is never below `FLOOR`."""
    if before <= _CLEAN:
        return FLOOR
    if before >= _HOPELESS:
        return min(before, 0.5)
    wrong = 1.0 - (1.0 - before) ** SYMBOL_BITS
    number = CORRECTABLE + 1
    term = math.exp(_FIRST + number * math.log(wrong) + (SYMBOLS - number) * math.log1p(-wrong))
    total, odds = 0.0, wrong / (1.0 - wrong)
    while number < SYMBOLS and (number < SYMBOLS * wrong or term * SYMBOLS > total * 1e-12):
        total += number / SYMBOLS * term
        term *= (SYMBOLS - number) / (number + 1) * odds
        number += 1
    return max(FLOOR, before / wrong * total)


def uncorrect(after: float) -> float:
    """The bit error rate before correction that leaves `after`; 0 where no errors need have come before. By halving, within 1e-9."""
    if after <= FLOOR:
        return 0.0
    low, high = math.log(_CLEAN), math.log(0.5)
    for _ in range(34):
        middle = (low + high) / 2
        low, high = (middle, high) if correct(math.exp(middle)) < after else (low, middle)
    return math.exp(high)
