"""What air alone cools: optics, NIC, regulators, memory, each with its limit. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from supernoded.plugin import View
from supernoded_thermal.node.looking import find_last, find_latest, list_below, list_numbers, measure_rise, say_why
from supernoded_thermal.node.settings import NodeSettings

OPTIC, OPTIC_LIMIT, PRESENT = "link.temperature", "link.temperature.high", "link.present"
HOST, HOST_LIMIT = "host.temperature", "host.temperature.high"
WINDOW = 120.0  # s (ours)
WATCHES: Mapping[str, float] = dict.fromkeys((OPTIC, OPTIC_LIMIT, PRESENT, HOST, HOST_LIMIT), WINDOW)

FAR = 20.0  # K below a limit, where nobody asks how fast it rises (ours)
COLDEST = 2.0  # C, at and below which nothing in a working node is (ours)
LEAST_LIMIT = 40.0  # C; a part that tells a lower limit tells none (ours)
# In the names of sensors.
REGULATOR = "vrm"
MODULES = ("optic", "sfp", "xcvr")


class Part(msgspec.Struct, frozen=True):
    """One part. `celsius` None = not known now, and `note` says why."""

    subject: str
    celsius: float | None
    limit: float
    is_optic: bool
    note: str = ""
    rise: float = 0.0  # K/s
    is_held: bool = False  # it is not fresh

    @property
    def room(self) -> float | None:
        """K to its limit."""
        return None if self.celsius is None else self.limit - self.celsius


def list_parts(seen: View, node: str, settings: NodeSettings) -> Iterator[Part]:
    """All that are or were read."""
    for subject in list_below(seen, OPTIC, node):
        if seen.number(PRESENT, subject) != 0.0:  # a cage without a module is nothing that gets hot
            limit = min(_find_limit(seen, OPTIC_LIMIT, subject) or settings.optic_c, settings.optic_c)
            yield _read(seen, OPTIC, subject, limit, settings.hold_s, is_optic=True)
    for subject in list_below(seen, HOST, node):
        name, told = subject.lower(), _find_limit(seen, HOST_LIMIT, subject)
        is_optic = any(word in name for word in MODULES)
        ours = settings.optic_c if is_optic else settings.regulator_c if REGULATOR in name else settings.part_c
        most = settings.optic_c if is_optic else settings.regulator_c
        yield _read(seen, HOST, subject, ours if told is None else min(told, most), settings.hold_s, is_optic)


def _find_limit(seen: View, quantity: str, subject: str) -> float | None:
    """The least that any source tells. A limit is a constant: one that is not read now still holds."""
    told = (find_latest(seen, quantity, subject, WINDOW, source) for source in seen.sources(quantity, subject))
    return min((look[1] for look in told if look is not None and look[1] >= LEAST_LIMIT), default=None)


def _read(seen: View, quantity: str, subject: str, limit: float, hold: float, is_optic: bool) -> Part:
    last = find_last(seen, quantity, subject, hold)
    if last is None:
        return Part(subject, None, limit, is_optic, say_why(seen, quantity, subject))
    if last.value <= COLDEST:
        return Part(subject, None, limit, is_optic, f"{subject} shows {last.value:g} C, as broken sensors do")
    is_near = limit - last.value <= FAR
    rise = measure_rise(list_numbers(seen, quantity, subject, seen.now - WINDOW)) if is_near else 0.0
    return Part(subject, last.value, limit, is_optic, "", rise, last.held)
