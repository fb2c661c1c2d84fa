"""The highest of a die's sensors, held against their median: one of 128 decides nothing (T2). Pure.

The two are often read by different tools at different times, and a die may move by 30 K in between. So a highest is held against the
medians on both sides of it; until the next one comes it is believed, unless it was voted out a look before or has jumped as no die can.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

BESIDE_S = 15.0  # s between a highest and the medians that it is held against: two periods of the slower tool (ours)
FASTEST = 4.0  # K/s of a die: more than a cold plate that loses contact at full power (ours)

Series = Sequence[tuple[float, float]]  # time and C, oldest first


class Vote(msgspec.Struct, frozen=True):
    """What is taken for the highest. `median` None = nothing was voted out, else what it stood beside."""

    celsius: float
    median: float | None = None


def vote(highest: Series, medians: Series, spread: float) -> Vote:
    """Of the newest highest, of which there is at least one; `spread` in K is what it may stand above the median."""
    at, shown = highest[-1]
    beside = [value for when, value in medians if abs(when - at) <= BESIDE_S]
    if not beside or shown <= max(beside) + spread:
        return Vote(shown)
    if any(when >= at for when, _ in medians) or _is_doubtful(highest, medians, spread):
        return Vote(max(beside) + spread, max(beside))
    return Vote(shown)


def _is_doubtful(highest: Series, medians: Series, spread: float) -> bool:
    """Whether the look before was voted out, or this one is further from it than a die can come."""
    if len(highest) < 2:
        return True
    (before, earlier), (at, shown) = highest[-2], highest[-1]
    beside = [value for when, value in medians if abs(when - before) <= BESIDE_S]
    was_out = bool(beside) and earlier > max(beside) + spread
    return was_out or shown - earlier > FASTEST * max(at - before, 0.0)
