"""What a UPS has given since it is on battery, kept over restarts. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import View, find_most
from supernoded_power.mains import Feed, Mains

POWER, VA, LOAD, RATED = "ups.output_power", "ups.output_va", "ups.load", "ups.rated_va"
CHARGE, RUNTIME, ENERGY, HEALTH = "ups.charge", "ups.runtime", "ups.battery_energy", "ups.battery_health"
WATCHES: Mapping[str, float] = dict.fromkeys((POWER, VA, LOAD, RATED, CHARGE, RUNTIME, ENERGY, HEALTH), 60.0)
MOST_POINTS = 20  # of a charge that is kept: ten minutes at a look in 30 s
RECHARGE_S = 28_800.0  # on mains, after which a battery that tells no charge counts as full again; ours: 8 h to 90 % is usual


class Spent(msgspec.Struct, frozen=True):
    """Of one UPS. Times on the scale of `Clock.now`, 0 = not."""

    since: float = 0.0  # on battery
    at: float = 0.0  # of the last look
    watts: float | None = None  # at that look
    joules: float = 0.0  # given at its output since then
    charge: float | None = None  # in percent when it went on battery
    points: tuple[tuple[float, float], ...] = ()  # time and charge, each new value
    claim: float | None = None  # seconds that it says it lasts
    claim_since: float = 0.0  # since when it has said the same
    mains_since: float = 0.0


def find_watts(seen: View, ups: str, rated_va: float | None) -> float | None:
    """What it gives, in W; from volt-amperes or a share of its rating where it does not tell, which is never too little."""
    watts = find_most(seen, POWER, ups)
    if watts is not None:
        return watts
    va = find_most(seen, VA, ups)
    if va is not None:
        return va
    load, rated = find_most(seen, LOAD, ups), rated_va or find_most(seen, RATED, ups)
    return load * rated / 100.0 if load is not None and rated is not None else None


def spend(seen: View, feed: Feed, spent: Spent, rated_va: float | None) -> Spent:
    """Move on to now. Through a silence it goes on with what it last gave, and at its end with the larger of the two."""
    now = seen.now
    watts = find_watts(seen, feed.ups, rated_va)
    if feed.mains is not Mains.BATTERY and not feed.is_silent_after_battery:
        if feed.mains is not Mains.PRESENT:
            return Spent(at=now, watts=watts, joules=spent.joules)
        since = spent.mains_since or now  # nothing else of it changes at rest, so that nothing is written
        return Spent(joules=0.0 if now - since >= RECHARGE_S else spent.joules, mains_since=since)
    charge, claim = find_most(seen, CHARGE, feed.ups), find_most(seen, RUNTIME, feed.ups)
    if not spent.since:
        joules = spent.joules if charge is None else 0.0  # a charge that is told has what was spent before in it
        spent = msgspec.structs.replace(spent, since=now, at=now, joules=joules, charge=charge, points=(), mains_since=0.0)
    known = [one for one in (spent.watts, watts) if one is not None]
    return msgspec.structs.replace(
        spent,
        at=now,
        watts=spent.watts if watts is None else watts,
        joules=spent.joules + max(known, default=0.0) * max(now - spent.at, 0.0),
        points=_add_point(spent.points, now, charge),
        claim=claim,
        claim_since=spent.claim_since if claim == spent.claim and spent.claim_since else now,
    )


def imagine(seen: View, feed: Feed, spent: Spent, rated_va: float | None) -> Spent:
    """As if it went on battery now, with the charge and at the load that it has."""
    return spend(seen, msgspec.structs.replace(feed, mains=Mains.BATTERY), Spent(joules=spent.joules), rated_va)


def _add_point(points: tuple[tuple[float, float], ...], now: float, charge: float | None) -> tuple[tuple[float, float], ...]:
    if charge is None or (points and points[-1][1] == charge):
        return points
    return (*points, (now, charge))[-MOST_POINTS:]
