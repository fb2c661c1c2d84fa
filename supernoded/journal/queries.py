"""Questions about what was written, answered in the house's words, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Generic, TypeVar

import msgspec
from sqlalchemy import Column, Connection, Row, Select, Table, func, literal_column, select, text

from supernoded.journal import tables
from supernoded.journal.incidents import from_row as to_incident
from supernoded.journal.rows import Question, from_body
from supernoded.messages import Deed
from supernoded.model import Action, Event, Hold, Incident, Outcome, Reading, Result, State

R = TypeVar("R")
_AnyRow = Row[*tuple[object, ...]]

MOST_LEFT_OFF = 10_000  # counting goes no further: every question is bounded


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for; empty matches everything. `subject` is a shell pattern, for the target of an action too."""

    subject: str = ""
    kind: str = ""  # of an incident, event or action; the quantity of a reading
    incident: str = ""
    policy: str = ""
    since: float | None = None
    until: float | None = None
    only_open: bool = False
    limit: int = 200


class Found(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """What was found. `left_off` more (at most 10,000 are counted) matched but are over the limit."""

    rows: tuple[R, ...]
    left_off: int = 0


def events(wanted: Filter) -> Question[Found[Event]]:
    """Events."""
    return _ask(tables.events, wanted, "at", _to_event)


def incidents(wanted: Filter) -> Question[Found[Incident]]:
    """Incidents, the last opened first."""
    return _ask(tables.incidents, wanted, "opened", to_incident)


def incident(id_: str) -> Question[Incident | None]:
    """One incident."""
    statement = select(tables.incidents).where(tables.incidents.c.id == id_)

    def work(connection: Connection) -> Incident | None:
        row = connection.execute(statement).first()
        return None if row is None else to_incident(row)

    return Question(work)


def merged_into(id_: str) -> Question[list[Incident]]:
    """The incidents that this one took over, oldest first."""
    table = tables.incidents
    statement = select(table).where(table.c.merged_into == id_).order_by(table.c.opened)
    return Question(lambda connection: [to_incident(row) for row in connection.execute(statement)])


def actions(wanted: Filter) -> Question[Found[Deed]]:
    """Actions with their outcomes, as far as there are any."""
    return _ask(tables.actions, wanted, "intended", _to_deed, subject="target", is_open="result")


def rehearsals(wanted: Filter) -> Question[Found[Deed]]:
    """What would have been done in observe mode."""
    return _ask(tables.rehearsals, wanted, "at", _to_rehearsal, subject="target")


def first_rehearsal(policy: str) -> Question[float | None]:
    """Since when there are rehearsals of a policy."""
    statement = select(func.min(tables.rehearsals.c.at)).where(tables.rehearsals.c.policy == policy)
    return Question(lambda connection: connection.execute(statement).scalar())


def holds(wanted: Filter) -> Question[Found[Hold]]:
    """All holds, with `only_open` those that were not lifted; the last placed first."""
    return _ask(tables.holds, wanted, "placed", _to_hold, is_open="lifted")


def readings(wanted: Filter) -> Question[Found[Reading]]:
    """Stored readings."""
    return _ask(tables.readings, wanted, "at", _to_reading, kind="quantity")


def verify() -> Question[list[str]]:
    """What is wrong with a SQLite database as a whole; empty when nothing is. Reads all of it."""

    def work(connection: Connection) -> list[str]:
        if connection.dialect.name != "sqlite":
            return []
        return [problem for (problem,) in connection.execute(text("PRAGMA integrity_check(20)")) if problem != "ok"]

    return Question(work)


def key_of(word: Event | Incident | Action | Hold) -> str:
    """Where a word is stored: its table and key."""
    table = {Event: tables.events, Incident: tables.incidents, Action: tables.actions, Hold: tables.holds}[type(word)]
    return f"{table.name}/{word.id}"


def _ask(
    table: Table,
    wanted: Filter,
    time: str,
    read: Callable[[_AnyRow], R],
    *,
    subject: str = "subject",
    kind: str = "kind",
    is_open: str = "closed",
) -> Question[Found[R]]:
    exact = {kind: wanted.kind, "incident": wanted.incident, "policy": wanted.policy}
    statement = _select(table, wanted, table.c[time], exact)
    if wanted.only_open and is_open in table.c:
        statement = statement.where(table.c[is_open].is_(None))
    if wanted.subject and subject in table.c:
        statement = statement.where(table.c[subject].like(_to_like(wanted.subject), escape="\\"))

    def admits(row: _AnyRow) -> bool:
        return not wanted.subject or subject not in table.c or fnmatchcase(str(row._mapping[subject]), wanted.subject)

    return Question(lambda connection: _gather(connection, statement, wanted.limit, admits, read))


def _gather(
    connection: Connection,
    statement: Select[*tuple[object, ...]],
    limit: int,
    admits: Callable[[_AnyRow], bool],
    read: Callable[[_AnyRow], R],
) -> Found[R]:
    found = [read(row) for row in _first(connection, statement, limit, admits)]
    if len(found) < limit:
        return Found(rows=tuple(found))
    rest = statement.with_only_columns(literal_column("1")).order_by(None).limit(limit + MOST_LEFT_OFF).subquery()
    matched = connection.execute(select(func.count()).select_from(rest)).scalar_one()
    return Found(rows=tuple(found), left_off=max(0, matched - limit))


def _first(
    connection: Connection, statement: Select[*tuple[object, ...]], limit: int, admits: Callable[[_AnyRow], bool]
) -> Iterator[_AnyRow]:
    count = 0
    streamed = statement.limit(limit + MOST_LEFT_OFF).execution_options(yield_per=500)
    with connection.execute(streamed) as rows:
        for row in rows:
            if count == limit:
                return
            if admits(row):
                count += 1
                yield row


def _select(table: Table, wanted: Filter, time: Column[float], exact: Mapping[str, str]) -> Select[*tuple[object, ...]]:
    statement = select(table).order_by(time.desc(), *(column.desc() for column in table.primary_key))
    for name, value in exact.items():
        if value and name in table.c:
            statement = statement.where(table.c[name] == value)
    if wanted.since is not None:
        statement = statement.where(time >= wanted.since)
    if wanted.until is not None:
        statement = statement.where(time <= wanted.until)
    return statement


def _to_like(pattern: str) -> str:
    """A LIKE pattern that matches at least what the shell pattern does; character sets are left to `fnmatchcase`."""
    if "[" in pattern:
        pattern = pattern[: pattern.index("[")] + "*"
    for special in ("\\", "%", "_"):
        pattern = pattern.replace(special, "\\" + special)
    return pattern.replace("*", "%").replace("?", "_")


def _to_event(row: _AnyRow) -> Event:
    return msgspec.convert({name: row._mapping[name] for name in Event.__struct_fields__} | {"raised": bool(row.raised)}, Event)


def _to_hold(row: _AnyRow) -> Hold:
    return msgspec.convert({name: row._mapping[name] for name in Hold.__struct_fields__}, Hold)


def _to_deed(row: _AnyRow) -> Deed:
    action = msgspec.structs.replace(from_body(row.body, Action), epoch=row.epoch)
    if row.result is None:
        return Deed(action=action)
    return Deed(action=action, outcome=Outcome(action=row.id, result=Result(row.result), text=row.outcome or "", at=row.concluded))


def _to_rehearsal(row: _AnyRow) -> Deed:
    return Deed(action=from_body(row.body, Action), rehearsed=True)


def _to_reading(row: _AnyRow) -> Reading:
    value = row.value
    if row.words is not None:
        words = msgspec.json.decode(row.words, type=str | list[str])
        value = words if isinstance(words, str) else frozenset(words)
    return Reading(
        subject=row.subject,
        quantity=row.quantity,
        value=value,
        unit=row.unit,
        at=row.at,
        state=State(row.state),
        note=row.note,
        source=row.source,
    )
