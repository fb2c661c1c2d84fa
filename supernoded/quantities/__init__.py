"""The vocabulary in which device plugins and policies meet: every quantity, its unit, plausible range and fastest plausible change.

A quantity of somebody's own is named `x.<vendor>.<name>`; it is carried as it comes. Any other name is a misspelling, and its
readings become UNKNOWN, which says so. Ranges are those of the thing measured, generous enough that only a broken reading falls
outside: a limit that alarms belongs in `limits.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from supernoded.model import Reading, State, Value
from supernoded.quantities.cards import CARD, JOB
from supernoded.quantities.cluster import CLUSTER
from supernoded.quantities.cooling import COOLING
from supernoded.quantities.host import HOST
from supernoded.quantities.links import LINK
from supernoded.quantities.power import POWER
from supernoded.quantities.shape import Quantity

__all__ = ["VOCABULARY", "Quantity", "as_unknown", "find_fault", "find_jump"]

FOREIGN = "x."
MOST = 1e300  # what no quantity reaches, and every float can carry
LONGEST = 4_000  # characters of a text, or flags; the journal takes as much

VOCABULARY: Mapping[str, Quantity] = MappingProxyType({q.name: q for q in (*LINK, *CARD, *JOB, *COOLING, *POWER, *HOST, *CLUSTER)})


def find_fault(reading: Reading) -> str | None:
    """Why a reading that claims to be GOOD cannot be, by the vocabulary alone; None when it can."""
    if reading.quantity.startswith(FOREIGN):
        return _find_misfit(reading.value)
    quantity = VOCABULARY.get(reading.quantity)
    if quantity is None:
        return f"{reading.quantity} is not in the vocabulary; a quantity of your own is named x.<vendor>.<name>"
    if reading.unit != quantity.unit:
        return f"unit {reading.unit!r} where {quantity.name} is in {quantity.unit!r}"
    return _find_value_fault(reading.value, quantity)


def _find_misfit(value: Value) -> str | None:
    """Why it is no value of any quantity."""
    if value is None:
        return "no value"
    if isinstance(value, int | float) and not abs(value) < MOST:  # so that NaN is one too
        return f"{value if isinstance(value, float) else 'an endless integer'} where a number is due"
    length = 0 if isinstance(value, int | float) else len(value)
    return f"a text of {length} characters or flags, at most {LONGEST} are taken" if length > LONGEST else None


def _find_value_fault(value: Value, quantity: Quantity) -> str | None:
    misfit = _find_misfit(value)
    if value is None or misfit is not None:
        return misfit
    if quantity.unit == "text":
        if not isinstance(value, str):
            return f"{value!r} where a text is due"
        return None if quantity.words is None or value in quantity.words else f"{value!r} is none of {', '.join(sorted(quantity.words))}"
    if quantity.unit == "flags":
        return None if isinstance(value, frozenset) else f"{value!r} where a set of flags is due"
    if not isinstance(value, int | float):
        return f"{value!r} where a number is due"
    if not quantity.low <= value <= quantity.high:
        return f"{value:g} {quantity.unit} is outside {quantity.low:g} to {quantity.high:g}"
    return None


def find_jump(before: Reading, reading: Reading) -> str | None:
    """Why the change from one GOOD reading to the next cannot be; None when it can."""
    quantity = VOCABULARY.get(reading.quantity)
    if quantity is None or quantity.fastest == math.inf:
        return None
    old, new, elapsed = before.value, reading.value, reading.at - before.at
    if not isinstance(old, int | float) or not isinstance(new, int | float) or elapsed <= 0:
        return None
    if abs(new - old) <= quantity.fastest * elapsed:
        return None
    return f"{old:g} to {new:g} {quantity.unit} in {elapsed:.2g} s is faster than {quantity.fastest:g} per second"


def as_unknown(reading: Reading, note: str) -> Reading:
    """The same reading as one that could not be made, and why."""
    return msgspec.structs.replace(reading, value=None, state=State.UNKNOWN, note=note)
