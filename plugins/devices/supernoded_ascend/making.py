"""Answers of these tools as lines, rows and numbers; what could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from supernoded.plugin import Reading, make_reading, quote

LONGEST_LINE = 4_000  # characters that are looked at; no tool prints longer lines
MOST_LINES = 20_000  # of one answer; ours
LONGEST_PLACE = 7  # digits of the number of a card or of a member of a ring
NOTHING = "the tool printed nothing about it"

_PREFIX = re.compile(r"\s*\[(?:devid|device)\s*(?P<device>\d{1,5})\]", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"(?P<number>[-+]?\d{1,20}(?:\.\d{1,10})?)\s*(?P<unit>[^\s\d]{0,6})", re.ASCII)


def fail(reading: Reading, at: float, why: str) -> Reading:
    """The same thing as one that could not be read."""
    return make_reading(reading.subject, reading.quantity, None, reading.unit, at, why)


def list_lines(text: str) -> Iterator[str]:
    """The lines of an answer without `[devid N]` or `[device N]`."""
    for line in text.splitlines()[:MOST_LINES]:
        found = _PREFIX.match(line[:LONGEST_LINE]) if "[" in line else None
        yield line[found.end() if found else 0 : LONGEST_LINE]


def select_device(text: str, device: int) -> str:
    """An answer without what it says of other devices."""
    lines = text.splitlines()[:MOST_LINES]
    return "\n".join(line for line in lines if "[" not in line or (found := _PREFIX.match(line)) is None or int(found["device"]) == device)


def find_device(text: str) -> int | None:
    """The device that an answer says it is of, None when it does not."""
    return next((int(found["device"]) for line in text.splitlines()[:MOST_LINES] if (found := _PREFIX.match(line))), None)


def split_rows(lines: Iterable[str]) -> dict[str, str]:
    """`name : value` lines by name in small letters, with single spaces; the first of a name counts."""
    rows: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            rows.setdefault(" ".join(name.lower().split()), value.strip())
    return rows


def read_number(text: str | None, *units: str) -> tuple[float | None, str]:
    """The number in one of these units (any when none is named), or None and the reason."""
    if text is None:
        return None, NOTHING
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None, f"no number: {quote(text.strip())}"
    if units and found["unit"].lower() not in {unit.lower() for unit in units}:
        return None, f"not in {units[0]}: {quote(text.strip())}"
    return float(found["number"]), ""


def is_number(text: str) -> bool:
    """Whether it is the number of a card, chip or member."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_PLACE
