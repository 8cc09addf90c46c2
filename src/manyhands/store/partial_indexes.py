"""Indexes over some rows only. They name both dialects, and importing PostgreSQL's takes long, so nothing but
migrations (and what compares them with the tables) imports this.
"""

from __future__ import annotations

from sqlalchemy import Index

from manyhands.store.tables import channels, metadata

__all__ = ["metadata"]

Index(
    "uq_channels_directory",
    channels.c.dir_path,
    channels.c.platform,
    unique=True,
    sqlite_where=channels.c.parent_id.is_(None),
    postgresql_where=channels.c.parent_id.is_(None),
)
