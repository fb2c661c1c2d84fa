"""How long a UPS lasts, in three ways, of which the least counts (safety rule 10). Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from supernoded.plugin import View, find_least
from supernoded_power.reserve.spending import ENERGY, HEALTH, Spent

LEAST_POINTS = 3  # of a charge, for a slope (safety rule 10)
LONGEST_CLAIM = 86_400.0  # s
FROZEN_S = 60.0  # on battery a claim that stands still for longer is none
NOT_EMPTY = 20.0  # percent of charge, above which a claim of nothing is none


class Battery(msgspec.Struct, frozen=True):
    """What is known of a UPS's battery beforehand."""

    energy_j: float | None  # full, as last tested
    efficiency: float
    health: float  # share, where the UPS does not tell it


class Estimate(msgspec.Struct, frozen=True, order=True):
    """Seconds, and how they were found."""

    seconds: float
    text: str


def list_estimates(seen: View, ups: str, spent: Spent, battery: Battery, total_w: float) -> list[Estimate]:
    """Each way that can be gone, with the whole load of the site on this UPS."""
    return sorted((*_by_energy(seen, ups, spent, battery, total_w), *_by_charge(spent, total_w), *_by_claim(spent, total_w)))


def _by_energy(seen: View, ups: str, spent: Spent, battery: Battery, total_w: float) -> Iterator[Estimate]:
    if total_w <= 0.0:
        return
    measured = find_least(seen, ENERGY, ups)
    if measured is not None:
        yield Estimate(measured * battery.efficiency / total_w, f"{measured / 3600:.0f} Wh are measured")
    if battery.energy_j is not None and spent.watts is not None:
        told = find_least(seen, HEALTH, ups)
        share = (battery.health if told is None else told / 100.0) * (1.0 if spent.charge is None else spent.charge / 100.0)
        left = max(battery.energy_j * share - spent.joules / battery.efficiency, 0.0)
        yield Estimate(left * battery.efficiency / total_w, f"{left / 3600:.0f} of {battery.energy_j / 3600:.0f} Wh tested are left")


def _by_charge(spent: Spent, total_w: float) -> Iterator[Estimate]:
    if len(spent.points) < LEAST_POINTS:
        return
    (begin, full), (end, left) = spent.points[0], spent.points[-1]
    before, earlier = spent.points[-LEAST_POINTS]
    slopes = [(high - left) / (end - at) for at, high in ((begin, full), (before, earlier)) if end > at]
    steepest = max(slopes, default=0.0)
    if steepest > 0.0:
        yield Estimate(left / steepest * _share(spent, total_w), f"{left:.0f} % of charge fall by {60 * steepest:.1f} % a minute")


def _by_claim(spent: Spent, total_w: float) -> Iterator[Estimate]:
    claim, charge = spent.claim, spent.points[-1][1] if spent.points else None
    if claim is None or not 0.0 <= claim <= LONGEST_CLAIM or spent.at - spent.claim_since > FROZEN_S:
        return
    if claim == 0.0 and charge is not None and charge > NOT_EMPTY:
        return
    yield Estimate(claim * _share(spent, total_w), f"it claims {claim:.0f} s")


def _share(spent: Spent, total_w: float) -> float:
    """What it gives now of what it would have to give; slope and claim are made at the load that it has."""
    if spent.watts is None or total_w <= 0.0:
        return 0.5  # one of two, which share the load (P2)
    return min(spent.watts / total_w, 1.0)
