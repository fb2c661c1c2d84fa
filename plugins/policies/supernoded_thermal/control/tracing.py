"""What the course of a commissioning says beside its points: delay and lag of the racks, age of the registers, play of the valve. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from supernoded_thermal.control.fitting import Response, fit_supply

LEAST_SECONDS = 120
LEAST_SWING = 1.0  # K that the supply must have moved by
EXPLAINED = 0.97  # of the variance of the return, below which its delay is not believed
DELAYS, FINE = tuple(float(s) for s in (*range(2, 30, 3), *range(30, 122, 6))), tuple(float(s) for s in range(-4, 5))
LAGS, NEAR = (4.0, 8.0, 12.0, 16.0, 24.0), (0.7, 0.85, 1.0, 1.2, 1.4)
OFTEN = 3  # times that two renewals must be so near, to be no chance
RESTED = 5  # s that a valve must have stood
MOST_NEGATIVE = -0.05  # weight of a column, that is still noise


class Trace(msgspec.Struct, frozen=True, kw_only=True, rename={"returned": "return"}):
    """The valve's steps second by second, under a steady load: where it was told to be and was, %, and what came of it, C."""

    told: tuple[float, ...]
    valve: tuple[float, ...]
    supply: tuple[float, ...]
    returned: tuple[float, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every second has everything."""
        return len({len(self.told), len(self.valve), len(self.supply), len(self.returned)}) == 1


def find_response(trace: Trace) -> Response | None:
    """How the return answers the supply; None when too little moved, or nothing explains it."""
    if len(trace.supply) < LEAST_SECONDS or max(trace.supply) - min(trace.supply) < LEAST_SWING:
        return None
    rough = _fit(trace.supply[::2], trace.returned[::2], 2.0, DELAYS, LAGS)
    if rough is None:
        return None
    delays = [rough.delay + more for more in FINE if rough.delay + more >= 0.0]
    best = _fit(trace.supply, trace.returned, 1.0, delays, [rough.lag * times for times in NEAR])
    return best if best is not None and best.explained > EXPLAINED else None


def _fit(
    supply: Sequence[float], returned: Sequence[float], seconds: float, delays: Sequence[float], lags: Sequence[float]
) -> Response | None:
    """The best one that is physical: no part of the coolant comes back colder for a warmer supply."""
    return max(
        (one for one in fit_supply(supply, returned, seconds, delays, lags) if min(one.weights[1:]) > MOST_NEGATIVE),
        key=lambda one: one.explained,
        default=None,
    )


def find_refresh(trace: Trace) -> float:
    """Seconds between two renewals of the temperatures' registers; 0 where it is no more than one."""
    gaps = sorted(gap for values in (trace.supply, trace.returned) for gap in _list_gaps(values))
    for gap in gaps:
        if sum(1 for other in gaps if other == gap) >= OFTEN:
            return float(gap) if gap > 1 else 0.0
    return 0.0


def _list_gaps(values: Sequence[float]) -> list[int]:
    """Seconds between one change and the next."""
    changes = [second for second in range(1, len(values)) if values[second] != values[second - 1]]
    return [after - before for before, after in pairwise(changes)]


def find_play(trace: Trace) -> float:
    """The most, %, that the valve stood off what it had been told, once it stood."""
    gaps = [
        abs(trace.told[second] - trace.valve[second])
        for second in range(RESTED, len(trace.valve))
        if len(set(trace.told[second - RESTED : second + 1])) == 1 and len(set(trace.valve[second - RESTED : second + 1])) == 1
    ]
    return max(gaps, default=0.0)
