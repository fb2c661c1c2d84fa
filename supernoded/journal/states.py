"""Sentences about what must survive a restart: memories of rules, holds, modes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlalchemy import Connection, or_, select

from supernoded.journal.rows import Entry, Question, clean_row, insert
from supernoded.journal.tables import holds as hold_rows
from supernoded.journal.tables import memories as memory_rows
from supernoded.journal.tables import modes as mode_rows
from supernoded.model import Hold, Mode, Said

LATE = 60.0  # seconds; what is kept is newer by more: then it is no late writer who comes, but the clock was set back

_MEMORY = insert(memory_rows)
_SAVE = _MEMORY.on_conflict_do_update(
    index_elements=["scope", "rule"],
    set_={"memory": _MEMORY.excluded.memory, "at": _MEMORY.excluded.at},
    where=(memory_rows.c.at <= _MEMORY.excluded.at) | (memory_rows.c.at > _MEMORY.excluded.at + LATE),
)
_HOLD = insert(hold_rows)
_KEEP_HOLD = _HOLD.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _HOLD.excluded[name] for name in Hold.__struct_fields__ if name != "id"}
    | {"told": or_(hold_rows.c.told, _HOLD.excluded.told)},
    where=hold_rows.c.lifted.is_(None) | _HOLD.excluded.lifted.is_not(None),
)
_MODE = insert(mode_rows)
_SET_MODE = _MODE.on_conflict_do_update(index_elements=["policy"], set_={name: _MODE.excluded[name] for name in ("mode", "set_by", "at")})


def save_memories(scope: str, by_rule: Mapping[str, bytes], at: float) -> Entry:
    """Keep what rules remember, by rule kind; a snapshot that comes late never replaces a newer one."""
    return Entry(_SAVE, [{"scope": scope, "rule": rule, "memory": memory, "at": at} for rule, memory in sorted(by_rule.items())])


def memories(scope: str) -> Question[dict[str, bytes]]:
    """What the rules of a scope remembered last, by rule kind."""
    statement = select(memory_rows.c.rule, memory_rows.c.memory).where(memory_rows.c.scope == scope).order_by(memory_rows.c.rule)
    return Question(lambda connection: {row.rule: bytes(row.memory) for row in connection.execute(statement)})


def keep_holds(known: Iterable[tuple[Hold, bool]]) -> Entry:
    """Keep holds as they are known now, each with whether this node tells it; one that is lifted stays so, whatever comes later."""
    names = Hold.__struct_fields__
    return Entry(_KEEP_HOLD, [clean_row(**{name: getattr(hold, name) for name in names}) | {"told": told} for hold, told in known])


def holds(lifted_since: float) -> Question[list[tuple[Hold, bool]]]:
    """The holds that were not lifted, and those that were since then, oldest first; of each whether this node tells it."""
    columns = [hold_rows.c[name] for name in (*Hold.__struct_fields__, "told")]
    young = or_(hold_rows.c.lifted.is_(None), hold_rows.c.lifted >= lifted_since)
    statement = select(*columns).where(young).order_by(hold_rows.c.placed, hold_rows.c.id)

    def work(connection: Connection) -> list[tuple[Hold, bool]]:
        rows = (dict(row) for row in connection.execute(statement).mappings())
        return [(Hold(**{name: row[name] for name in Hold.__struct_fields__}), bool(row["told"])) for row in rows]

    return Question(work)


def set_mode(policy: str, mode: Mode, by: str, at: float) -> Callable[[Connection], None]:
    """Set how far a policy may go."""
    row = clean_row(policy=policy, mode=mode.value, set_by=by, at=at)

    def work(connection: Connection) -> None:
        connection.execute(_SET_MODE, row)

    return work


def modes() -> Question[list[Said]]:
    """What operators said of each policy, sorted by policy."""
    statement = select(mode_rows).order_by(mode_rows.c.policy)
    return Question(
        lambda connection: [Said(policy=row.policy, mode=Mode(row.mode), by=row.set_by, at=row.at) for row in connection.execute(statement)]
    )
