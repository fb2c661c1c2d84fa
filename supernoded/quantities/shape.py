"""An entry of the vocabulary."""

from __future__ import annotations

import math

import msgspec


class Quantity(msgspec.Struct, frozen=True):
    """One entry of the vocabulary."""

    name: str
    unit: str
    low: float = -math.inf
    high: float = math.inf
    fastest: float = math.inf  # units per second; a faster change is a broken reading unless the next one confirms it
    counter: bool = False  # a total as the device gives it
    words: frozenset[str] | None = None  # the values a text may take; None = any text, where the unit is "text" or "flags"


def counter(name: str, unit: str = "1") -> Quantity:
    """A total as the device gives it, of at most 64 bits."""
    return Quantity(name, unit, 0.0, 2.0**64, counter=True)


def share(name: str) -> Quantity:
    """Per cent of a whole."""
    return Quantity(name, "%", 0.0, 100.0)


def text(name: str, *words: str) -> Quantity:
    """A text, which is one of `words` where any are given."""
    return Quantity(name, "text", words=frozenset(words) or None)


def celsius(name: str, low: float, high: float, fastest: float) -> Quantity:
    """A temperature; `fastest` in kelvin a second."""
    return Quantity(name, "C", low, high, fastest)
