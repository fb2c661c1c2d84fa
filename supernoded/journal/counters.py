"""Sentences about the numbers of signed commands: ours as far as they are reserved, the others' as far as they were taken."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, select

from supernoded.journal.rows import Question, clean_row, insert
from supernoded.journal.tables import counters

_RAISE = insert(counters)
_RAISE = _RAISE.on_conflict_do_update(
    index_elements=["sender"], set_={"number": _RAISE.excluded.number}, where=counters.c.number < _RAISE.excluded.number
)


def raise_counter(sender: str, number: int) -> Callable[[Connection], None]:
    """Keep the highest number of a sender; a lower one changes nothing."""
    row = clean_row(sender=sender, number=number)

    def work(connection: Connection) -> None:
        connection.execute(_RAISE, row)

    return work


def read_counters() -> Question[dict[str, int]]:
    """The highest number by sender."""
    statement = select(counters).order_by(counters.c.sender)
    return Question(lambda connection: {row.sender: int(row.number) for row in connection.execute(statement)})
