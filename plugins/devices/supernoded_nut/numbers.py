"""Values as drivers write them: numbers, what stands in the place of one that is not known, and texts. Pure; never raises for a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from supernoded.plugin import quote

# What registers hold that were never filled: all ones of 16 and 32 bits, the ends of signed ones.
SENTINELS = frozenset({-1.0, -128.0, 32767.0, -32768.0, 65535.0, 2147483647.0, -2147483648.0, 4294967295.0})
FULL_BYTE = 255.0  # the same of a byte, which only a share is kept in
NOTHING = frozenset({"", "-", "--", "?", "n/a", "na", "nan", "none", "null", "unknown", "not available", "not supported"})
LONGEST_TEXT = 200  # characters that are kept of a model or serial number
PHASES = ("L1", "L2", "L3")
_NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})", re.ASCII)

Variables = Mapping[str, str]


class Number(NamedTuple):
    """A number, or None and why there is none."""

    value: float | None
    note: str = ""


class Range(NamedTuple):
    """What is plausible."""

    low: float
    high: float
    unit: str


def read_number(variables: Variables, name: str, within: Range) -> Number:
    """The number of one variable, which must be there."""
    text = variables[name].strip()
    if text.lower() in NOTHING:
        return Number(None, f"{name} is {quote(text)}")
    if not _NUMBER.fullmatch(text):
        return Number(None, f"{name} is {quote(text)}, no number")
    value = float(text)
    if value in SENTINELS or (value == FULL_BYTE and within.unit == "%"):
        return Number(None, f"{name} is {text}, which stands for what is not known")
    if not within.low <= value <= within.high:
        return Number(None, f"{name} is {quote(text)}, outside {within.low:g} to {within.high:g} {within.unit}")
    return Number(value)


def read_first(variables: Variables, names: Iterable[str], within: Range) -> Number | None:
    """The first that is known; else why the first that is there is not; None when none is there."""
    return choose(*(read_number(variables, name, within) for name in names if name in variables))


def choose(*numbers: Number | None) -> Number | None:
    """The first that is known; else the first that is there."""
    found = [number for number in numbers if number is not None]
    return next((number for number in found if number.value is not None), found[0] if found else None)


def read_phases(variables: Variables, patterns: Iterable[str], within: Range, most: int = 3) -> dict[str, Number]:
    """By phase, of those that are there; a pattern has `{}` in the place of the phase."""
    tried = {phase: read_first(variables, [pattern.format(phase) for pattern in patterns], within) for phase in PHASES[:most]}
    return {phase: number for phase, number in tried.items() if number is not None}


def count_phases(variables: Variables, side: str) -> int:
    """How many phases a side (`input`, `output`) says that it has; 3 when it does not tell."""
    number = read_first(variables, [f"{side}.phases"], Range(1, 3, ""))
    return 3 if number is None or number.value is None else int(number.value)


def read_text(variables: Variables, names: Iterable[str]) -> tuple[str | None, str] | None:
    """The first text that says something; None and why when those that are there do not; None when none is there."""
    found = [(name, " ".join(variables[name].split())[:LONGEST_TEXT]) for name in names if name in variables]
    told = next((text for _, text in found if text.lower() not in NOTHING), None)
    if told is not None:
        return told, ""
    return (None, f"{found[0][0]} is {quote(found[0][1])}") if found else None
