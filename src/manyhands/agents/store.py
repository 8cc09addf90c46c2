"""The SQL of agents and of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from manyhands.agents.types import Agent, AgentMessage, Receipt
from manyhands.store.direct import Insert, Update
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import agent_messages, agents, channels

_AGENT = tuple(Agent.__slots__)
_MESSAGE = tuple(AgentMessage.__slots__)
_ADD = Insert(agent_messages, _MESSAGE)
_DELIVERED = Update(agent_messages, ("state", "delivered_at"), key="id")
_ENDED = Update(agent_messages, ("state", "ended_at"), key="id")
_CHUNK = 500


# --- agents


def has_channel(conn: Connection, channel_id: str) -> bool:
    return conn.execute(select(channels.c.id).where(channels.c.id == channel_id)).first() is not None


def put_agent(conn: Connection, agent: Agent) -> None:
    """Add it, or change it."""
    row = {name: getattr(agent, name) for name in _AGENT}
    statement = conflict_insert(conn, agents)
    changes = {name: statement.excluded[name] for name in _AGENT if name not in ("channel_id", "id")}
    conn.execute(statement.on_conflict_do_update(index_elements=["channel_id", "id"], set_=changes), row)


def delete_agent(conn: Connection, channel_id: str, agent_id: str) -> None:
    conn.execute(delete(agents).where(agents.c.channel_id == channel_id, agents.c.id == agent_id))


def select_agents(conn: Connection) -> Sequence[Agent]:
    return [Agent(**row._mapping) for row in conn.execute(select(agents))]


# --- messages


def insert_message(conn: Connection, message: AgentMessage) -> None:
    _ADD.run(conn, _row(message))


def select_message(conn: Connection, message_id: str) -> AgentMessage | None:
    row = conn.execute(select(agent_messages).where(agent_messages.c.id == message_id)).first()
    return None if row is None else _message(row)


def last_seq(conn: Connection) -> int:
    return conn.execute(select(func.max(agent_messages.c.seq))).scalar() or 0


def select_queued(conn: Connection) -> Sequence[AgentMessage]:
    """Everything that waits for its receiver, in the order in which it was sent."""
    queued = select(agent_messages).where(agent_messages.c.state == Receipt.QUEUED.value)
    return [_message(row) for row in conn.execute(queued.order_by(agent_messages.c.seq))]


def select_history(
    conn: Connection, channel_id: str, agent_id: str | None, limit: int, before: int | None
) -> Sequence[AgentMessage]:
    """What an agent has sent and been sent, or everything of the channel; newest first."""
    query = select(agent_messages).where(agent_messages.c.channel_id == channel_id)
    if agent_id is not None:
        mine = (agent_messages.c.to_agent_id == agent_id, agent_messages.c.from_agent == agent_id)
        query = query.where(or_(*mine))
    if before is not None:
        query = query.where(agent_messages.c.seq < before)
    return [_message(row) for row in conn.execute(query.order_by(agent_messages.c.seq.desc()).limit(limit))]


def select_unread(
    conn: Connection, channel_id: str, agent_id: str, limit: int
) -> tuple[Sequence[AgentMessage], int]:
    """The oldest that an agent has not read, and how many there are in all."""
    open_ones = (
        agent_messages.c.channel_id == channel_id,
        agent_messages.c.to_agent_id == agent_id,
        agent_messages.c.state.in_((Receipt.QUEUED.value, Receipt.DELIVERED.value)),
    )
    count = conn.execute(select(func.count()).select_from(agent_messages).where(*open_ones)).scalar() or 0
    found = select(agent_messages).where(*open_ones).order_by(agent_messages.c.seq).limit(limit)
    return [_message(row) for row in conn.execute(found)], count


def set_delivered(conn: Connection, message_id: str, at: datetime) -> None:
    _DELIVERED.run(conn, message_id, {"state": Receipt.DELIVERED.value, "delivered_at": at})


def end_delivered(conn: Connection, message_ids: Sequence[str], at: datetime) -> None:
    """Mark as read what was delivered."""
    for message_id in message_ids:
        _ENDED.run(conn, message_id, {"state": Receipt.READ.value, "ended_at": at})


def set_read(
    conn: Connection, channel_id: str, agent_id: str, ids: Sequence[str] | None, at: datetime
) -> Sequence[AgentMessage]:
    """Mark what an agent has not read, all of it or these; what that was, in order."""
    mine = select(agent_messages).where(
        agent_messages.c.channel_id == channel_id,
        agent_messages.c.to_agent_id == agent_id,
        agent_messages.c.state.in_((Receipt.QUEUED.value, Receipt.DELIVERED.value)),
    )
    if ids is not None:
        mine = mine.where(agent_messages.c.id.in_(ids))
    found = [_message(row) for row in conn.execute(mine.order_by(agent_messages.c.seq))]
    for message in found:
        values = {"state": Receipt.READ.value, "delivered_at": message.delivered_at or at, "ended_at": at}
        conn.execute(update(agent_messages).where(agent_messages.c.id == message.id).values(values))
    return found


def set_expired(conn: Connection, ids: Sequence[str], at: datetime) -> None:
    for start in range(0, len(ids), _CHUNK):
        these = agent_messages.c.id.in_(ids[start : start + _CHUNK])
        waiting = agent_messages.c.state == Receipt.QUEUED.value
        values = {"state": Receipt.EXPIRED.value, "ended_at": at}
        conn.execute(update(agent_messages).where(these, waiting).values(values))


def delete_old(conn: Connection, before: datetime) -> int:
    """Forget a few of the messages that ended before that time; how many."""
    oldest = select(agent_messages.c.id, agent_messages.c.at, agent_messages.c.state)
    rows = conn.execute(oldest.order_by(agent_messages.c.seq).limit(_CHUNK)).all()
    old = [row.id for row in rows if row.at < before and row.state != Receipt.QUEUED.value]
    if old:
        conn.execute(delete(agent_messages).where(agent_messages.c.id.in_(old)))
    return len(old)


def insert_again(conn: Connection, message: AgentMessage) -> AgentMessage:
    """Add a message whose id its sender chose; one that is there already is left as it is, and answered."""
    before = select_message(conn, message.id)
    if before is None:
        conn.execute(insert(agent_messages).values(_row(message)))
    return before or message


def _row(message: AgentMessage) -> dict[str, Any]:
    return {name: getattr(message, name) for name in _MESSAGE} | {"state": message.state.value}


def _message(row: Row[Any]) -> AgentMessage:
    return AgentMessage(**{**row._mapping, "state": Receipt(row.state)})
