"""The SQL of snapshots: all of them for the trend, the newest of each branch with its lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select

from manyhands.quality.types import Piece, Snapshot
from manyhands.store.tables import quality_parts, quality_snapshots

_COLUMNS = tuple(Snapshot.__slots__)


def has_channel(conn: Connection, channel_id: str) -> bool:
    from manyhands.store.tables import channels

    return conn.execute(select(channels.c.id).where(channels.c.id == channel_id)).first() is not None


def add_snapshot(conn: Connection, snapshot: Snapshot, pieces: Sequence[Piece], most: int) -> None:
    """Keep it whole; of the older ones of its branch the numbers stay, for `most` of them."""
    older = _of_branch(snapshot.channel_id, snapshot.branch).order_by(quality_snapshots.c.id.desc())
    ids = [row.id for row in conn.execute(older)]
    if ids:
        conn.execute(delete(quality_parts).where(quality_parts.c.snapshot_id.in_(ids)))
    if surplus := ids[most - 1 :]:
        conn.execute(delete(quality_snapshots).where(quality_snapshots.c.id.in_(surplus)))
    conn.execute(insert(quality_snapshots), {name: getattr(snapshot, name) for name in _COLUMNS})
    if pieces:
        rows = [
            {
                "snapshot_id": snapshot.id,
                "part": piece.part,
                "start": piece.start,
                "count": piece.count,
                "data": piece.data,
            }
            for piece in pieces
        ]
        conn.execute(insert(quality_parts), rows)


def _of_branch(channel_id: str, branch: str) -> Any:
    return select(quality_snapshots.c.id).where(
        quality_snapshots.c.channel_id == channel_id, quality_snapshots.c.branch == branch
    )


def newest(conn: Connection, channel_id: str, branch: str | None = None) -> Snapshot | None:
    """The newest of a channel, of one branch or of any."""
    found = history(conn, channel_id, branch, 1)
    return found[0] if found else None


def history(
    conn: Connection, channel_id: str, branch: str | None, limit: int, before: str | None = None
) -> Sequence[Snapshot]:
    """Snapshots of a channel, newest first."""
    query = select(quality_snapshots).where(quality_snapshots.c.channel_id == channel_id)
    if branch is not None:
        query = query.where(quality_snapshots.c.branch == branch)
    if before is not None:
        query = query.where(quality_snapshots.c.id < before)
    rows = conn.execute(query.order_by(quality_snapshots.c.id.desc()).limit(limit))
    return [_snapshot(row) for row in rows]


def count_rows(conn: Connection, snapshot_id: str, part: str) -> int:
    total = select(func.sum(quality_parts.c.count)).where(
        quality_parts.c.snapshot_id == snapshot_id, quality_parts.c.part == part
    )
    return int(conn.execute(total).scalar() or 0)


def pieces_between(conn: Connection, snapshot_id: str, part: str, start: int, end: int) -> list[Piece]:
    """The pieces that hold rows of that stretch."""
    query = select(quality_parts).where(
        quality_parts.c.snapshot_id == snapshot_id,
        quality_parts.c.part == part,
        quality_parts.c.start < end,
        quality_parts.c.start + quality_parts.c.count > start,
    )
    rows = conn.execute(query.order_by(quality_parts.c.start))
    return [Piece(**{name: row._mapping[name] for name in Piece.__slots__}) for row in rows]


def _snapshot(row: Row[Any]) -> Snapshot:
    return Snapshot(**{name: row._mapping[name] for name in _COLUMNS})
