"""Indexes over some rows only. They name both dialects, and importing PostgreSQL's takes long, so nothing but
migrations (and what compares them with the tables) imports this.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Index

from manyhands.store.tables import call_ended, call_without_success, channels, metadata, tool_calls

__all__ = ["metadata"]


def _index(name: str, *columns: ColumnElement[Any], where: ColumnElement[bool], unique: bool = False) -> None:
    Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


_index(
    "uq_channels_directory",
    channels.c.dir_path,
    channels.c.platform,
    unique=True,
    where=channels.c.parent_id.is_(None),
)

# Somebody waits while the row of a call is written: each index less is a page less.
calls = tool_calls.c
_index("ix_tool_calls_run_id_id", calls.run_id, calls.id, where=calls.run_id.is_not(None))
_index("ix_tool_calls_channel_id_id", calls.channel_id, calls.id, where=calls.channel_id.is_not(None))
_index("ix_tool_calls_status_id", calls.status, calls.id, where=call_without_success)
# Holds all that statistics need, so that they never read rows with long results.
_index(
    "ix_tool_calls_at_measured",
    calls.at,
    calls.server,
    calls.status,
    calls.duration_ms,
    where=call_ended,
)
