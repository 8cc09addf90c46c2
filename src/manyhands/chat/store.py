"""The SQL of channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, or_, select, update

from manyhands.chat.types import Channel
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import channels


def insert_channel(conn: Connection, channel: Channel) -> bool:
    """Add it, unless its directory has a channel already; the answer says whether it was added."""
    statement = conflict_insert(conn, channels).on_conflict_do_nothing().returning(channels.c.id)
    row = conn.execute(statement, {name: getattr(channel, name) for name in Channel.__slots__}).first()
    return row is not None


def select_channel(conn: Connection, channel_id: str) -> Channel | None:
    return _channel(conn.execute(select(channels).where(channels.c.id == channel_id)).first())


def find_by_directory(conn: Connection, dir_path: str, platform: str) -> Channel | None:
    """The directory's own channel; threads below it do not count."""
    query = select(channels).where(
        channels.c.dir_path == dir_path, channels.c.platform == platform, channels.c.parent_id.is_(None)
    )
    return _channel(conn.execute(query.order_by(channels.c.id)).first())


def find_by_name(conn: Connection, name: str, platform: str) -> Channel | None:
    query = select(channels).where(
        channels.c.name == name, channels.c.platform == platform, channels.c.parent_id.is_(None)
    )
    return _channel(conn.execute(query.order_by(channels.c.id)).first())


def select_channels(
    conn: Connection, query: str | None, platform: str | None, limit: int, cursor: str | None
) -> Sequence[Channel]:
    """Newest first."""
    statement = select(channels).order_by(channels.c.id.desc()).limit(limit)
    if query:
        needle = f"%{_escape_like(query.lower())}%"
        texts = (channels.c.name, channels.c.dir_path, channels.c.id)
        statement = statement.where(or_(*(func.lower(text).like(needle, escape="\\") for text in texts)))
    if platform:
        statement = statement.where(channels.c.platform == platform)
    if cursor:
        statement = statement.where(channels.c.id < cursor)
    return [_to_channel(row) for row in conn.execute(statement)]


def select_directories(conn: Connection) -> Sequence[Channel]:
    """Every channel that has a directory."""
    rows = conn.execute(select(channels).where(channels.c.dir_path.is_not(None)).order_by(channels.c.id))
    return [_to_channel(row) for row in rows]


def is_trusted(conn: Connection, dir_path: str | None) -> bool:
    """Whether a person trusts the directory; nothing is no directory."""
    query = select(channels.c.id).where(channels.c.dir_path == dir_path, channels.c.trusted)
    return dir_path is not None and conn.execute(query.limit(1)).first() is not None


def select_in(conn: Connection, dir_path: str) -> Sequence[Channel]:
    """Every channel of a directory, threads too."""
    query = select(channels).where(channels.c.dir_path == dir_path).order_by(channels.c.id)
    return [_to_channel(row) for row in conn.execute(query)]


def select_below(conn: Connection, channel_id: str) -> list[str]:
    """The channel's id and those of all threads below it."""
    found, newest = [channel_id], [channel_id]
    while newest:
        query = select(channels.c.id).where(channels.c.parent_id.in_(newest)).order_by(channels.c.id)
        newest = [below for below in conn.execute(query).scalars() if below not in found]
        found += newest
    return found


def update_channel(conn: Connection, channel_id: str, values: Mapping[str, Any]) -> None:
    conn.execute(update(channels).where(channels.c.id == channel_id).values(**values))


def delete_channel(conn: Connection, channel_id: str) -> int:
    return conn.execute(delete(channels).where(channels.c.id == channel_id)).rowcount


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _channel(row: Row[Any] | None) -> Channel | None:
    return None if row is None else _to_channel(row)


def _to_channel(row: Row[Any]) -> Channel:
    return Channel(**{name: getattr(row, name) for name in Channel.__slots__})
