"""Lines of `ipmi-sensors --comma-separated-output` as rows. Pure; a line that is none is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

LARGEST = 1_048_576  # characters of an output; a BMC has some hundreds of sensors
LONGEST_LINE = 2_000  # characters
NOTHING = frozenset({"", "n/a", "na", "unknown"})  # a field or event that says nothing

# Id, name, type, the state where it was asked for, reading, unit, events. Events have commas of their own, so the quote begins them.
_LINE = re.compile(
    r"\s*\d{1,9}\s*,(?P<name>[^,']*),(?P<type>[^,']*),(?:\s*(?:Nominal|Warning|Critical|N/A)\s*,)?"
    r"(?P<reading>[^,']*),(?P<unit>[^,']*),\s*(?P<events>'.*'|[^',]*)\s*",
    re.ASCII | re.IGNORECASE,
)
_EVENT = re.compile(r"'([^']*)'")


class Row(msgspec.Struct, frozen=True):
    """One sensor of the BMC: name and type in small letters, the rest as it is printed; no events = it tells nothing."""

    name: str
    kind: str
    reading: str
    unit: str
    events: tuple[str, ...]


def parse_rows(text: str) -> Iterator[Row]:
    """The rows of an output."""
    for line in text[:LARGEST].splitlines():
        found = _LINE.fullmatch(line) if len(line) <= LONGEST_LINE else None
        if found is not None:
            name, kind, reading, unit = (found[part].strip() for part in ("name", "type", "reading", "unit"))
            yield Row(name.casefold(), kind.casefold(), reading, unit, _list_events(found["events"]))


def _list_events(text: str) -> tuple[str, ...]:
    events = _EVENT.findall(text) if text.startswith("'") else [text]
    return tuple(event.strip() for event in events if event.strip().casefold() not in NOTHING)
