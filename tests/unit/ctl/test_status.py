from __future__ import annotations

import msgspec

from supernoded.ctl.incidents import render_incidents
from supernoded.ctl.printing import Table
from supernoded.ctl.status import render_status
from supernoded.messages import IncidentFilter, Incidents, Role
from tests.unit.admin.fake_desk import STATUS


def show_roles(*roles: Role) -> str:
    sheet = render_status(msgspec.structs.replace(STATUS, roles=roles))
    (table,) = (part for part in sheet[:1] if isinstance(part, Table))
    return next(text for title, text in table.rows if title == "roles")


def test_a_role_is_shown_with_its_epoch_and_what_is_left_of_its_lease() -> None:
    fixed = Role(name="ring/b0", epoch=0, since=0.0)
    leased = Role(name="fleet", epoch=7, since=0.0, left=8.4)
    kept = Role(name="cdu/0", epoch=3, since=0.0, left=5.0, bridging=True)
    assert show_roles(fixed, leased, kept) == (
        "ring/b0 (epoch 0), fleet (epoch 7, 8 s left), cdu/0 (epoch 3, steered on without the database, 5 s left)"
    )
    assert show_roles() == "none: it works for its own node only"


def test_a_journal_that_did_not_answer_is_said_below_what_the_other_knows() -> None:
    told = Incidents(now=1.0, unread="postgresql://db/site could not be read: gone")
    assert render_incidents(told, IncidentFilter())[-1] == "Not all of it: postgresql://db/site could not be read: gone"
