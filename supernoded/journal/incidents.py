"""Sentences about incidents."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, Row, Select, bindparam, select, update

from supernoded.journal.leases import check_epoch, is_fenced
from supernoded.journal.rows import Cell, Question, Sentence, clean, clean_row, insert
from supernoded.journal.tables import incidents
from supernoded.model import NODE, Incident, Severity

_OPEN = (incidents.c.origin == "") & incidents.c.closed.is_(None)
_BY_ID = select(incidents).where(incidents.c.id == bindparam("id"))
_SAME = select(incidents).where(
    _OPEN,
    incidents.c.scope == bindparam("scope"),
    incidents.c.kind == bindparam("kind"),
    incidents.c.subject == bindparam("subject"),
)
_INSERT = insert(incidents)


def to_row(incident: Incident, origin: str = "") -> dict[str, Cell]:
    """An incident as a row."""
    return clean_row(
        id=incident.id,
        origin=origin,
        kind=incident.kind,
        subject=incident.subject,
        scope=incident.scope,
        opened=incident.opened,
        closed=incident.closed,
        severity=incident.severity.value,
        text=incident.text,
        merged_into=incident.merged_into,
    ) | {"members": _members_text(incident.members)}


def _members_text(members: Sequence[str]) -> str:
    return msgspec.json.encode([clean(member) for member in members]).decode()


def from_row(row: Row[*tuple[object, ...]]) -> Incident:
    """A row as an incident. Raises msgspec.DecodeError when it is not one."""
    cells = {field: row._mapping[field] for field in Incident.__struct_fields__}
    members = msgspec.json.decode(row.members, type=tuple[str, ...])
    return msgspec.convert(cells | {"members": members}, Incident)


def _first(connection: Connection, statement: Select[*tuple[object, ...]], **values: str) -> Incident | None:
    row = connection.execute(statement, values).first()
    return None if row is None else from_row(row)


class OpenIncident(Sentence[Incident], frozen=True, kw_only=True):
    """See `open_incident`."""

    incident: Incident
    epoch: int

    @property
    def fenced(self) -> bool:
        """See `Sentence.fenced`."""
        return is_fenced(self.incident.scope, self.epoch)

    def find(self, connection: Connection) -> Incident | None:
        """This very incident, or the open one of the same trouble."""
        new = self.incident
        return _first(connection, _BY_ID, id=new.id) or _first(connection, _SAME, scope=new.scope, kind=new.kind, subject=new.subject)

    def __call__(self, connection: Connection) -> Incident:
        """Insert it unless one is open."""
        check_epoch(connection, self.incident.scope, self.epoch, self.incident.opened)
        old = self.find(connection)
        if old is not None:
            return old
        connection.execute(_INSERT, to_row(self.incident))
        return self.incident

    def is_overtaken(self, found: Incident, earlier: Sequence[object]) -> bool:
        """Whether what is found open has been closed since."""
        return any(isinstance(said, CloseIncident) and said.id == found.id for said in earlier)

    def answer(self, earlier: Sequence[object]) -> Incident:
        """The one that was spilled open for the same trouble, else this."""
        closed = {said.id for said in earlier if isinstance(said, CloseIncident)}
        trouble = (self.incident.scope, self.incident.kind, self.incident.subject)
        for said in earlier:
            if isinstance(said, OpenIncident) and said.incident.id not in closed:
                old = said.incident
                if (old.scope, old.kind, old.subject) == trouble:
                    return old
        return self.incident


class _Change(Sentence[None], frozen=True, kw_only=True):
    """A change to one incident."""

    id: str
    at: float
    scope: str
    epoch: int

    @property
    def fenced(self) -> bool:
        """See `Sentence.fenced`."""
        return is_fenced(self.scope, self.epoch)

    def answer(self, earlier: Sequence[object]) -> None:
        """There is nothing to answer."""

    def change(self, connection: Connection, **values: Cell) -> None:
        """Set cells of the incident while it is open."""
        check_epoch(connection, self.scope, self.epoch, self.at)
        connection.execute(update(incidents).where(incidents.c.id == self.id, incidents.c.closed.is_(None)).values(**values))


class CloseIncident(_Change, frozen=True, kw_only=True):
    """See `close_incident` and `merge_incident`."""

    into: str = ""

    def __call__(self, connection: Connection) -> None:
        """Close it."""
        self.change(connection, closed=self.at, merged_into=self.into)


class WidenIncident(_Change, frozen=True, kw_only=True):
    """See `widen_incident`."""

    members: tuple[str, ...]
    severity: Severity
    text: str

    def __call__(self, connection: Connection) -> None:
        """Set what has grown."""
        self.change(connection, members=_members_text(self.members), severity=self.severity.value, text=clean(self.text))


def open_incident(incident: Incident, epoch: int) -> OpenIncident:
    """Open an incident; the answer is the one that is open already for its scope, kind and subject, if there is one."""
    return OpenIncident(incident=incident, epoch=epoch)


def close_incident(id_: str, at: float, scope: str, epoch: int) -> CloseIncident:
    """Close an incident; closing a closed one changes nothing."""
    return CloseIncident(id=id_, at=at, scope=scope, epoch=epoch)


def merge_incident(id_: str, into: str, at: float, scope: str, epoch: int) -> CloseIncident:
    """Close an incident because the one of the shared thing, `into`, has taken it over."""
    return CloseIncident(id=id_, at=at, scope=scope, epoch=epoch, into=into)


def widen_incident(incident: Incident, at: float, epoch: int) -> WidenIncident:
    """Set members, text and severity of an open incident of a shared thing to what they are now."""
    return WidenIncident(
        id=incident.id,
        at=at,
        scope=incident.scope,
        epoch=epoch,
        members=incident.members,
        severity=incident.severity,
        text=incident.text,
    )


def open_incidents(scope: str = NODE) -> Question[list[Incident]]:
    """The open incidents of a scope, oldest first."""
    statement = select(incidents).where(_OPEN, incidents.c.scope == scope).order_by(incidents.c.opened, incidents.c.id)

    def overlay(found: list[Incident], spilled: Sequence[object]) -> list[Incident]:
        standing = {incident.id: incident for incident in found}
        for said in spilled:
            match said:
                case OpenIncident(incident=incident) if incident.scope == scope:
                    standing.setdefault(incident.id, incident)
                case CloseIncident(id=id_):
                    standing.pop(id_, None)
                case WidenIncident(id=id_) if id_ in standing:
                    news = {"members": said.members, "severity": said.severity, "text": said.text}
                    standing[id_] = msgspec.structs.replace(standing[id_], **news)
        return list(standing.values())

    return Question(lambda connection: [from_row(row) for row in connection.execute(statement)], overlay)
