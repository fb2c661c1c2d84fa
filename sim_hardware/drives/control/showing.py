"""What the desk answers, as JSON takes it."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from sim_hardware.drives.control.inplace import InPlace
from sim_hardware.plant.words import Happening, Value


def show_value(value: Value) -> float | str | list[str] | None:
    """Flags as a list; `nan`, `inf` and `-inf` as text, which JSON has no numbers for."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def show_fault(placed: InPlace) -> dict[str, Any]:
    """A fault in place; `until` is left out for one that stays."""
    shown = {
        "name": placed.name,
        "fault": placed.kind.kind,
        "on": placed.target,
        "with": msgspec.to_builtins(placed.parameters),
        "since": placed.since,
    }
    timed = {"until": placed.until} if placed.until < math.inf else {}
    return shown | timed | ({"trouble": placed.trouble} if placed.trouble else {})


def show_happening(number: int, news: Happening) -> dict[str, Any]:
    """Something that happened."""
    value = None if news.value is None else show_value(news.value)
    return {"number": number, "at": news.at, "kind": news.kind, "subject": news.subject, "text": news.text, "value": value}
