"""Figures as people read them."""

from __future__ import annotations

from supernoded_link_ber.ber.exposure import Span, find_bounds
from supernoded_link_ber.ber.sources import Counter


def say_power(number: float) -> str:
    """Two digits and a power of ten."""
    return f"{number:.1e}".replace("e+", "e").replace("e-0", "e-")


def say_duration(seconds: float) -> str:
    """Seconds, or minutes from two on."""
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} min"


def say_window(window: Span, counter: Counter, limit: float, now: float, *, counted: bool) -> str:
    """Errors, bits, the rate with its 95 % interval, the limit, since when."""
    bits, since = f"{say_power(window.bits)} bits", f"in the last {say_duration(now - window.since)}"
    if not counted:
        bits += " received (the speed is not known)" if counter.on_line else " at most (speed x time, as no bits were counted)"
    low, high = (bound * counter.worth / window.bits for bound in find_bounds(window.errors))
    if window.errors < 0.5:
        return f"no {counter.name} in {bits} {since}, a BER of at most {say_power(high)} (95 %)"
    rate = window.errors * counter.worth / window.bits
    side = "above" if rate > limit else "not above"
    worth = f" of {counter.worth:g} wrong bits or more" if counter.worth > 1.0 else ""
    return (
        f"{window.errors:.0f} {counter.name}{worth} in {bits} {since}, "
        f"a BER of {say_power(rate)} ({say_power(low)} to {say_power(high)}), {side} {limit:g}"
    )


def say_crossing(crossing: tuple[float, float, float]) -> str:
    """`crosses` in words: when, with the 95 % interval."""
    _, soonest, latest = crossing
    if latest < 120.0:
        return f"in {soonest:.0f} to {latest:.0f} s"
    return f"in {soonest / 60.0:.0f} to {latest / 60.0:.0f} min" if latest < 360_000.0 else f"in {soonest / 60.0:.0f} min or more"
