"""Rates that go from one value to another along a straight line in their logarithm. Pure."""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec


class Ramp(msgspec.Struct, frozen=True):
    """From `first` at `begin` to `last` at `end`, s; constant before and after. Both are over 0."""

    begin: float
    end: float
    first: float
    last: float

    def at(self, time: float) -> float:
        """The value at a time."""
        if time >= self.end:
            return self.last
        share = max(0.0, (time - self.begin) / (self.end - self.begin))
        return self.first * math.exp(share * math.log(self.last / self.first))

    def mean(self, begin: float, end: float) -> float:
        """The mean over a time, in closed form."""
        if end <= begin:
            return self.at(begin)
        cuts = (begin, min(max(self.begin, begin), end), min(max(self.end, begin), end), end)
        total = sum(_integrate(self.at(one), self.at(other), other - one) for one, other in pairwise(cuts))
        return total / (end - begin)

    def find_crossing(self, level: float, after: float) -> float:
        """When it first crosses a level after a time; infinity when it does not."""
        if self.first == self.last or not min(self.first, self.last) < level < max(self.first, self.last):
            return math.inf
        when = self.begin + (self.end - self.begin) * math.log(level / self.first) / math.log(self.last / self.first)
        return when if when > after else math.inf


def _integrate(first: float, last: float, duration: float) -> float:
    bent = math.log(last / first)
    return duration * ((last - first) / bent if abs(bent) > 1e-9 else (first + last) / 2)
