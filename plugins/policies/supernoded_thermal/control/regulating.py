"""PI with a bounded integral, and what keeps a hand-over without a bump."""

from __future__ import annotations

import math

import msgspec

BUMP_S = 15.0  # s in which the difference at a hand-over is let go (ours: slower than valve and exchanger, faster than the integral)


class Regulator(msgspec.Struct, frozen=True):
    """What is added for the error so far; `bump` is what a hand-over found, and fades."""

    integral: float = 0.0
    bump: float = 0.0

    def find_correction(self, error: float, gain: float) -> float:
        """What to add now, in the unit of the gain times the error's."""
        return gain * error + self.integral + self.bump


def integrate(regulator: Regulator, error: float, rate: float, seconds: float, most: float) -> Regulator:
    """The regulator after so many seconds of an error; a rate of 0 leaves the integral."""
    integral = max(-most, min(most, regulator.integral + rate * error * seconds))
    return Regulator(integral, regulator.bump * math.exp(-seconds / BUMP_S))


def take_bump(regulator: Regulator, error: float, gain: float, wanted: float) -> Regulator:
    """The regulator that corrects by `wanted` at this error."""
    return Regulator(regulator.integral, wanted - gain * error - regulator.integral)
