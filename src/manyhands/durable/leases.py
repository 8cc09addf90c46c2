"""The SQL of executors: who does durable work on this database, and until when others may rely on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, or_, select, update

from manyhands.store.tables import executors


def register(conn: Connection, executor_id: str, home: str, until: datetime) -> None:
    conn.execute(insert(executors), {"id": executor_id, "home": home, "until": until})


def renew(conn: Connection, executor_id: str, until: datetime) -> bool:
    """Whether it still was registered: who stayed away for too long is not."""
    changed = conn.execute(update(executors).where(executors.c.id == executor_id).values(until=until))
    return changed.rowcount == 1


def select_dead(conn: Connection, executor_id: str, home: str, now: datetime) -> Sequence[str]:
    """Others whose lease has run out, and earlier ones of this home: its lock says that they are gone."""
    query = select(executors.c.id).where(executors.c.id != executor_id)
    return list(conn.execute(query.where(or_(executors.c.until < now, executors.c.home == home))).scalars())


def others_live(conn: Connection, home: str, now: datetime) -> bool:
    """Whether a hub of another home works on this database."""
    query = select(executors.c.id).where(executors.c.home != home, executors.c.until >= now)
    return conn.execute(query.limit(1)).first() is not None


def any_registered(conn: Connection) -> bool:
    return conn.execute(select(executors.c.id).limit(1)).first() is not None


def remove(conn: Connection, executor_ids: Sequence[str]) -> None:
    conn.execute(delete(executors).where(executors.c.id.in_(executor_ids)))
