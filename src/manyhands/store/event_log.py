"""Durable events in the database, and the counter that numbers them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from manyhands.events import Event
from manyhands.store.direct import Insert
from manyhands.store.engine import Store
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import events, meta

_RESERVED = "events.reserved"
_FLOOR = "events.floor"
_OPEN = "events.open"
_APPEND = Insert(events, ("seq", "type", "channel_id", "data", "at"))


class StoredEventLog:
    """`EventLog` on the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lost = 0

    async def open(self) -> bool:
        return await self._store.write(_open)

    async def close(self) -> None:
        await self._store.flush()
        if not self._lost:  # else the next start must not believe that nothing is missing
            await self._store.write(lambda conn: _set_number(conn, _OPEN, 0))

    def append(self, event: Event) -> None:
        row = {
            "seq": event.seq,
            "type": event.type,
            "channel_id": event.channel_id,
            "data": event.data,
            "at": event.at,
        }
        self._store.post(lambda conn: _APPEND.run(conn, row), lost=lambda: self._lose(event.seq))

    def _lose(self, seq: int) -> None:
        self._lost = max(self._lost, seq)

    def lost(self) -> int:
        return self._lost

    async def since(self, seq: int, limit: int) -> Sequence[Event]:
        query = select(events).where(events.c.seq > seq).order_by(events.c.seq).limit(limit)
        rows = await self._store.read(lambda conn: conn.execute(query).all())
        return [Event(row.seq, row.type, row.channel_id, row.data, row.at) for row in rows]

    async def flush(self) -> None:
        await self._store.flush()

    async def floor(self) -> int:
        return await self._store.read(lambda conn: _number(conn, _FLOOR))

    async def reserve(self, count: int) -> int:
        return await self._store.write(lambda conn: _reserve(conn, count))


def forget_events(conn: Connection, before: datetime) -> int:
    """Delete events older than `before` and remember up to where; the answer is how many."""
    last = conn.execute(select(func.max(events.c.seq)).where(events.c.at < before)).scalar()
    if last is None:
        return 0
    gone = conn.execute(delete(events).where(events.c.seq <= last)).rowcount
    _set_number(conn, _FLOOR, last)
    return gone


def _open(conn: Connection) -> bool:
    closed = _number(conn, _OPEN) == 0
    _set_number(conn, _OPEN, 1)
    return closed


def _reserve(conn: Connection, count: int) -> int:
    # Hubs that begin together on a new database find no row to wait for each other at.
    conn.execute(conflict_insert(conn, meta).on_conflict_do_nothing(), {"key": _RESERVED, "value": "0"})
    conn.execute(select(meta.c.value).where(meta.c.key == _RESERVED).with_for_update())
    newest = conn.execute(select(func.max(events.c.seq))).scalar() or 0
    used = max(_number(conn, _RESERVED), newest)
    _set_number(conn, _RESERVED, used + count)
    return used


def _number(conn: Connection, key: str) -> int:
    value = conn.execute(select(meta.c.value).where(meta.c.key == key)).scalar()
    return 0 if value is None else int(value)


def _set_number(conn: Connection, key: str, value: int) -> None:
    statement = conflict_insert(conn, meta).values(key=key, value=str(value))
    conn.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": str(value)}))
