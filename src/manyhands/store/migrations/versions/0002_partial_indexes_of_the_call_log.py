"""Partial indexes of the call log"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

PARTIAL = {
    "ix_tool_calls_run_id_id": (["run_id", "id"], "run_id IS NOT NULL"),
    "ix_tool_calls_channel_id_id": (["channel_id", "id"], "channel_id IS NOT NULL"),
    "ix_tool_calls_status_id": (["status", "id"], "status != 'success'"),
    "ix_tool_calls_at_measured": (["at", "server", "status", "duration_ms"], "status != 'pending'"),
}


def upgrade() -> None:
    for name, (columns, condition) in PARTIAL.items():
        where = sa.text(condition)
        op.drop_index(name, "tool_calls")
        op.create_index(name, "tool_calls", columns, sqlite_where=where, postgresql_where=where)
