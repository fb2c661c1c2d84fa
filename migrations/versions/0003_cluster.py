"""Holds say their cause and who placed them; counters of signed commands; latches that a person resets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("cause", "node"):
        op.add_column("holds", sa.Column(name, sa.String(), nullable=False, server_default=""))
    op.add_column("holds", sa.Column("told", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "counters",
        sa.Column("sender", sa.String(), primary_key=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "latches",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("latches")
    op.drop_table("counters")
    for name in ("told", "node", "cause"):
        op.drop_column("holds", name)
