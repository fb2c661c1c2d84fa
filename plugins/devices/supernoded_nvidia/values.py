"""What `nvidia-smi` prints for a value, as a reading: numbers with their unit, and the many words for none. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

LONGEST_NOTE, LONGEST_TEXT = 80, 200  # characters of a text that are carried
MEBI = 2.0**20

CEILINGS = frozenset({f"{2**32 - 1}", f"{2**64 - 1}"})  # where a counter of the driver's stays

# Words that stand for: this card, driver or mode has no such value.
INAPPLICABLE = frozenset({"", "-", "n/a", "not supported", "not available", "none", "disabled"})

# And words in what is no value because something is wrong.
_COMPLAINTS = ("error", "err!", "is lost", "requires reset", "permission")

_NUMBER = re.compile(r"(?P<number>[-+]?\d{1,20}(?:\.\d{1,20})?(?:e[-+]?\d{1,3})?)\s*(?P<unit>[A-Za-z%/]{0,10})", re.ASCII | re.IGNORECASE)


def strip(text: str) -> str:
    """A value without the brackets in which some views put what is no value."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def is_no_value(text: str) -> bool:
    """Whether a text stands for none."""
    word = strip(text).casefold()
    return word in INAPPLICABLE or text.strip().startswith("[") or any(complaint in word for complaint in _COMPLAINTS)


def say_missing(text: str) -> str:
    """Why there is no value: what was there instead."""
    text = strip(text)
    return f"the tool says {text[:LONGEST_NOTE]!r}" if text else "the tool leaves it blank"


def measure(text: str, unit: str) -> float | None:
    """The number in front of this unit; None for anything else."""
    found = _NUMBER.fullmatch(strip(text))
    if found is None or found["unit"].casefold() != unit.casefold():
        return None
    number = float(found["number"])
    return number if math.isfinite(number) else None


def add_up(texts: Iterable[str]) -> tuple[float | None, str]:
    """The sum of counters, those that do not apply left out; None and the reason when one cannot be read or none applies."""
    total, counted, note = 0.0, False, "the tool shows no such counter"
    for text in texts:
        number = measure(text, "")
        if strip(text) in CEILINGS:
            return None, f"saturated, cannot measure ({strip(text)} is a ceiling, or how the driver says that it does not know)"
        if number is not None and number >= 0:
            total, counted = total + number, True
        elif strip(text).casefold() in INAPPLICABLE:
            note = say_missing(text)
        else:
            return None, say_missing(text)
    return (total, "") if counted else (None, note)
