"""A bank of Poisson CUSUMs: is the rate of errors above the limit? Pure arithmetic, in units of *expected errors*.

**Null hypothesis**: the true bit error rate is the limit. Time runs in errors expected under it: an interval in which `bits` passed is
mu0 = limit x bits long, whatever clock, poll or traffic. At 200 Gb/s and 1e-12 five seconds are mu0 = 1 (Q5).

**Statistic** (Page 1954; Lucas 1985 for counts): for each alternative, r times the limit, S = max(0, S + n ln r - mu0 (r - 1)) with n new
errors: the logarithm of the likelihood ratio since the moment that speaks most for a change. Alarm at S >= h.

**Average run length to a false alarm.** In continuous time, with time scaled so that an error is a jump of 1, S sinks by
c = (r - 1) / ln r per expected error and errors come at rate 1: the workload of an M/D/1 queue. Its mean time to exceed H = h / ln r is
W(H)^2 / W'(H) - (integral of W over 0..H), where W is the scale function of the process, with Laplace transform
1 / (c t - 1 + exp(-t)) (Avram, Kyprianou and Pistorius 2004, for the process reflected at its supremum). The transform has the
poles 0 and -ln r, so that W(x) = 1 / (c - 1) - exp(-x ln r) / (r - c) but for terms that vanish faster, and therefore

    ARL = K(r) e^h,   K(r) = (r - c) / ((c - 1)^2 ln r),   so   h = ln(ARL / K(r)).

ln ARL is linear in h with slope 1. A test checks this at the true design with 80-digit arithmetic of the exact W, and at a design of one
in a link-day by Markov chain (Brook and Evans 1972) and by simulation.

**Whatever the poll.** S at the polls is X minus its minimum over the polls so far; the continuous one is X minus its minimum over all
moments so far, which is less. So S at a poll is never above the continuous S there, and no poll, gap or traffic can make false alarms
more frequent than the design. Nor can the winsorising, which only lowers S.

**The design**: one false alarm in 1,000 link-years at full speed is 200e9 bit/s x 1e-12 x 3.156e7 s x 1000 = 6.3e9 expected errors.
The bank alarms no more often than the sum of its members, so each gets a share of that rate. Ratios and shares are ours: they
make the worst mean delay, over true rates of 1.5 to 10,000 times the limit, at most 1.1 times that of the one CUSUM which knows the
true rate, or one poll more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

RATIOS = (1.56, 2.09, 2.92, 4.58, 7.14, 24.0)
SHARES = (0.29, 0.205, 0.23, 0.13, 0.11, 0.035)  # of the false alarm rate
YEAR = 365.25 * 86400.0  # seconds
MOST_OF_ONE_POLL = 0.6  # of h: what one poll may add, so that it takes two of them to alarm (ours)

Sums = tuple[float, ...]  # S of each member


class Member(NamedTuple):
    """One alternative: `gain` for an error, `loss` for each expected one, alarm at `height`."""

    gain: float
    loss: float
    height: float


Bank = tuple[Member, ...]


def find_height(ratio: float, run_length: float) -> float:
    """The h at which a CUSUM for `ratio` times the limit has this mean run length, in expected errors (see the module)."""
    drain = (ratio - 1.0) / math.log(ratio)
    constant = (ratio - drain) / ((drain - 1.0) ** 2 * math.log(ratio))
    return max(math.log(ratio), math.log(run_length / constant))


def count_expected(limit: float, speed: float, years: float) -> float:
    """Errors that a link of `speed` Gb/s, always at the limit, makes in so many years."""
    return limit * speed * 1e9 * YEAR * years


@lru_cache(maxsize=64)
def design(run_length: float, ratios: Sequence[float] = RATIOS, shares: Sequence[float] = SHARES) -> Bank:
    """The bank whose false alarms are `run_length` expected errors apart, or more."""
    heights = [find_height(ratio, run_length / share) for ratio, share in zip(ratios, shares, strict=True)]
    return tuple(Member(math.log(ratio), ratio - 1.0, height) for ratio, height in zip(ratios, heights, strict=True))


def advance(sums: Sums, bank: Bank, errors: float, expected: float, most: float = MOST_OF_ONE_POLL) -> Sums:
    """The sums after a poll that found so many errors where so many were expected; `most` = share of h that it may add."""
    old = sums if len(sums) == len(bank) else (0.0,) * len(bank)
    steps = ((before, one, errors * one.gain - expected * one.loss) for before, one in zip(old, bank, strict=True))
    return tuple([max(0.0, before + min(step, most * one.height)) for before, one, step in steps])


def is_over(sums: Sums, bank: Bank) -> bool:
    """Whether one of them alarms."""
    return any(total >= one.height for total, one in zip(sums, bank, strict=False))
