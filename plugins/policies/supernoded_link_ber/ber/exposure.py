"""Errors and the bits they were found in, over windows from one poll to the whole memory, in a handful of numbers.

The memory is an exponential histogram: at most two spans of each size, each size twice the one before, so that an hour of polls
takes some twenty spans and every window that ends now is a sum over the first few of them.
"""

from __future__ import annotations

import math

import msgspec

_Z = 1.959964  # both sides, 95 %


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Errors found in `bits` between two moments."""

    since: float
    errors: float
    bits: float
    size: int = 0  # polls in it, as a power of two


Spans = tuple[Span, ...]  # newest first


def join(older: Span, newer: Span) -> Span:
    """Both as one, of the next size."""
    return Span(older.since, older.errors + newer.errors, older.bits + newer.bits, newer.size + 1)


def remember(spans: Spans, new: Span, horizon: float) -> Spans:
    """The spans with a new one in front; what began before `horizon` is forgotten."""
    kept = [new, *spans]
    while len(kept) > 1 and kept[-1].since < horizon:
        kept.pop()
    first = 0
    while first + 2 < len(kept) and kept[first].size == kept[first + 1].size == kept[first + 2].size:
        kept[first + 1 : first + 3] = [join(kept[first + 2], kept[first + 1])]
        first += 1
    return tuple(kept)


def sum_newest(spans: Spans, number: int) -> Span:
    """The window of the newest `number` spans."""
    errors, bits = 0.0, 0.0
    for span in spans[:number]:
        errors += span.errors
        bits += span.bits
    return Span(spans[number - 1].since, errors, bits)


def sum_since(spans: Spans, since: float) -> Span:
    """The shortest window that reaches back to `since`, or all of it. Raises IndexError when there is none."""
    number = next((number for number, span in enumerate(spans, start=1) if span.since <= since), len(spans))
    return sum_newest(spans, number)


def surprise(errors: float, expected: float) -> float:
    """How surprising a count is where `expected` were expected: -ln of the Chernoff bound of the Poisson tail on its side.

    The chance of so many (or, below `expected`, so few) errors is at most e to the minus this.
    """
    if expected <= 0.0:
        return 0.0
    return expected - errors + (errors * math.log(errors / expected) if errors > 0 else 0.0)


def find_bounds(errors: float) -> tuple[float, float]:
    """The 95 % interval of the mean behind a Poisson count (Byar's approximation, within 1 % of the exact one from 2 errors on)."""
    low = errors * (1.0 - 1.0 / (9.0 * errors) - _Z / (3.0 * math.sqrt(errors))) ** 3 if errors > 0 else 0.0
    more = errors + 1.0
    return max(0.0, low), more * (1.0 - 1.0 / (9.0 * more) + _Z / (3.0 * math.sqrt(more))) ** 3


def find_worst(spans: Spans, limit: float, least: int) -> tuple[float, int]:
    """How surprising the worst window that ends now is for a BER of `limit`, and how many spans it has; 0, 0 = not at all."""
    errors, expected, worst, number = 0.0, 0.0, 0.0, 0
    for index, span in enumerate(spans, start=1):
        errors += span.errors
        expected += limit * span.bits
        if errors >= least and errors > expected:
            score = surprise(errors, expected)
            if score > worst:
                worst, number = score, index
    return worst, number


def find_clean(spans: Spans, limit: float, enough: float, until: float) -> int:
    """How many of the newest spans show a BER below `limit`, reaching back to `until` at least; 0 = none do."""
    errors, expected = 0.0, 0.0
    for index, span in enumerate(spans, start=1):
        errors += span.errors
        expected += limit * span.bits
        if span.since <= until and errors < expected and surprise(errors, expected) >= enough:
            return index
    return 0
