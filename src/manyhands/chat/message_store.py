"""The SQL of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from manyhands.chat.types import AskedCall, Mention, Message, MessageState
from manyhands.store.tables import messages

_SHOWN = ("sent", "queued")
_READ = ("sent", "set_aside")
_FIELDS = tuple(field.name for field in fields(Message))

_FEW = 8
_LIGHT = 8_000


def is_light(added: Sequence[Message]) -> bool:
    """Whether they are stored, and their text indexed, in no time that anybody would notice."""
    return len(added) <= _FEW and sum(len(message.content) for message in added) <= _LIGHT


def insert_messages(conn: Connection, added: Sequence[Message]) -> None:
    if added:
        conn.execute(insert(messages), [_to_row(message) for message in added])


def select_message(conn: Connection, message_id: str) -> Message | None:
    row = conn.execute(select(messages).where(messages.c.id == message_id)).first()
    return None if row is None else to_message(row)


def select_page(conn: Connection, channel_id: str, limit: int, before: str | None) -> Sequence[Message]:
    """Newest first, without what was withdrawn or set aside."""
    query = select(messages).where(messages.c.channel_id == channel_id, messages.c.state.in_(_SHOWN))
    if before:
        query = query.where(messages.c.id < before)
    return [to_message(row) for row in conn.execute(query.order_by(messages.c.id.desc()).limit(limit))]


def select_conversation(conn: Connection, channel_id: str, limit: int) -> Sequence[Message]:
    """The last `limit` messages that were sent, oldest first."""
    query = select(messages).where(messages.c.channel_id == channel_id, messages.c.state == "sent")
    newest = conn.execute(query.order_by(messages.c.id.desc()).limit(limit)).all()
    return [to_message(row) for row in reversed(newest)]


def select_of_run(conn: Connection, run_id: str) -> Sequence[Message]:
    query = select(messages).where(messages.c.run_id == run_id, messages.c.state.in_(_READ))
    return [to_message(row) for row in conn.execute(query.order_by(messages.c.id))]


def select_queued(conn: Connection, channel_id: str) -> Sequence[Message]:
    query = select(messages).where(messages.c.channel_id == channel_id, messages.c.state == "queued")
    return [to_message(row) for row in conn.execute(query.order_by(messages.c.id))]


def change_state(conn: Connection, message_id: str, old: MessageState, new: MessageState) -> bool:
    """Only if it is still `old`: whoever comes second changes nothing."""
    statement = update(messages).where(messages.c.id == message_id, messages.c.state == old)
    return conn.execute(statement.values(state=new)).rowcount == 1


def change_content(conn: Connection, message_id: str, content: str) -> bool:
    statement = update(messages).where(messages.c.id == message_id, messages.c.state == "queued")
    return conn.execute(statement.values(content=content)).rowcount == 1


def take_in(conn: Connection, message: Message, new_id: str, run_id: str, iteration: int) -> bool:
    """A queued message becomes part of a run, at the place in the conversation where it is read."""
    statement = update(messages).where(messages.c.id == message.id, messages.c.state == "queued")
    values = {"id": new_id, "state": "sent", "run_id": run_id, "iteration": iteration}
    return conn.execute(statement.values(**values)).rowcount == 1


def _to_row(message: Message) -> dict[str, Any]:
    row = {name: getattr(message, name) for name in _FIELDS}
    return row | {
        "tool_calls": [asdict(call) for call in message.tool_calls],
        "attachments": [dict(item) for item in message.attachments],
        "thinking": [dict(item) for item in message.thinking],
        "usage": None if message.usage is None else dict(message.usage),
        "mentions": [asdict(mention) for mention in message.mentions],
    }


def to_message(row: Row[Any]) -> Message:
    """A row as the message that it is."""
    values = {name: getattr(row, name) for name in _FIELDS}
    calls = tuple(AskedCall(**call) for call in row.tool_calls)
    mentions = tuple(Mention(**mention) for mention in row.mentions or ())
    return Message(**values | {"tool_calls": calls, "mentions": mentions})
