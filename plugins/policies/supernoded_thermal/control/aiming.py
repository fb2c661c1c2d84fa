"""What the valve is turned by at one moment: the aim, the error, and the way from a correction to a position and back."""

from __future__ import annotations

import msgspec

from supernoded_thermal.control.estimating import Estimate
from supernoded_thermal.control.exchanger import Exchanger
from supernoded_thermal.control.settings import ControlSettings

BALANCE_SHARE, PLAIN_SHARE = 0.25, 0.1  # of the rate by energy balance, which tells of what was a minute ago; the second by PI alone (ours)
SLOWER_S = 5.0  # s between two looks at the supply, in addition to one, at which gains are halved (ours)
LEAST_EFFECT = 0.02  # below which nothing is cooled, and what is made is without bounds (ours)
LEAST_HEAD = 0.5  # K that the return must be over the primary water, to be cooled by it


class Aim(msgspec.Struct, frozen=True):
    """Corrections are kelvin of aim where the exchanger is known, and per cent of stroke where it is not."""

    setpoint: float  # C
    error: float  # K by which the supply is too warm
    gain: float
    rate: float
    most: float  # that the integral may be
    exchanger: Exchanger | None  # None = by PI alone
    arriving: float = 0.0  # C
    primary: float = 0.0  # C
    flow: float = 1.0  # L/min

    def find_position(self, correction: float) -> float:
        """The valve's position, %, not yet limited."""
        if self.exchanger is None:
            return correction
        head = max(LEAST_HEAD, self.arriving - self.primary)
        return self.exchanger.find_valve((self.arriving - self.setpoint + correction) / head, self.flow)

    def find_correction(self, position: float) -> float:
        """The correction that gives this position."""
        if self.exchanger is None:
            return position
        head = max(LEAST_HEAD, self.arriving - self.primary)
        return self.exchanger.find_effect(position, self.flow) * head - self.arriving + self.setpoint


def take_aim(estimate: Estimate, setpoint: float, exchanger: Exchanger | None, settings: ControlSettings) -> Aim:
    """By what can be told now."""
    if estimate.supply is not None:
        error, share, gain = estimate.supply - setpoint, 1.0, 1.0
    elif estimate.balance is not None and estimate.is_still:
        error, share, gain = estimate.balance - setpoint, BALANCE_SHARE, 0.0
    else:
        error, share, gain = 0.0, 0.0, 0.0
    slower = 1.0 + max(0.0, estimate.every - 1.0) / SLOWER_S
    gain, share = gain / slower, share / slower
    if exchanger is None or estimate.arriving is None or estimate.primary is None or estimate.flow is None:
        share = share if gain else share * PLAIN_SHARE / BALANCE_SHARE
        return Aim(setpoint, error, settings.plain_gain * gain, settings.plain_rate * share, 100.0, None)
    return Aim(
        setpoint=setpoint,
        error=error,
        gain=settings.gain * gain,
        rate=settings.rate * share,
        most=settings.most_correction_k,
        exchanger=exchanger,
        arriving=estimate.arriving,
        primary=estimate.primary,
        flow=estimate.flow,
    )


def list_made(exchanger: Exchanger, position: float | None, estimate: Estimate) -> list[float]:
    """The supplies, C, that power and this position make of the primary water when all is steady, by no thermometer in the coolant."""
    if position is None or estimate.primary is None or estimate.flow is None:
        return []
    effect = max(LEAST_EFFECT, min(1.0, exchanger.find_effect(position, estimate.flow)))
    return [estimate.primary + rise * (1.0 - effect) / effect for rise in estimate.rises]
