"""Phases to the value of the whole. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_snmp.cells import Table, find_number
from supernoded_snmp.profile import Column

PHASE = ".L{phase}"
_WAYS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "lowest": min,
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
}


def add_wholes(columns: Sequence[Column], readings: list[Reading], subject: str, table: Table) -> list[Reading]:
    """The readings, with the whole of each quantity that has phases; of a single line there is the whole alone."""
    for column in columns:
        if column.whole:
            quantity = column.quantity.removesuffix(PHASE)
            phases = [reading for reading in readings if reading.subject == subject and reading.quantity.startswith(f"{quantity}.L")]
            if phases:
                readings = [reading for reading in readings if reading not in phases or (column.phases and len(phases) > 1)]
                readings.append(_join(_WAYS[column.whole], quantity, phases, _find_missing(column, table, len(phases))))
    return readings


def _find_missing(column: Column, table: Table, count: int) -> str:
    """Why there may be more phases than were read; empty = these are all."""
    lines = None if column.lines is None else find_number(table, column.lines, (0,))
    if table[column.oid].more or lines is None or lines <= count:
        return table[column.oid].more
    return f"{count} of {lines:g} lines were told"


def _join(way: Callable[[Sequence[float]], float], quantity: str, phases: Sequence[Reading], missing: str) -> Reading:
    first = phases[0]
    if missing:
        return make_reading(first.subject, quantity, None, first.unit, first.at, f"not all phases are known: {missing}")
    values = [reading.value for reading in phases if isinstance(reading.value, float)]
    unknown = next((reading for reading in phases if not isinstance(reading.value, float)), None)
    if unknown is not None:
        return make_reading(first.subject, quantity, None, first.unit, first.at, f"{unknown.quantity} is unknown: {unknown.note}")
    return make_reading(first.subject, quantity, way(values), first.unit, first.at, first.note)
