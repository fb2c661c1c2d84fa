"""Sentences about actions: intents, their outcomes, and rehearsals of what is not done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
from sqlalchemy import Connection, Dialect, bindparam, select

from supernoded.journal.incidents import open_incident
from supernoded.journal.leases import check_epoch, is_fenced
from supernoded.journal.rows import Cell, Entry, Question, Sentence, clean, clean_row, fetch_text, from_body, insert, to_body
from supernoded.journal.tables import actions, rehearsals
from supernoded.model import NODE, Action, Incident, Outcome, Result

_INTENT_COLUMNS = (
    *("id", "origin", "incident", "step", "kind", "target", "scope", "epoch"),
    *("intended", "issued", "deadline", "policy", "reason", "body"),
)
_OUTCOME_COLUMNS = ("result", "outcome", "concluded")

_NEW = insert(actions)
_INTEND = _NEW.on_conflict_do_update(index_elements=["id"], set_={"epoch": _NEW.excluded.epoch}).returning(actions.c.body)
_CONCLUDE = _NEW.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _NEW.excluded[name] for name in _OUTCOME_COLUMNS},
    where=actions.c.result.is_(None),  # the first outcome stands
)
_OUTCOMES = (
    select(actions.c.id, actions.c.step, actions.c.result, actions.c.outcome, actions.c.concluded)
    .where(actions.c.incident == bindparam("wanted"), actions.c.result.is_not(None))
    .order_by(actions.c.concluded, actions.c.id)
)
_REHEARSE = insert(rehearsals).on_conflict_do_nothing()


@lru_cache(maxsize=8)
def _intend_text(dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    """The statement of the hot path as the driver takes it, and its columns in order (none: it takes them by name)."""
    compiled = _INTEND.compile(dialect=dialect, column_keys=_INTENT_COLUMNS)
    return compiled.string, tuple(compiled.positiontup or ())


def to_row(action: Action, at: float, origin: str = "") -> dict[str, Cell]:
    """An intent as a row."""
    step = action.step
    return {
        "id": clean(action.id),
        "origin": origin,
        "incident": action.incident,
        "step": clean(step.name),
        "kind": step.kind,
        "target": clean(step.target),
        "scope": action.scope,
        "epoch": action.epoch,
        "intended": at,
        "issued": action.issued,
        "deadline": action.deadline,
        "policy": action.policy,
        "reason": clean(step.reason),
        "body": to_body(action),
    }


def to_outcome_cells(outcome: Outcome) -> dict[str, Cell]:
    """The cells that conclude an intent."""
    return clean_row(result=outcome.result.value, outcome=outcome.text, concluded=outcome.at)


def renew(action: Action, epoch: int) -> Action:
    """The same action under a newer epoch."""
    return action if action.epoch == epoch else msgspec.structs.replace(action, epoch=epoch)


class Intend(Sentence[Action], frozen=True, kw_only=True):
    """See `intend`."""

    action: Action
    at: float

    @property
    def fenced(self) -> bool:
        """See `Sentence.fenced`."""
        return is_fenced(self.action.scope, self.action.epoch)

    def __call__(self, connection: Connection) -> Action:
        """Insert it, or find the old one and renew its epoch."""
        check_epoch(connection, self.action.scope, self.action.epoch, self.at)
        row = to_row(self.action, self.at)
        text, order = _intend_text(connection.dialect)
        body = fetch_text(connection, text, tuple(map(row.__getitem__, order)) if order else row)
        return self.action if body == row["body"] else renew(from_body(body, Action), self.action.epoch)

    def find(self, connection: Connection) -> Action | None:
        """The old intent of this id."""
        body = connection.execute(select(actions.c.body).where(actions.c.id == self.action.id)).scalar()
        return None if body is None else renew(from_body(body, Action), self.action.epoch)

    def answer(self, earlier: Sequence[object]) -> Action:
        """The one that was spilled under this id, else this."""
        for said in earlier:
            if isinstance(said, Intend) and said.action.id == self.action.id:
                return renew(said.action, self.action.epoch)
        return self.action


class Conclude(Sentence[None], frozen=True, kw_only=True):
    """See `conclude`."""

    action: Action
    outcome: Outcome

    @property
    def fenced(self) -> bool:
        """See `Sentence.fenced`."""
        return is_fenced(self.action.scope, self.action.epoch)

    def __call__(self, connection: Connection) -> None:
        """Fill in the outcome; an intent that was lost with a corrupt database comes back with it."""
        check_epoch(connection, self.action.scope, self.action.epoch, self.outcome.at)
        connection.execute(_CONCLUDE, to_row(self.action, self.action.issued) | to_outcome_cells(self.outcome))

    def answer(self, earlier: Sequence[object]) -> None:
        """There is nothing to answer."""


def intend(action: Action, at: float) -> Intend:
    """Make an intent durable. An older intent of this id wins with its deadline and time of issue; its epoch is renewed."""
    return Intend(action=action, at=at)


def begin(incident: Incident, epoch: int, action: Action, at: float) -> Callable[[Connection], tuple[Incident, Action | None]]:
    """Open an incident and make its first intent durable, with one wait for the disk; no intent when an older incident is open for it."""
    opening, first = open_incident(incident, epoch), intend(action, at)

    def work(connection: Connection) -> tuple[Incident, Action | None]:
        stored = opening(connection)
        return stored, first(connection) if stored.id == incident.id else None

    return work


def conclude(action: Action, outcome: Outcome) -> Conclude:
    """Record what became of an action; the first outcome stands."""
    return Conclude(action=action, outcome=outcome)


def open_intents(scope: str = NODE) -> Question[list[Action]]:
    """The intents of a scope without an outcome, oldest first."""
    statement = (
        select(actions.c.body, actions.c.epoch)
        .where(actions.c.scope == scope, actions.c.result.is_(None), actions.c.origin == "")
        .order_by(actions.c.intended, actions.c.id)
    )

    def overlay(found: list[Action], spilled: Sequence[object]) -> list[Action]:
        concluded = {said.action.id for said in spilled if isinstance(said, Conclude)}
        intended = {said.action.id: said.action for said in spilled if isinstance(said, Intend) and said.action.scope == scope}
        every = {action.id: action for action in found}
        return [action for id_, action in (intended | every).items() if id_ not in concluded]

    return Question(lambda connection: [renew(from_body(row.body, Action), row.epoch) for row in connection.execute(statement)], overlay)


def outcomes_of(incident: str) -> Question[dict[str, Outcome]]:
    """What came of an incident's steps so far, by step name, in order."""

    def work(connection: Connection) -> dict[str, Outcome]:
        rows = connection.execute(_OUTCOMES, {"wanted": incident})
        return {row.step: Outcome(action=row.id, result=Result(row.result), text=row.outcome or "", at=row.concluded) for row in rows}

    def overlay(found: dict[str, Outcome], spilled: Sequence[object]) -> dict[str, Outcome]:
        news = [said for said in spilled if isinstance(said, Conclude) and said.action.incident == incident]
        return found | {said.action.step.name: said.outcome for said in reversed(news) if said.action.step.name not in found}

    return Question(work, overlay)


def rehearse(action: Action) -> Entry:
    """Record what would be done; the same step of the same incident is recorded once."""
    row = to_row(action, action.issued)
    cells = {name: row[name] for name in ("id", "incident", "step", "kind", "target", "scope", "policy", "reason", "body")}
    return Entry(_REHEARSE, [cells | {"at": action.issued}])
