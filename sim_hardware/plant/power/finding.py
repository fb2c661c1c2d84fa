"""What an order names, and the numbers in it."""

from __future__ import annotations

import difflib
import math

from sim_hardware.plant.power.spec import Spec
from sim_hardware.plant.words import OrderError


def find(spec: Spec, kind: str, name: str) -> int:
    """The number of `A1` or `pdu/A1`. Raises OrderError, with what is there."""
    short = name.removeprefix(kind + "/")
    number = spec.index.get(f"{kind}/{short}", -1)
    if number < 0 or "/" in short:
        raise OrderError(f"power: there is no {kind} {name!r}; {_hint(spec, kind, short)}")
    return number


def _hint(spec: Spec, kind: str, name: str) -> str:
    all_of_it = [subject.removeprefix(kind + "/") for subject, at in spec.index.items() if subject.startswith(kind + "/") and at >= 0]
    there = [one for one in all_of_it if "/" not in one]
    near = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(there[:8]) or 'none'}"


def check(what: str, value: float, low: float, high: float, unit: str) -> float:
    """The value, when it is within its limits. Raises OrderError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high or math.isinf(value):
        raise OrderError(f"power: {what} is {value!r}; give a number from {low:g} to {high:g} {unit}")
    return float(value)
