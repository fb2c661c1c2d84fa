"""A module's readings against the limits that it gives for itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from supernoded_link_ber.looking import Seen

MEASURED = {  # quantity -> what it is, and its unit
    "link.rx_power": ("receives", "mW"),
    "link.tx_power": ("sends", "mW"),
    "link.bias": ("draws", "mA"),
    "link.temperature": ("is at", "C"),
    "link.voltage": ("has", "V"),
}
LIMITS = tuple(f"{quantity}.{end}" for quantity in MEASURED for end in ("low", "high"))
MARGIN = 0.02  # share of the span between its limits that a value must be inside again, ours


class Breach(msgspec.Struct, frozen=True):
    """A value outside its limits."""

    name: str  # such as `lane2 link.rx_power low`, the same as long as it lasts
    text: str


def find_limits(seen: Seen, quantity: str, port: str) -> tuple[float, float] | None:
    """The module's own limits, low and high; None when it gives none that can be."""
    low, high = seen.number(f"{quantity}.low", port), seen.number(f"{quantity}.high", port)
    if low is None and high is None:
        return None
    floor, ceiling = low if low is not None else float("-inf"), high if high is not None else float("inf")
    return (floor, ceiling) if floor < ceiling else None  # a module that was not programmed says 0 and 0


def find_breaches(seen: Seen, port: str, lanes: Mapping[str, Mapping[int, str]], known: frozenset[str]) -> Iterator[Breach]:
    """Every value outside its limits, lane by lane where there are lanes; one that is `known` has to come back by a margin."""
    for quantity in MEASURED:
        limits = find_limits(seen, quantity, port)
        if limits is None:
            continue
        places = {f"lane {number}": lane for number, lane in lanes.get(quantity, {}).items()} or {"it": port}
        for place, subject in places.items():
            value = seen.number(quantity, subject)
            is_well = value is None or (not known and limits[0] <= value <= limits[1])
            breach = None if value is None or is_well else _hold(place, quantity, value, limits, known)
            if breach is not None:
                yield breach


def _hold(place: str, quantity: str, value: float, limits: tuple[float, float], known: frozenset[str]) -> Breach | None:
    (low, high), (verb, unit) = limits, MEASURED[quantity]
    span = high - low
    margin = MARGIN * span if span < float("inf") else 0.0
    for end, bound, beyond in (("low", low, low - value), ("high", high, value - high)):
        name = f"{place} {quantity} {end}"
        if beyond > 0.0:
            side = "less" if end == "low" else "more"
            return Breach(name, f"{place} {verb} {value:.4g} {unit}, {side} than the {bound:.4g} {unit} that the module sets as its limit")
        if name in known and beyond > -margin:
            return Breach(name, f"{place} {verb} {value:.4g} {unit}, hardly back from its module's limit of {bound:.4g} {unit}")
    return None
