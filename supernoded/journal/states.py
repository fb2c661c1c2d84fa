"""Sentences about what must survive a restart: memories of rules, holds, modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, or_, select, update

from supernoded.journal.rows import Entry, Question, clean, clean_row, insert
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
_HOLD = insert(hold_rows).on_conflict_do_nothing()
_MODE = insert(mode_rows)
_SET_MODE = _MODE.on_conflict_do_update(index_elements=["policy"], set_={name: _MODE.excluded[name] for name in ("mode", "set_by", "at")})


def save_memories(scope: str, by_rule: Mapping[str, bytes], at: float) -> Entry:
    """Keep what rules remember, by rule kind; a snapshot that comes late never replaces a newer one."""
    return Entry(_SAVE, [{"scope": scope, "rule": rule, "memory": memory, "at": at} for rule, memory in sorted(by_rule.items())])


def memories(scope: str) -> Question[dict[str, bytes]]:
    """What the rules of a scope remembered last, by rule kind."""
    statement = select(memory_rows.c.rule, memory_rows.c.memory).where(memory_rows.c.scope == scope).order_by(memory_rows.c.rule)
    return Question(lambda connection: {row.rule: bytes(row.memory) for row in connection.execute(statement)})


def place_hold(hold: Hold) -> Callable[[Connection], None]:
    """Keep a subject out of service; placing the same hold again changes nothing."""
    row = clean_row(
        id=hold.id,
        subject=hold.subject,
        serial=hold.serial,
        reason=hold.reason,
        owner=hold.owner,
        placed=hold.placed,
        expires=hold.expires,
        lifted=None,
        lifted_by="",
    )

    def work(connection: Connection) -> None:
        connection.execute(_HOLD, row)

    return work


def lift_hold(id_: str, by: str, at: float) -> Callable[[Connection], bool]:
    """Lift a hold; False when there is none of this id that stands."""
    statement = update(hold_rows).where(hold_rows.c.id == id_, hold_rows.c.lifted.is_(None)).values(lifted=at, lifted_by=clean(by))
    return lambda connection: connection.execute(statement).rowcount == 1


def holds(now: float) -> Question[list[Hold]]:
    """The holds that stand at `now`: neither lifted nor expired, oldest first."""
    columns = [hold_rows.c[name] for name in Hold.__struct_fields__]
    standing = or_(hold_rows.c.expires.is_(None), hold_rows.c.expires > now)
    statement = select(*columns).where(hold_rows.c.lifted.is_(None), standing).order_by(hold_rows.c.placed, hold_rows.c.id)
    return Question(lambda connection: [Hold(**row) for row in connection.execute(statement).mappings()])


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
