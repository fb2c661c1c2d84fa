"""How cold the supply may be (safety rule 18). Alarms follow the effective setpoint: ask this for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from supernoded.plugin import View
from supernoded_thermal.control.settings import ControlSettings

DEW_POINT = "air.dew_point"
MOST_FLOOR = 30.0  # C, however humid it seems: halls have dew points up to 24 C (ASHRAE class A4), and dies need their coolant (ours)
MOST_GUARD = 2.0  # K by which a setpoint is lifted for a sensor below the floor: it may be the one that is broken (ours)


class Floor(msgspec.Struct, frozen=True):
    """The lowest supply temperature, C, what it rests on, and when humidity was last known."""

    celsius: float
    note: str = ""
    known: float | None = None  # the last that was known, C
    known_at: float = 0.0


def find_dew_point(seen: View, subjects: Sequence[str]) -> float | None:
    """The highest dew point that anybody measures in the room, C; None when nobody does."""
    found = [seen.number(DEW_POINT, subject, source) for subject in subjects for source in seen.sources(DEW_POINT, subject)]
    known = [celsius for celsius in found if celsius is not None and math.isfinite(celsius)]
    return max(known) if known else None


def find_floor(seen: View, subjects: Sequence[str], before: Floor | None, settings: ControlSettings) -> Floor:
    """The floor now: dew point and margin; unknown, the last one for a while; then the commissioned one."""
    dew_point = find_dew_point(seen, subjects)
    if dew_point is not None:
        celsius = min(dew_point + settings.dew_margin_k, MOST_FLOOR)
        note = "" if celsius < MOST_FLOOR else f"dew point of {dew_point:.1f} C, as no hall has it: the floor is {MOST_FLOOR:g} C"
        return Floor(celsius, note, celsius, seen.now)
    if before is not None and before.known is not None and seen.now - before.known_at <= settings.dew_hold_s:
        return msgspec.structs.replace(before, celsius=before.known, note="dew point unknown: by the last floor")
    return Floor(settings.floor_c, f"dew point unknown: by the commissioned floor of {settings.floor_c:g} C")


def find_setpoint(floor: Floor, wanted: float) -> float:
    """The effective setpoint for a wanted one, C."""
    return max(wanted, floor.celsius)


def say_raised(floor: Floor, wanted: float) -> str:
    """That the supply is held warmer than it is wanted; empty when it is not."""
    if floor.celsius <= wanted:
        return ""
    return f"at {floor.celsius:.1f} C, not at {wanted:g}: the room's dew point allows no less"


def find_guard(warmest: float | None, coldest: float | None, floor: Floor, disagree: float) -> float:
    """K by which the setpoint is lifted, as sensors disagree and the colder is below the floor (safety rule 19)."""
    if warmest is None or coldest is None or warmest - coldest <= disagree:
        return 0.0
    return max(0.0, min(MOST_GUARD, floor.celsius - coldest))
