"""Indices of rows: patterns over them, such as `place.outlet.5`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from supernoded_snmp.asn import Oid

PLACE = "place"
_NAME = re.compile(r"\{(\w+)\}")


def match_index(pattern: str, index: Oid, place: Oid) -> Mapping[str, int] | None:
    """The numbers that the pattern names; None when the index is not of this pattern.

    A zero too many at the end is overlooked: some agents write table rows as if they were scalars (East).
    """
    parts = _expand(pattern, place)
    if len(index) == len(parts) + 1 and index[-1] == 0:
        index = index[:-1]
    if len(index) != len(parts):
        return None
    found: dict[str, int] = {}
    for part, number in zip(parts, index, strict=True):
        if isinstance(part, str):
            found[part] = number
        elif part != number:
            return None
    return found


def build_index(pattern: str, place: Oid, outlet: int) -> Oid:
    """The index of an outlet's row."""
    return tuple(outlet if isinstance(part, str) else part for part in _expand(pattern, place))


def fill_names(template: str, numbers: Mapping[str, int]) -> str:
    """`outlet{outlet}` with its numbers."""
    return _NAME.sub(lambda found: str(numbers.get(found[1], found[0])), template)


def find_names(*templates: str) -> set[str]:
    """The names in templates."""
    return {name for template in templates for name in _NAME.findall(template)}


def _expand(pattern: str, place: Oid) -> list[str | int]:
    parts: list[str | int] = []
    for part in pattern.split("."):
        if part == PLACE:
            parts.extend(place)
        else:
            parts.append(int(part) if part.isdecimal() else part)
    return parts
