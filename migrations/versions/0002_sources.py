"""A stored reading says which sensor read it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("readings", sa.Column("source", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("readings", "source")
