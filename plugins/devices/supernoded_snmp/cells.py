"""One cell of a table to a value: words, flags, texts and numbers, whatever ASN.1 type the agent chose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from supernoded.plugin import Value, quote
from supernoded_snmp.asn import MISSING, NUMBERS, Asn, Oid, parse_oid, show_text
from supernoded_snmp.manager import Walked
from supernoded_snmp.profile import Column

DUE = frozenset({"integer", "gauge", "counter", "counter64"})  # types in which a number is no surprise
MOST_DIGITS = 9
SCALAR = "0"

Table = Mapping[str, Walked]  # by the column's name, dotted


class Number(NamedTuple):
    """A number, or None; and what is to be said of it."""

    value: float | None
    note: str = ""


class Cell(NamedTuple):
    """A value, or None; and what is to be said of it."""

    value: Value
    note: str = ""


def read_cell(column: Column, index: Oid, table: Table) -> Cell:
    """The value of a row that is there."""
    asn = table[column.oid].rows[index]
    if asn.kind in MISSING:
        return Cell(None, "the agent has no value for it")
    if asn.kind == "error":
        return Cell(None, f"the agent answers {show_text(asn.value) if isinstance(asn.value, bytes) else asn.value}")
    for reference, wanted in column.alive.items():
        number = find_number(table, reference, index)
        if number != wanted:
            return Cell(None, f"told as not there: {reference} is {number}, with {asn.value!s:.20}")
    if column.unit == "text":
        return _read_word(column, asn) if column.words else _read_text(asn)
    if column.unit == "flags":
        return _read_flags(column, asn)
    return _read_number(column, index, asn, table)


def find_number(table: Table, reference: str, index: Oid) -> float | None:
    """What another column says of the same row."""
    walked = table.get(reference)
    asn = None if walked is None else walked.rows.get(index)
    return None if asn is None else take_number(asn).value


def take_number(asn: Asn) -> Number:
    """A number of whatever type, with a word on a type that was not due."""
    if asn.kind in NUMBERS and isinstance(asn.value, int):
        return Number(float(asn.value), "" if asn.kind in DUE else f"told as {asn.kind}, taken as a number")
    if asn.kind == "text" and isinstance(asn.value, bytes):
        try:
            number = float(show_text(asn.value))
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return Number(number, "told as a text, taken as a number")
    return Number(None, f"told as {asn.kind} {show_value(asn)}, no number")


def show_value(asn: Asn) -> str:
    """For a note."""
    return quote(show_text(asn.value)[:20]) if isinstance(asn.value, bytes) else f"{asn.value!s:.20}"


def _read_word(column: Column, asn: Asn) -> Cell:
    number, note = take_number(asn)
    word = None if number is None else column.words.get(int(number))
    return Cell(word, note) if word else Cell(None, f"{show_value(asn)} is no state that this column has")


def _read_text(asn: Asn) -> Cell:
    if asn.kind != "text" or not isinstance(asn.value, bytes):
        return Cell(None, f"told as {asn.kind}, no text")
    text = show_text(asn.value)
    return Cell(text) if text else Cell(None, "an empty text")


def _read_flags(column: Column, asn: Asn) -> Cell:
    """Of a name its last number counts, where it is one of those below `base`."""
    if asn.kind == "oid" and isinstance(asn.value, tuple):
        known = column.base is None or asn.value[:-1] == parse_oid(column.base)
        flags = column.flags.get(asn.value[-1], column.other) if known else column.other
    else:
        number = take_number(asn).value
        flags = None if number is None else column.flags.get(int(number), column.other)
    if flags is None:
        return Cell(None, f"{show_value(asn)} says nothing of its state")
    return Cell(frozenset(flags.split()))


def _read_number(column: Column, index: Oid, asn: Asn, table: Table) -> Cell:
    number, note = take_number(asn)
    if number is None:
        return Cell(None, note)
    if number in column.unknown:
        return Cell(None, f"{number:g}, which stands for unknown")
    factor = _find_factor(column, index, table)
    if factor is None:
        return Cell(None, f"{number:g}, and its scale or factor is not known")
    value = number * column.scale * factor
    if column.fahrenheit is not None:
        scale = find_number(table, column.fahrenheit, index)
        if scale is None:
            return Cell(None, f"{value:g}, and nobody knows whether in C or F")
        value = (value - 32.0) / 1.8 if scale == 1 else value
    if not column.least <= value <= column.most:
        return Cell(None, f"{value:g} {column.unit} by this scale, which no device has: its scale is another")
    for reference, most in column.witness.items():
        if (find_number(table, reference, index) or 0.0) > most:
            return Cell(None, f"{value:g} {column.unit} by this scale, but {reference} of the same row is of another")
    return Cell(value, note)


def _find_factor(column: Column, index: Oid, table: Table) -> float | None:
    factor = 1.0
    if column.digits is not None:
        digits = find_number(table, column.digits, index)
        if digits is None or not 0 <= digits <= MOST_DIGITS:
            return None
        factor /= 10.0 ** int(digits)
    if column.times is not None:
        other = find_number(table, column.times, index)
        if other is None or other < 0:
            return None
        factor *= other
    return factor


def is_of_column(column: Column, index: Oid, table: Table) -> bool:
    """Whether a row is one of this quantity: other rows say so in other columns, or are beyond the lines that there are."""
    if any(find_number(table, reference, index) != wanted for reference, wanted in column.only.items()):
        return False
    if column.lines is None:
        return True
    lines = find_number(table, column.lines, (0,))
    return lines is None or lines < 1 or _find_line(index) <= lines


def _find_line(index: Oid) -> int:
    return index[0] if index else 0


def list_columns(columns: Iterable[Column]) -> Mapping[str, bool]:
    """Every column that must be read, once, and whether it is a scalar."""
    found: dict[str, bool] = {}
    for column in columns:
        for oid in (column.oid, *column.list_references()):
            found.setdefault(oid, column.index == SCALAR)
        found |= {scalar: True for scalar in (column.lines, column.count) if scalar is not None}
    return found
