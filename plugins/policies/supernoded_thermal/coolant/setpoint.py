"""What a unit holds, as it says, or as can be told from what was asked of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import View, find_most, is_read
from supernoded_thermal.coolant.seeing import ASKED, CONTROL, DEW, SETPOINT, list_past

LONGEST = 180.0  # s, the most of `follow_s`
WATCHES: Mapping[str, float] = {SETPOINT: LONGEST, ASKED: LONGEST, CONTROL: 60.0, DEW: LONGEST}


class Span(msgspec.Struct, frozen=True):
    """The setpoints of the last while: the supply may be at any of them, or between."""

    low: float
    high: float
    now: float


def find_setpoint(seen: View, cdu: str, usual: float, margin: float, follow_s: float) -> Span:
    """The effective setpoint; alarms follow it (safety rule 18). `usual` C is held where nothing else is told, `margin` K over dew."""
    past = [value for _, value in list_past(seen, SETPOINT, cdu, within=follow_s)]
    newest = find_most(seen, SETPOINT, cdu)
    if newest is not None:
        return Span(min((*past, newest)), max((*past, newest)), newest)
    if not is_read(seen, SETPOINT, cdu) and seen.text(CONTROL, cdu) == "setpoint":
        asked = [value for _, value in list_past(seen, ASKED, cdu, within=follow_s)] or [usual]
    else:
        asked = [usual]
    dews = [value for _, value in list_past(seen, DEW, cdu, within=follow_s)] or [-100.0]
    low, high = max(min(asked), min(dews) + margin), max(*asked, max(dews) + margin)
    return Span(low, high, max(asked[-1], dews[-1] + margin))
