"""Sentences about the outbox: messages that wait for the broker, kept in order, bounded, each id once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import Connection, delete, func, select

from supernoded.journal.rows import Question, insert
from supernoded.journal.tables import outbox

_PUT = insert(outbox).on_conflict_do_nothing(index_elements=["id"]).returning(outbox.c.number)


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """A message that waits. `expiry` is in whole seconds, 0 = never; `critical` ones are the last to go when there is no room."""

    id: str
    topic: str
    payload: bytes
    at: float
    retain: bool = False
    expiry: int = 0
    critical: bool = False


def put_message(letter: Letter) -> Callable[[Connection], bool]:
    """Put a message at the end; False when its id waits already."""
    row = msgspec.structs.asdict(letter)
    return lambda connection: connection.execute(_PUT, row).scalar() is not None


def next_messages(most: int) -> Question[list[Letter]]:
    """The oldest messages, in order."""
    columns = [outbox.c[name] for name in Letter.__struct_fields__]
    statement = select(*columns).order_by(outbox.c.number).limit(most)
    return Question(lambda connection: [Letter(**row) for row in connection.execute(statement).mappings()])


def delete_messages(ids: Sequence[str]) -> Callable[[Connection], int]:
    """Take delivered messages out; how many were there."""
    statement = delete(outbox).where(outbox.c.id.in_(list(ids)))
    return lambda connection: connection.execute(statement).rowcount


def count_messages() -> Question[int]:
    """How many wait."""
    return Question(lambda connection: connection.execute(select(func.count()).select_from(outbox)).scalar_one())


def trim_messages(most: int) -> Callable[[Connection], int]:
    """Drop the oldest that are not critical, then the oldest critical ones, until `most` are left; how many went."""

    def work(connection: Connection) -> int:
        surplus = connection.execute(select(func.count()).select_from(outbox)).scalar_one() - most
        if surplus <= 0:
            return 0
        doomed = select(outbox.c.number).order_by(outbox.c.critical, outbox.c.number).limit(surplus)
        return connection.execute(delete(outbox).where(outbox.c.number.in_(doomed))).rowcount

    return work
