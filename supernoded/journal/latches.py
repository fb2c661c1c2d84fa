"""Sentences about what a person has to reset, and what the holder of a role must know of its predecessors. Fenced by the lease."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, delete, select

from supernoded.journal.leases import check_epoch
from supernoded.journal.rows import Question, clean_row, insert
from supernoded.journal.tables import latches as latch_rows
from supernoded.journal.tables import memories as memory_rows
from supernoded.model import Latch

_LATCH = insert(latch_rows).on_conflict_do_nothing()  # it stays as it was when it latched
_MEMORY = insert(memory_rows)
_KEEP = _MEMORY.on_conflict_do_update(index_elements=["scope", "rule"], set_={"memory": _MEMORY.excluded.memory, "at": _MEMORY.excluded.at})


def set_latch(latch: Latch, scope: str, epoch: int, now: float) -> Callable[[Connection], None]:
    """Latch something; what has latched before stays as it is. The work raises FencedError."""
    row = clean_row(name=latch.name, text=latch.text, since=latch.since)

    def work(connection: Connection) -> None:
        check_epoch(connection, scope, epoch, now)
        connection.execute(_LATCH, row)

    return work


def reset_latch(name: str, scope: str, epoch: int, now: float) -> Callable[[Connection], bool]:
    """Reset it; False when it had not latched. The work raises FencedError."""

    def work(connection: Connection) -> bool:
        check_epoch(connection, scope, epoch, now)
        return connection.execute(delete(latch_rows).where(latch_rows.c.name == name)).rowcount == 1

    return work


def latches() -> Question[list[Latch]]:
    """All that has latched, sorted by name."""
    statement = select(latch_rows).order_by(latch_rows.c.name)
    return Question(lambda connection: [Latch(**row) for row in connection.execute(statement).mappings()])


def keep_memory(scope: str, epoch: int, name: str, memory: bytes, now: float) -> Callable[[Connection], None]:
    """Keep what the role must remember, whatever the clock of its last holder said. The work raises FencedError."""

    def work(connection: Connection) -> None:
        check_epoch(connection, scope, epoch, now)
        connection.execute(_KEEP, {"scope": scope, "rule": name, "memory": memory, "at": now})

    return work
