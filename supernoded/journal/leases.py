"""Leases of roles, and the check that fences a holder who has lost one."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, cast, extract, func, select, update
from sqlalchemy.types import Double

from supernoded.errors import FencedError
from supernoded.journal.rows import Question, insert
from supernoded.journal.tables import leases
from supernoded.model import NODE, Lease

FIXED = 0  # the epoch of a seat that the settings fix: there is no lease to check
_FREE = ""

_SERVER_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))


def is_fenced(scope: str, epoch: int) -> bool:
    """Whether writes of this scope need a lease."""
    return scope != NODE and epoch != FIXED


def _time(connection: Connection, now: float) -> float:
    """The database's time. SQLite has none of its own that a simulation could turn: there it is the caller's `now`."""
    if connection.dialect.name == "sqlite":
        return now
    return float(connection.execute(_SERVER_TIME).scalar_one())


def check_epoch(connection: Connection, scope: str, epoch: int, now: float) -> None:
    """Raise FencedError unless `scope` is the node's own or its lease is `epoch` and has not run out.

    Part of the transaction that writes: the lease's row stays locked until it ends, so that nobody takes over in between.
    """
    if scope == NODE:
        return
    row = connection.execute(select(leases).where(leases.c.role == scope).with_for_update(read=True)).first()
    if row is None and epoch == FIXED:
        return
    if row is None or row.epoch != epoch:
        found = "has no lease in this database" if row is None else f"is at epoch {row.epoch}, held by {row.holder or 'nobody'}"
        raise FencedError(f"{scope} {found}; a write of epoch {epoch} was refused: step down")
    time = _time(connection, now)
    if row.until <= time:
        raise FencedError(f"{scope}: the lease of epoch {epoch} ran out {time - row.until:.3f} s ago; the write was refused: step down")


def take_lease(role: str, holder: str, now: float, term: float) -> Callable[[Connection], Lease | None]:
    """Take or renew a lease for `term` seconds; None while another node has it.

    Renewing keeps the epoch. Taking over raises it, and so does another life of the same node (`holder` is `node#life`).
    """

    def work(connection: Connection) -> Lease | None:
        connection.execute(insert(leases).values(role=role, holder=_FREE, epoch=FIXED, until=0.0).on_conflict_do_nothing())
        row = connection.execute(select(leases).where(leases.c.role == role).with_for_update()).one()
        time = _time(connection, now)
        renewing = row.holder == holder and row.until > time
        same_node = row.holder.partition("#")[0] == holder.partition("#")[0]
        if row.until > time and not same_node:
            return None
        lease = Lease(role=role, holder=holder, epoch=row.epoch if renewing else row.epoch + 1, until=time + term)
        changed = update(leases).where(leases.c.role == role).values(holder=holder, epoch=lease.epoch, until=lease.until)
        connection.execute(changed)
        return lease

    return work


def release_lease(role: str, holder: str, epoch: int) -> Callable[[Connection], bool]:
    """Give a lease back so that the next need not wait; the epoch stays. False when it was no longer held."""

    def work(connection: Connection) -> bool:
        mine = (leases.c.role == role) & (leases.c.holder == holder) & (leases.c.epoch == epoch)
        return connection.execute(update(leases).where(mine).values(holder=_FREE, until=0.0)).rowcount == 1

    return work


def all_leases() -> Question[list[Lease]]:
    """Every role that was ever leased here, sorted."""
    statement = select(leases).order_by(leases.c.role)
    return Question(lambda connection: [Lease(**row) for row in connection.execute(statement).mappings()])
