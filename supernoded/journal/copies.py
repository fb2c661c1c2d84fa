"""Sentences that copy what a node wrote in its own journal into the fleet's database. A copy may come twice and out of order."""

from __future__ import annotations

from supernoded.journal import actions as action_rows
from supernoded.journal import incidents as incident_rows
from supernoded.journal.rows import Entry, insert
from supernoded.journal.tables import actions, incidents
from supernoded.model import Action, Incident, Outcome

_INCIDENT = insert(incidents)
_COPY_INCIDENT = _INCIDENT.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _INCIDENT.excluded[name] for name in ("closed", "severity", "text", "members", "merged_into")},
    where=incidents.c.closed.is_(None),  # an old copy never reopens a closed one
)
_ACTION = insert(actions)
_COPY_ACTION = _ACTION.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _ACTION.excluded[name] for name in ("result", "outcome", "concluded")},
    where=actions.c.result.is_(None),
)


def copy_incident(incident: Incident, origin: str) -> Entry:
    """Copy an incident of the node `origin` as it stands now."""
    return Entry(_COPY_INCIDENT, [incident_rows.to_row(incident, origin)])


def copy_action(action: Action, outcome: Outcome | None, origin: str) -> Entry:
    """Copy an action of the node `origin` and, if there is one, its outcome."""
    ending = {"result": None, "outcome": None, "concluded": None} if outcome is None else action_rows.to_outcome_cells(outcome)
    return Entry(_COPY_ACTION, [action_rows.to_row(action, action.issued, origin) | ending])
