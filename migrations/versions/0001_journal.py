"""The journal's first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    *("actions", "engagements", "events", "holds", "incidents", "leases"),
    *("memories", "modes", "outbox", "readings", "rehearsals", "requests"),
)


def texts(*names: str) -> tuple[sa.Column[str], ...]:
    return tuple(sa.Column(name, sa.String(), nullable=False) for name in names)


def times(*names: str, nullable: bool = False) -> tuple[sa.Column[float], ...]:
    return tuple(sa.Column(name, sa.Double(), nullable=nullable) for name in names)


def key(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.String(), primary_key=True)


def number(name: str = "id") -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True)


def whole(*names: str) -> tuple[sa.Column[int], ...]:
    return tuple(sa.Column(name, sa.BigInteger(), nullable=False) for name in names)


def upgrade() -> None:
    create_cases()
    create_histories()
    create_states()


def create_cases() -> None:
    standing = sa.text("closed IS NULL AND origin = ''")
    op.create_table(
        "incidents",
        key(),
        *texts("origin", "kind", "subject", "scope"),
        *times("opened"),
        *times("closed", nullable=True),
        *texts("severity", "text", "members", "merged_into"),
    )
    op.create_index("incidents_opened", "incidents", ["opened"])
    op.create_index(
        "incidents_open", "incidents", ["scope", "kind", "subject"], unique=True, sqlite_where=standing, postgresql_where=standing
    )
    waiting = sa.text("result IS NULL")
    op.create_table(
        "actions",
        key(),
        *texts("origin", "incident", "step", "kind", "target", "scope"),
        *whole("epoch"),
        *times("intended", "issued", "deadline"),
        *texts("policy", "reason", "body"),
        sa.Column("result", sa.String()),
        sa.Column("outcome", sa.String()),
        *times("concluded", nullable=True),
    )
    op.create_index("actions_incident", "actions", ["incident"])
    op.create_index("actions_intended", "actions", ["intended"])
    op.create_index("actions_open", "actions", ["scope"], sqlite_where=waiting, postgresql_where=waiting)
    op.create_table("rehearsals", key(), *texts("incident", "step", "kind", "target", "scope", "policy", "reason", "body"), *times("at"))
    op.create_index("rehearsals_at", "rehearsals", ["at"])


def create_histories() -> None:
    op.create_table(
        "events",
        key(),
        *texts("origin", "kind", "subject", "scope", "text", "severity", "incident"),
        sa.Column("raised", sa.Boolean(), nullable=False),
        *times("at"),
    )
    op.create_index("events_at", "events", ["at"])
    op.create_table(
        "readings",
        number(),
        *texts("subject", "quantity", "unit", "state", "note"),
        *times("value", nullable=True),
        sa.Column("words", sa.String()),
        *times("at"),
    )
    op.create_index("readings_subject", "readings", ["subject", "quantity", "at"])
    op.create_table("requests", number(), *times("at"), *whole("uid", "pid"), *texts("verb", "detail", "answer"))
    op.create_index("requests_at", "requests", ["at"])
    op.create_table("engagements", number(), *texts("loop", "scope", "what", "text"), *times("at"))
    op.create_index("engagements_at", "engagements", ["at"])


def create_states() -> None:
    op.create_table("memories", key("scope"), key("rule"), sa.Column("memory", sa.LargeBinary(), nullable=False), *times("at"))
    op.create_table(
        "holds",
        key(),
        *texts("subject", "serial", "reason", "owner"),
        *times("placed"),
        *times("expires", "lifted", nullable=True),
        *texts("lifted_by"),
    )
    op.create_table("modes", key("policy"), *texts("mode", "set_by"), *times("at"))
    op.create_table(
        "outbox",
        number("number"),
        sa.Column("id", sa.String(), nullable=False, unique=True),
        *texts("topic"),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        *times("at"),
        sa.Column("retain", sa.Boolean(), nullable=False),
        sa.Column("expiry", sa.Integer(), nullable=False),
        sa.Column("critical", sa.Boolean(), nullable=False),
    )
    op.create_table("leases", key("role"), *texts("holder"), *whole("epoch"), *times("until"))


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
