"""Where a rate of errors is going: the slope of its logarithm with its error, and the time to a limit. Pure.

Errors are fitted by Poisson regression over the spans of the memory, rate = exp(now + slope t) with t = 0 now, by Newton's method; how sure
the slope is comes from the likelihood ratio against a flat rate, which stays honest with few errors. Rates without a count are fitted
by least squares on their logarithms, with the spread that they show themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from supernoded_link_ber.ber.exposure import Spans

_ROUNDS, _SMALL = 40, 1e-9
_Z = 1.959964  # both sides, 95 %


class Fit(msgspec.Struct, frozen=True, gc=False):
    """A fitted line of ln(errors per bit)."""

    level: float  # now
    slope: float  # per second
    sigmas: float  # by how many of its own errors the slope differs from none, with its sign
    variances: tuple[float, float, float]  # of level, of slope, and of both together

    def find_crossing(self, limit: float) -> tuple[float, float, float] | None:
        """Seconds until the rate is `limit`, with the 95 % interval (delta method on the logarithm); None when it does not get there."""
        if self.slope <= 0.0 or limit <= 0.0 or math.log(limit) <= self.level:
            return None
        time = (math.log(limit) - self.level) / self.slope
        of_level, of_slope, of_both = self.variances
        spread = math.sqrt(max(0.0, of_level + time * time * of_slope + 2.0 * time * of_both)) / (self.slope * time)
        factor = math.exp(min(_Z * spread, 50.0))
        return time, time / factor, time * factor


def list_points(spans: Spans, now: float) -> list[tuple[float, float, float]]:
    """The middle of each span before now (s), its errors and bits; oldest first."""
    points, end = list[tuple[float, float, float]](), now
    for span in spans:
        if span.bits > 0.0:
            points.append(((span.since + end) / 2.0 - now, span.errors, span.bits))
        end = span.since
    return points[::-1]


def fit_counts(points: Sequence[tuple[float, float, float]]) -> Fit | None:
    """Poisson regression over (time, errors, bits); None when there is too little to fit a line to."""
    errors, bits = sum(n for _, n, _ in points), sum(b for *_, b in points)
    if len(points) < 3 or errors <= 0.0 or bits <= 0.0:
        return None
    scale = max(1.0, -points[0][0])  # so that both parameters are of the order of one
    flat = math.log(errors / bits)
    level, slope = flat, 0.0
    best = _find_likelihood(points, level, slope, scale)
    for _ in range(_ROUNDS):
        expected = [bits_of_it * math.exp(level + slope * t / scale) for t, _, bits_of_it in points]
        score = sum(n - e for (_, n, _), e in zip(points, expected, strict=True))
        score_t = sum((n - e) * t / scale for (t, n, _), e in zip(points, expected, strict=True))
        step = _solve(_find_information(points, expected, scale), score, score_t)
        if step is None:
            return None
        by = 1.0
        while (better := _find_likelihood(points, level + by * step[0], slope + by * step[1], scale)) < best and by > _SMALL:
            by /= 2.0
        if by <= _SMALL:
            break
        level, slope, gained, best = level + by * step[0], slope + by * step[1], better - best, better
        if gained < _SMALL:
            break
    return _conclude(points, level, slope, scale, best - _find_likelihood(points, flat, 0.0, scale))


def fit_rates(points: Sequence[tuple[float, float]]) -> Fit | None:
    """Least squares of (time, ln rate); None with fewer than 8 points, whose own spread says little."""
    size = len(points)
    if size < 8:
        return None
    middle, mean = sum(t for t, _ in points) / size, sum(y for _, y in points) / size
    width = sum((t - middle) ** 2 for t, _ in points)
    if width <= 0.0:
        return None
    slope = sum((t - middle) * (y - mean) for t, y in points) / width
    level = mean - slope * middle
    spread = max(sum((y - level - slope * t) ** 2 for t, y in points) / (size - 2), 1e-8)
    of_slope = spread / width
    return Fit(level, slope, slope / math.sqrt(of_slope), (spread / size + middle * middle * of_slope, of_slope, -middle * of_slope))


def _find_likelihood(points: Sequence[tuple[float, float, float]], level: float, slope: float, scale: float) -> float:
    total = 0.0
    for t, errors, bits in points:
        log = level + slope * t / scale
        if log + math.log(bits) > 200.0:
            return -math.inf
        total += errors * log - bits * math.exp(log)
    return total


def _find_information(points: Sequence[tuple[float, float, float]], expected: Sequence[float], scale: float) -> tuple[float, float, float]:
    plain = sum(expected)
    both = sum(e * t / scale for (t, *_), e in zip(points, expected, strict=True))
    square = sum(e * (t / scale) ** 2 for (t, *_), e in zip(points, expected, strict=True))
    return plain, both, square


def _solve(information: tuple[float, float, float], one: float, two: float) -> tuple[float, float] | None:
    plain, both, square = information
    size = plain * square - both * both
    if size <= 1e-12 * plain * square or size <= 0.0:
        return None
    return (square * one - both * two) / size, (plain * two - both * one) / size


def _conclude(points: Sequence[tuple[float, float, float]], level: float, slope: float, scale: float, gain: float) -> Fit | None:
    expected = [bits * math.exp(level + slope * t / scale) for t, _, bits in points]
    information = _find_information(points, expected, scale)
    first, second = _solve(information, 1.0, 0.0), _solve(information, 0.0, 1.0)
    if first is None or second is None:
        return None
    sigmas = math.copysign(math.sqrt(max(0.0, 2.0 * gain)), slope)
    return Fit(level, slope / scale, sigmas, (first[0], second[1] / scale**2, first[1] / scale))
