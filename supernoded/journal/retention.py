"""What the journal forgets, and when. Rows go in small chunks, so that no intent waits long behind a deletion."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, Table, delete, func, or_, select, true

from supernoded.journal import tables

DAY = 86_400.0
CHUNK = 500  # rows of one transaction: some milliseconds
READING_BYTES = 250  # of one stored reading with its index entry (a test measures it)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds, and for how many rows at most, things are kept."""

    readings: float = 7 * DAY  # design section 6
    readings_bytes: int = 1_000_000_000  # design section 6
    events: float = 90 * DAY
    events_rows: int = 1_000_000
    incidents: float = 365 * DAY  # with their actions
    rehearsals: float = 30 * DAY
    engagements: float = 30 * DAY
    requests: float = 365 * DAY
    rows: int = 200_000  # of each of the others


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of one table that go: those with `time` older than `before`, and the oldest beyond `most`."""

    table: str
    time: str
    before: float
    most: int
    below: int = 0  # the key below which the rows of a numbered table go, whatever their time


def plan(limits: Limits, now: float) -> list[Cut]:
    """What goes at `now`."""

    def cut(table: Table, time: str, age: float, most: int = limits.rows) -> Cut:
        return Cut(table=table.name, time=time, before=now - age, most=most)

    return [
        cut(tables.readings, "at", limits.readings, limits.readings_bytes // READING_BYTES),
        cut(tables.events, "at", limits.events, limits.events_rows),
        cut(tables.rehearsals, "at", limits.rehearsals),
        cut(tables.engagements, "at", limits.engagements),
        cut(tables.requests, "at", limits.requests),
        cut(tables.actions, "intended", limits.incidents),
        cut(tables.incidents, "opened", limits.incidents),
        cut(tables.holds, "lifted", limits.incidents),  # not by when they were placed: an old copy must not revive one lifted just now
        cut(tables.holds, "expires", limits.incidents),
    ]


def tighten(cut: Cut) -> Callable[[Connection], Cut]:
    """The cut with its bound on the number of rows worked out for what is in the table now."""

    def work(connection: Connection) -> Cut:
        table = tables.metadata.tables[cut.table]
        if _is_numbered(table):
            newest = connection.execute(select(func.max(table.c.id))).scalar() or 0
            return msgspec.structs.replace(cut, below=newest - cut.most + 1)
        time = table.c[cut.time]
        crowded = connection.execute(select(time).order_by(time.desc()).offset(cut.most - 1).limit(1)).scalar()
        return cut if crowded is None else msgspec.structs.replace(cut, before=max(cut.before, crowded))

    return work


def delete_chunk(cut: Cut, chunk: int = CHUNK) -> Callable[[Connection], int]:
    """Delete at most `chunk` of the rows that a cut names, oldest first; how many went. What is open or stands stays."""
    table = tables.metadata.tables[cut.table]
    key = next(iter(table.primary_key))
    doomed = _oldest_numbers(table, cut, chunk) if _is_numbered(table) else _oldest(table, cut, chunk)
    statement = delete(table).where(key.in_(doomed))
    return lambda connection: connection.execute(statement).rowcount


def _is_numbered(table: Table) -> bool:
    """Whether the rows are numbered as they come, so that the number tells their age."""
    return table in {tables.readings, tables.engagements, tables.requests}


def _oldest_numbers(table: Table, cut: Cut, chunk: int) -> Select[*tuple[object, ...]]:
    """Looks at no more than the first rows: nothing is scanned when nothing is old."""
    first = select(table.c.id, table.c[cut.time].label("time")).order_by(table.c.id).limit(chunk).subquery()
    return select(first.c.id).where(or_(first.c.time < cut.before, first.c.id < cut.below))


def _oldest(table: Table, cut: Cut, chunk: int) -> Select[*tuple[object, ...]]:
    key, time = next(iter(table.primary_key)), table.c[cut.time]
    return select(key).where(time < cut.before, _is_over(table)).order_by(time).limit(chunk)


def _is_over(table: Table) -> ColumnElement[bool]:
    """Which of the old rows may go."""
    if table is tables.incidents:
        return tables.incidents.c.closed.is_not(None)
    if table is tables.actions:  # an incident keeps the outcomes of its steps for as long as it is open
        standing = select(tables.incidents.c.id).where(tables.incidents.c.closed.is_(None))
        return tables.actions.c.result.is_not(None) & tables.actions.c.incident.not_in(standing)
    return true()
