"""Stragglers: how much longer one rank computes than its peers, over several steps. Pure.

Ranks of a job meet in every step, so their step times are all those of the slowest; what differs is for how much of a step each is busy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from supernoded.plugin import View
from supernoded_isolation.evidence.ranks import STEP, Job
from supernoded_isolation.evidence.words import PACE, Evidence

STEP_TIME, USE = "rank.step_time", "card.utilisation"
PACE_WATCHES: Mapping[str, float] = dict.fromkeys((STEP_TIME, USE), 30.0)
LEAST = 4  # ranks, below which nobody can be said to be out of the ordinary (ours)
NORMAL = 1.4826  # median absolute deviation of a normal distribution -> its standard deviation
FLOOR = 0.02  # of the median, below which a deviation is not believed: readings are whole percents (ours)


class Pace(msgspec.Struct, frozen=True):
    """How one rank stands among its peers."""

    rank: str
    card: str
    seconds: float  # busy in each step
    z: float
    percent: float  # slower than the median
    at: float


class Slow(msgspec.Struct, frozen=True):
    """From what on a rank is a straggler."""

    z: float
    percent: float
    steps: int  # over which it is one

    def is_slow(self, pace: Pace) -> bool:
        """Whether it is, just now."""
        return pace.z >= self.z and pace.percent >= self.percent


def measure_pace(seen: View, job: Job) -> tuple[tuple[Pace, ...], str]:
    """Each rank of a job that steps; or none, and why it cannot be told."""
    if any(rank.state != "running" for rank in job.ranks) or len(job.ranks) < LEAST:
        return (), f"{job.subject} does not step with all of at least {LEAST} ranks"
    times = [seen.number(STEP_TIME, rank.subject) for rank in job.ranks]
    uses = [seen.good(USE, rank.card) if rank.card else None for rank in job.ranks]
    if any(one is None or not isinstance(one.value, float) for one in uses) or None in times:
        return (), f"{job.subject}: how busy each card is, or how long its steps take, is not read of all, and step times alone are equal"
    busy = [(time or 0.0) * _number(use.value if use is not None else None) / 100.0 for time, use in zip(times, uses, strict=True)]
    ats = [use.at if use is not None else seen.now for use in uses]
    middle = median(busy)
    paces = (
        Pace(rank.subject, rank.card, one, z, 100.0 * (one / middle - 1.0) if middle else 0.0, at)
        for rank, one, z, at in zip(job.ranks, busy, score(busy), ats, strict=True)
    )
    return tuple(paces), ""


def tell_pace(seen: View, job: Job, card: str, began: float | None, bounds: Slow) -> tuple[float | None, Evidence | None]:
    """The step since which a rank on this card is slow, `began` when it was so before, and what that says against the card once it lasts.

    It is asked of suspects alone: to have a slow rank is evidence only beside what the machine says.
    """
    pace = next((one for one in measure_pace(seen, job)[0] if one.card == card), None)
    step = seen.number(STEP, pace.rank) if pace is not None else None
    if pace is None or step is None or not bounds.is_slow(pace):
        return None, None
    first = step if began is None else min(began, step)
    text = f"{pace.rank} is busy for {pace.percent:+.0f} % of its peers in each step, for {step - first:.0f} steps"
    return first, Evidence(PACE, pace.at, text) if step - first >= bounds.steps else None


def score(values: Sequence[float]) -> list[float]:
    """The robust z-score of each: its distance from the median in deviations that outliers do not widen."""
    middle = median(values)
    deviation = NORMAL * median(abs(value - middle) for value in values)
    spread = max(deviation, FLOOR * abs(middle))
    return [(value - middle) / spread if spread else 0.0 for value in values]


def _number(value: object) -> float:
    return value if isinstance(value, float) else 0.0
