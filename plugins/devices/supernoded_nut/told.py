"""What a device told, as quantities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from supernoded.plugin import Reading, Value, make_reading
from supernoded_nut.numbers import Number, Range, Variables, read_first, read_text


class Told(NamedTuple):
    """One quantity. Without a value it is not known, and `note` is why."""

    quantity: str
    value: Value
    unit: str
    note: str = ""
    below: str = ""  # what of the device: `/outlet7`


class Field(NamedTuple):
    """A quantity and the variables that may hold it, the best first."""

    quantity: str
    within: Range
    names: tuple[str, ...]


def tell(quantity: str, number: Number, unit: str, below: str = "") -> Told:
    """A number as a quantity."""
    return Told(quantity, number.value, unit, number.note, below)


def tell_fields(variables: Variables, fields: Iterable[Field], below: str = "") -> Iterator[Told]:
    """Those that are there."""
    for field in fields:
        number = read_first(variables, field.names, field.within)
        if number is not None:
            yield tell(field.quantity, number, field.within.unit, below)


def tell_texts(variables: Variables, texts: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Told]:
    """The same of texts."""
    for quantity, names in texts:
        text = read_text(variables, names)
        if text is not None:
            yield Told(quantity, text[0], "text", text[1])


def to_readings(told: Iterable[Told], subject: str, at: float) -> list[Reading]:
    """As readings of `subject` and of what is below it."""
    return [make_reading(f"{subject}{one.below}", one.quantity, one.value, one.unit, at, one.note) for one in told]
