"""The readings of a digest by column: what one source has read of one quantity at one moment, which is nearly all that is told. Pure.

A reading alone takes five times the bytes of its value in a column, and a hearer that has no use for a quantity leaves the whole column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import intern

import msgspec

from supernoded.model import Reading, State, Value

LONGEST = 4000  # characters of all texts of a column: beyond that each is looked at alone (ours)


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """GOOD readings without a note, by subject."""

    quantity: str
    unit: str
    source: str
    at: float
    values: dict[str, Value]


def pack_columns(readings: Iterable[Reading]) -> tuple[tuple[Column, ...], tuple[Reading, ...]]:
    """The columns, and the rest, of which each is told alone."""
    found: dict[tuple[str, str, str, float], dict[str, Value]] = {}
    rest = list[Reading]()
    for reading in readings:
        if reading.state is State.GOOD and not reading.note and reading.value is not None:
            found.setdefault((reading.quantity, reading.unit, reading.source, reading.at), {})[reading.subject] = reading.value
        else:
            rest.append(reading)
    columns = (Column(quantity=key[0], unit=key[1], source=key[2], at=key[3], values=values) for key, values in found.items())
    return tuple(columns), tuple(rest)


def spread(column: Column, later: float) -> Iterator[Reading]:
    """Its readings, each moved by so many seconds. Names come again and again and are kept once: of a thousand nodes that is most of it."""
    quantity, unit, source, at = intern(column.quantity), intern(column.unit), intern(column.source), column.at + later
    for subject, value in column.values.items():
        kept = intern(value) if isinstance(value, str) else value
        yield Reading(subject=intern(subject), quantity=quantity, value=kept, unit=unit, at=at, source=source)


def is_plain(column: Column) -> bool:
    """Whether all its texts are such as anybody takes, by one look at all of them: thousands come in a second, and nearly all are."""
    return (whole := "".join(_list_texts(column))).isprintable() and len(whole) <= LONGEST


def _list_texts(column: Column) -> Iterator[str]:
    yield from (column.quantity, column.unit, column.source, *column.values)
    for value in column.values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, frozenset):
            yield from value
