"""Leases of roles, and the check that fences a holder who has lost one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Row, bindparam, cast, extract, func, select, update
from sqlalchemy.types import Double

from supernoded.errors import FencedError
from supernoded.journal.rows import Question, insert
from supernoded.journal.tables import leases
from supernoded.model import NODE, Lease

FIXED = 0  # the epoch of a seat that the settings fix: there is no lease to check
STAGGER = 0.5  # seconds for which a vacant role is left to each candidate that goes first (ours)
SERVER_TIME = "time"  # in `Connection.info`: what tells the time of a database that several nodes of a simulation share
_FREE = ""

_SERVER_TIME = select(cast(extract("epoch", func.clock_timestamp()), Double))
_LIST = insert(leases).on_conflict_do_nothing()
_SET = update(leases).where(leases.c.role == bindparam("of")).values(holder=bindparam("to"), epoch=bindparam("at"), until=bindparam("end"))


def is_fenced(scope: str, epoch: int) -> bool:
    """Whether writes of this scope need a lease."""
    return scope != NODE and epoch != FIXED


def _time(connection: Connection, now: float) -> float:
    """The database's time. SQLite has none of its own: there it is the caller's `now`, or the simulated site's."""
    if connection.dialect.name == "sqlite":
        tell = connection.info.get(SERVER_TIME)
        return now if tell is None else float(tell())
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


class Bid(NamedTuple):
    """A role that a node is a candidate of: the candidates `before` it, and the highest epoch that it has heard of, from whomever.

    `had` = this life of the node has had it: another life that has it now is no earlier one, but a rival of the same name. `only_look` =
    it is not to be taken now; `young` = an earlier life may have promised another node to leave it the role, though its lease has run out.
    """

    role: str
    before: tuple[str, ...] = ()
    heard: int = 0
    had: bool = False
    only_look: bool = False
    young: bool = False


class Round(NamedTuple):
    """What came of bidding: our leases, what others have, each by role, and the database's time.

    A role that somebody had locked is in neither.
    """

    ours: Mapping[str, Lease]
    others: Mapping[str, Lease]
    time: float


def bid(bids: Sequence[Bid], holder: str, now: float, term: float) -> Callable[[Connection], Round]:
    """Renew what is ours of these roles and take what is vacant, all for `term` seconds, in one transaction.

    Renewing keeps the epoch, also when it comes late and nobody was quicker. Taking over raises it, and so does another life of the same
    node (`holder` is `node#life`), and a database that knows less than was heard, such as one that was restored from an old copy.
    A candidate leaves what is vacant to each one before it for STAGGER seconds; who had the role last is not counted.

    It costs two statements, and four where something is renewed or taken, however many roles there are. No lock is waited for: a writer
    that hangs on one role's row costs nobody another role.
    """
    before = {one.role: one for one in sorted(bids)}
    wanted = select(leases).where(leases.c.role.in_(list(before))).order_by(leases.c.role)
    locking = select(leases).where(leases.c.role.in_(bindparam("due", expanding=True))).order_by(leases.c.role)

    def work(connection: Connection) -> Round:
        time = _time(connection, now)
        rows = {row.role: row for row in connection.execute(wanted)}
        if new := [role for role in before if role not in rows]:
            _list_role(connection, new, time)
        due = [role for role, one in before.items() if _is_due(one, rows.get(role), holder, time)]
        locked = connection.execute(locking.with_for_update(skip_locked=True), {"due": due}).all() if due else []
        granted = [(row, before[row.role].heard) for row in locked if _is_due(before[row.role], row, holder, time)]
        ours = _grant(connection, granted, holder, time + term)
        current = rows | {row.role: row for row in locked}
        others = {role: _to_lease(row) for role, row in current.items() if role not in ours and row.until > time}
        return Round(ours, {role: lease for role, lease in others.items() if lease.holder != holder}, time)

    return work


def _list_role(connection: Connection, roles: Sequence[str], vacant_since: float) -> None:
    rows = [{"role": role, "holder": _FREE, "epoch": FIXED, "until": vacant_since} for role in roles]
    connection.execute(_LIST, rows)


def _is_due(one: Bid, row: Row[*tuple[object, ...]] | None, holder: str, time: float) -> bool:
    """Whether it is for us to renew or to take. A role that nobody ever had is vacant from now on."""
    if one.only_look:
        return False
    last, until = ("", time) if row is None else (_node_of(row.holder), row.until)
    if row is not None and (row.holder == holder or (last == _node_of(holder) and not one.had)):
        return True
    if one.young and last not in (_FREE, _node_of(holder)):
        return False
    return bool(time >= until + STAGGER * sum(1 for node in one.before if node != last))


def _grant(connection: Connection, granted: Sequence[tuple[Row[*tuple[object, ...]], int]], holder: str, until: float) -> dict[str, Lease]:
    ours = {}
    for row, heard in granted:
        renewed = row.holder == holder and row.epoch >= heard
        ours[row.role] = Lease(role=row.role, holder=holder, epoch=row.epoch if renewed else max(row.epoch, heard) + 1, until=until)
    if ours:
        connection.execute(_SET, [{"of": one.role, "to": one.holder, "at": one.epoch, "end": one.until} for one in ours.values()])
    return ours


def _to_lease(row: Row[*tuple[object, ...]]) -> Lease:
    return Lease(role=row.role, holder=row.holder, epoch=row.epoch, until=row.until)


def _node_of(holder: str) -> str:
    return holder.partition("#")[0]


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
