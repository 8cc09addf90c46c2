"""The SQL of limited tokens, and of which channels belong together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, or_, select

from manyhands.access.types import Token
from manyhands.store.tables import channel_origins, channels, tokens

DEEPEST = 100
"""Threads below threads; more would be a circle."""


def insert_token(conn: Connection, token: Token) -> None:
    values = {name: getattr(token, name) for name in Token.__slots__}
    conn.execute(insert(tokens).values(values | {"flags": sorted(token.flags)}))


def find_token(conn: Connection, digest: str) -> Token | None:
    row = conn.execute(select(tokens).where(tokens.c.hash == digest)).first()
    return None if row is None else _to_token(row)


def select_tokens(conn: Connection, limit: int, cursor: str | None) -> Sequence[Token]:
    """Newest first."""
    query = select(tokens).order_by(tokens.c.id.desc()).limit(limit)
    if cursor:
        query = query.where(tokens.c.id < cursor)
    return [_to_token(row) for row in conn.execute(query)]


def delete_token(conn: Connection, token_id: str) -> int:
    return conn.execute(delete(tokens).where(tokens.c.id == token_id)).rowcount


def delete_of_channel(conn: Connection, channel_id: str) -> int:
    return conn.execute(delete(tokens).where(tokens.c.channel_id == channel_id)).rowcount


def delete_expired(conn: Connection, now: datetime) -> int:
    return conn.execute(delete(tokens).where(tokens.c.expires_at < now)).rowcount


# --- what belongs together


def insert_origin(conn: Connection, channel_id: str, origin_id: str) -> None:
    conn.execute(insert(channel_origins).values(channel_id=channel_id, origin_id=origin_id))


def find_root(conn: Connection, channel_id: str) -> tuple[str, str | None] | None:
    """The channel at the top of its project, with that project's directory; nothing when it is not there."""
    columns = select(channels.c.id, channels.c.parent_id, channels.c.dir_path, channel_origins.c.origin_id)
    joined = columns.outerjoin_from(channels, channel_origins, channel_origins.c.channel_id == channels.c.id)
    current = channel_id
    for _ in range(DEEPEST):
        row = conn.execute(joined.where(channels.c.id == current)).first()
        if row is None:
            return None
        above = row.parent_id or row.origin_id
        if above is None:
            return row.id, row.dir_path
        current = above
    return None


def select_family(conn: Connection, channel_id: str) -> frozenset[str]:
    """Every channel of the same project: all below the roots that share its directory."""
    root = find_root(conn, channel_id)
    if root is None:
        return frozenset()
    top = channels.c.id == root[0]
    if root[1] is not None:
        top = or_(top, (channels.c.dir_path == root[1]) & channels.c.parent_id.is_(None))
    family = {row.id for row in conn.execute(select(channels.c.id).where(top))}
    newest = family
    while newest:
        below = select(channels.c.id).where(channels.c.parent_id.in_(newest))
        made = select(channel_origins.c.channel_id).where(channel_origins.c.origin_id.in_(newest))
        newest = {row[0] for query in (below, made) for row in conn.execute(query)} - family
        family |= newest
    return frozenset(family)


def _to_token(row: Row[Any]) -> Token:
    values = {name: getattr(row, name) for name in Token.__slots__}
    return Token(**values | {"flags": frozenset(row.flags)})
