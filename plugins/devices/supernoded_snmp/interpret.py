"""Tables of an agent to readings, by a profile. Pure; never raises for what an agent says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_snmp.asn import Oid
from supernoded_snmp.cells import SCALAR, Table, find_number, is_of_column, read_cell
from supernoded_snmp.index import fill_names, match_index
from supernoded_snmp.profile import Column, Profile
from supernoded_snmp.ups import settle_ups
from supernoded_snmp.wholes import add_wholes


def interpret(profile: Profile, columns: Sequence[Column], table: Table, subject: str, place: Oid, at: float) -> list[Reading]:
    """What these columns say of a device."""
    readings = [reading for column in columns for reading in _read_column(column, table, subject, place, at)]
    readings = add_wholes(columns, readings, subject, table)
    return settle_ups(readings, subject, at) if profile.of == "ups" else readings


def _read_column(column: Column, table: Table, subject: str, place: Oid, at: float) -> Iterator[Reading]:
    walked = table.get(column.oid)
    if walked is None:
        return
    shown = False
    for index in sorted(walked.rows):
        numbers = match_index(column.index, index, place)
        if numbers is None or not is_of_column(column, index, table):
            continue
        shown = True
        value, note = read_cell(column, index, table)
        below = fill_names(column.subject, numbers)
        told = make_reading(f"{subject}/{below}" if below else subject, fill_names(column.quantity, numbers), value, column.unit, at, note)
        yield told
    short = _find_shortage(column, table)
    if short:
        yield make_reading(subject, column.quantity, None, column.unit, at, short)
    if not shown and column.index == SCALAR and not column.only:
        yield make_reading(subject, column.quantity, None, column.unit, at, walked.more or f"the agent has no {column.oid}.0")


def _find_shortage(column: Column, table: Table) -> str:
    """Why a table that tells flags may have held more of them; empty when it is whole."""
    walked = table[column.oid]
    if column.unit != "flags" or column.index == SCALAR:
        return ""
    count = None if column.count is None else find_number(table, column.count, (0,))
    if walked.more or count is None or count <= len(walked.rows):
        return walked.more
    return f"{len(walked.rows)} rows where {count:g} are told: the table changed while it was read"
