"""The SQL of executors: who does durable work on this database, and until when others may rely on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update

from manyhands.store.tables import executors


def register(conn: Connection, executor_id: str, home: str, until: datetime) -> None:
    conn.execute(insert(executors), {"id": executor_id, "home": home, "until": until})


def renew(conn: Connection, executor_id: str, home: str, until: datetime) -> bool:
    """Whether it still was registered: who stayed away for too long is another home's, or gone."""
    mine = update(executors).where(executors.c.id == executor_id, executors.c.home == home)
    return conn.execute(mine.values(until=until)).rowcount == 1


def select_dead(conn: Connection, executor_id: str, home: str, now: datetime) -> Sequence[str]:
    """Others whose lease has run out, and earlier ones of this home: its lock says that they are gone."""
    return list(conn.execute(select(executors.c.id).where(_dead(executor_id, home, now))).scalars())


def claim_dead(conn: Connection, executor_id: str, home: str, now: datetime) -> Sequence[str]:
    """The same, and they are this home's from now on: whoever was only away cannot renew any more.

    A home that dies before it has taken over finds them again.
    """
    claim = update(executors).where(_dead(executor_id, home, now)).values(home=home)
    return list(conn.execute(claim.returning(executors.c.id)).scalars())


def _dead(executor_id: str, home: str, now: datetime) -> ColumnElement[bool]:
    return and_(executors.c.id != executor_id, or_(executors.c.until < now, executors.c.home == home))


def others_live(conn: Connection, home: str, now: datetime) -> bool:
    """Whether a hub of another home works on this database."""
    query = select(executors.c.id).where(executors.c.home != home, executors.c.until >= now)
    return conn.execute(query.limit(1)).first() is not None


def any_registered(conn: Connection) -> bool:
    return conn.execute(select(executors.c.id).limit(1)).first() is not None


def remove(conn: Connection, executor_ids: Sequence[str]) -> None:
    conn.execute(delete(executors).where(executors.c.id.in_(executor_ids)))
