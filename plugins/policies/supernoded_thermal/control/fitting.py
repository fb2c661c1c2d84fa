"""Least squares over a delay and a lag: which of them explain best what came out by what went in. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import mul

import msgspec

SINGULAR = 1e-9


class Response(msgspec.Struct, frozen=True):
    """A delay and a lag, s; what each column counts for, the constant first; and the share of the variance that is explained."""

    delay: float
    lag: float
    weights: tuple[float, ...]
    explained: float


def lag_series(values: Sequence[float], lag: float, seconds: float) -> list[float]:
    """The values behind a first-order lag; they are so many seconds apart, and stood at the first one before."""
    keep = math.exp(-seconds / lag) if lag > 0.0 else 0.0
    now, lagged = values[0], []
    for value in values:
        now = value + (now - value) * keep
        lagged.append(now)
    return lagged


def delay_series(values: Sequence[float], delay: float, seconds: float) -> list[float]:
    """The values later, with straight lines between them."""
    whole, share = divmod(delay / seconds, 1.0)
    back = int(whole)
    at = [max(0, place - back) for place in range(len(values))]
    return [values[place] + share * (values[max(0, place - 1)] - values[place]) for place in at]


def explain(columns: Sequence[Sequence[float]], wanted: Sequence[float]) -> tuple[tuple[float, ...], float]:
    """The weights of a constant and the columns that come nearest, and the share of the variance that they explain."""
    means = [sum(column) / len(column) for column in columns]
    inputs = [[value - mean for value in column] for column, mean in zip(columns, means, strict=True)]
    mean = sum(wanted) / len(wanted)
    output = [value - mean for value in wanted]
    products = [_multiply(column, output) for column in inputs]
    sums = [[_multiply(column, other) for other in inputs] + [product] for column, product in zip(inputs, products, strict=True)]
    weights, spread = _solve(sums), _multiply(output, output)
    if weights is None or spread <= 0.0:
        return (mean, *(0.0 for _ in columns)), 0.0
    return (mean - _multiply(weights, means), *weights), _multiply(weights, products) / spread


def _multiply(values: Sequence[float], others: Sequence[float]) -> float:
    return math.fsum(map(mul, values, others))


def _solve(sums: list[list[float]]) -> tuple[float, ...] | None:
    """Gauss and Jordan; None where the columns do not differ."""
    size = len(sums)
    for place in range(size):
        best = max(range(place, size), key=lambda row: abs(sums[row][place]))
        if abs(sums[best][place]) < SINGULAR:
            return None
        sums[place], sums[best] = sums[best], sums[place]
        pivot = sums[place]
        for row in range(size):
            if row != place:
                times = sums[row][place] / pivot[place]
                sums[row] = [value - times * other for value, other in zip(sums[row], pivot, strict=True)]
    return tuple(row[-1] / row[place] for place, row in enumerate(sums))


def fit_power(
    watts: Sequence[float], rises: Sequence[float], seconds: float, delays: Sequence[float], lags: Sequence[float], sensor_lag: float
) -> Response:
    """The best answer of the return to the racks' power. At least one delay and one lag must be given."""
    warmed = {lag: lag_series(lag_series(watts, lag, seconds), sensor_lag, seconds) for lag in lags}
    found = (
        Response(delay, lag, *explain([delay_series(series, delay, seconds)], rises)) for lag, series in warmed.items() for delay in delays
    )
    return max(found, key=lambda one: one.explained)


def fit_supply(
    supplies: Sequence[float], returns: Sequence[float], seconds: float, delays: Sequence[float], lags: Sequence[float]
) -> Iterator[Response]:
    """The answers of the return to the supply: one part of the coolant passes the cold plates unwarmed, one waits for them."""
    for lag in lags:
        waiting = lag_series(supplies, lag, seconds)
        for delay in delays:
            columns = [delay_series(supplies, delay, seconds), delay_series(waiting, delay, seconds)]
            yield Response(delay, lag, *explain(columns, returns))
