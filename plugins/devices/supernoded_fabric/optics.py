"""A module's own measurements, whichever tool showed them, to readings: lanes, the port as a whole, and the module's limits. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Reading, make_reading

Lanes = tuple[float | None, ...]

DARK = 2e-4  # mW, and mA: twice the least light that a module tells, -40 dBm (SFF-8636, CMIS)
UNTOLD = "the module tells none"
UNITS: Mapping[str, str] = {"rx_power": "mW", "tx_power": "mW", "bias": "mA", "snr": "dB", "temperature": "C", "voltage": "V"}
WORST: Mapping[str, Callable[[Iterable[float]], float]] = {"rx_power": min, "tx_power": min, "bias": max, "snr": min}
LOSSES = ("rx-los", "tx-los", "rx-lol", "tx-lol")


class Optics(msgspec.Struct, frozen=True, kw_only=True):
    """What a module shows. Lanes count from 0."""

    lanes: Mapping[str, Lanes] = {}  # rx_power, tx_power, bias, snr
    whole: Mapping[str, float | None] = {}  # temperature, voltage
    limits: Mapping[str, tuple[float, float]] = {}  # low and high
    losses: Mapping[str, tuple[bool, ...]] = {}  # by the names of LOSSES; what is not there was not told


def list_optics(optics: Optics, subject: str, at: float) -> Iterator[Reading]:
    """Readings of the port and its lanes. A module without any measurement, as passive copper is, tells nothing."""
    if not _measures(optics):
        return
    count = max((len(lanes) for lanes in optics.lanes.values()), default=0)
    used = _find_used(optics.lanes, count)
    for name, lanes in optics.lanes.items():
        yield from _list_lanes(name, lanes, used, subject, at)
    for name, value in optics.whole.items():
        yield make_reading(subject, f"link.{name}", value, UNITS[name], at, "" if value is not None else UNTOLD)
    for name, (low, high) in optics.limits.items():
        if low < high and name != "snr":
            yield make_reading(subject, f"link.{name}.low", low, UNITS[name], at)
            yield make_reading(subject, f"link.{name}.high", high, UNITS[name], at)
    yield from _list_losses(optics.losses, used, subject, at)


def _measures(optics: Optics) -> bool:
    values = [value for lanes in optics.lanes.values() for value in lanes] + list(optics.whole.values())
    return any(value for value in values) or any(low < high for low, high in optics.limits.values())


def _find_used(lanes: Mapping[str, Lanes], count: int) -> Sequence[int]:
    """The lanes in use: one without bias, sent and received light is spare, unless all of them are like that."""

    def is_used(lane: int) -> bool:
        values = [of[lane] for name, of in lanes.items() if name != "snr" and lane < len(of)]
        return any(value is not None and value > DARK for value in values)

    return [lane for lane in range(count) if is_used(lane)] or range(count)


def _list_lanes(name: str, lanes: Lanes, used: Sequence[int], subject: str, at: float) -> Iterator[Reading]:
    known = [value for lane in used if lane < len(lanes) and (value := lanes[lane]) is not None]
    yield make_reading(subject, f"link.{name}", WORST[name](known) if known else None, UNITS[name], at, "" if known else UNTOLD)
    if len(lanes) > 1:
        for lane in used:
            value = lanes[lane] if lane < len(lanes) else None
            yield make_reading(f"{subject}/lane{lane}", f"link.{name}", value, UNITS[name], at, "" if value is not None else UNTOLD)


def _list_losses(losses: Mapping[str, tuple[bool, ...]], used: Sequence[int], subject: str, at: float) -> Iterator[Reading]:
    """Flags of the port, and of each lane where the module tells lanes apart."""
    if not losses:
        return
    losses = {
        name: lost_by * max(len(used), 1) if lost_by == (False,) else lost_by for name, lost_by in losses.items()
    }  # none = on no lane
    found = {name: [lane for lane, lost in enumerate(lost_by) if lost and (lane in used or not used)] for name, lost_by in losses.items()}
    yield make_reading(subject, "link.los", frozenset(name for name, lanes in found.items() if lanes), "flags", at)
    if max(map(len, losses.values())) > 1:
        for lane in used:
            yield make_reading(
                f"{subject}/lane{lane}", "link.los", frozenset(name for name, lanes in found.items() if lane in lanes), "flags", at
            )
