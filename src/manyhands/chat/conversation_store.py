"""The SQL of whole conversations: what is unread, what holds a text, copies, and what is set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select, update

from manyhands.chat.search_index import SEARCHED_ROLES, holds, may_hold
from manyhands.chat.types import Message
from manyhands.store.inserts import conflict_insert
from manyhands.store.tables import channels, messages, reads, runs

_OPEN = ("queued", "running", "waiting")
MOST_UNREAD = 99


@dataclass(frozen=True, slots=True)
class Activity:
    """What goes on in a channel, as one person sees it."""

    channel_id: str
    last_message_id: str | None
    last_at: datetime | None
    unread: int
    run_id: str | None
    run_status: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """A message that holds a text that was looked for."""

    message_id: str
    channel_id: str
    channel_name: str
    role: str
    content: str
    at: datetime


def select_all(conn: Connection, channel_id: str, up_to: str | None = None) -> Sequence[str]:
    """The ids of what was said, oldest first, up to and with one message."""
    query = select(messages.c.id).where(messages.c.channel_id == channel_id, messages.c.state == "sent")
    if up_to is not None:
        query = query.where(messages.c.id <= up_to)
    return list(conn.execute(query.order_by(messages.c.id)).scalars())


def set_aside(conn: Connection, channel_id: str, first: str) -> int:
    """Take a message and all after it out of the conversation; how many there were."""
    chosen = (messages.c.channel_id == channel_id, messages.c.id >= first, messages.c.state == "sent")
    return conn.execute(update(messages).where(*chosen).values(state="set_aside")).rowcount


def mark_read(conn: Connection, person_id: str, channel_id: str, message_id: str, at: datetime) -> None:
    statement = conflict_insert(conn, reads).values(
        person_id=person_id, channel_id=channel_id, message_id=message_id, at=at
    )
    changed = {"message_id": message_id, "at": at}
    key = [reads.c.person_id, reads.c.channel_id]
    conn.execute(statement.on_conflict_do_update(index_elements=key, set_=changed))


def select_activity(conn: Connection, person_id: str) -> Sequence[Activity]:
    """Every channel that anything was said in, or that works."""
    said, unread, open_runs = _last_said(conn), _unread(conn, person_id), _open_runs(conn)
    activities = []
    for channel_id in said.keys() | open_runs.keys():
        last_id, last_at = said.get(channel_id, (None, None))
        run_id, run_status = open_runs.get(channel_id, (None, None))
        count = min(unread.get(channel_id, 0), MOST_UNREAD)
        activities.append(Activity(channel_id, last_id, last_at, count, run_id, run_status))
    return activities


def _last_said(conn: Connection) -> dict[str, tuple[str, datetime]]:
    newest = (
        select(func.max(messages.c.id).label("id"))
        .where(messages.c.state == "sent")
        .group_by(messages.c.channel_id)
    ).subquery()
    query = select(messages.c.channel_id, messages.c.id, messages.c.at).join(
        newest, messages.c.id == newest.c.id
    )
    return {row.channel_id: (row.id, row.at) for row in conn.execute(query)}


def _unread(conn: Connection, person_id: str) -> dict[str, int]:
    """Answers after the last message that the person has seen; their own words and results do not count."""
    seen = and_(reads.c.channel_id == messages.c.channel_id, reads.c.person_id == person_id)
    query = (
        select(messages.c.channel_id, func.count())
        .select_from(messages.outerjoin(reads, seen))
        .where(
            messages.c.state == "sent",
            messages.c.role.in_(("assistant", "system")),
            messages.c.content != "",
            messages.c.id > func.coalesce(reads.c.message_id, ""),
        )
        .group_by(messages.c.channel_id)
    )
    return {channel_id: int(count) for channel_id, count in conn.execute(query)}


def _open_runs(conn: Connection) -> dict[str, tuple[str, str]]:
    """The run of each channel that goes on; the oldest where others wait behind it."""
    query = select(runs.c.channel_id, runs.c.id, runs.c.status).where(runs.c.status.in_(_OPEN))
    return {row.channel_id: (row.id, row.status) for row in conn.execute(query.order_by(runs.c.id.desc()))}


def search(
    conn: Connection, words: Sequence[str], channel_id: str | None, limit: int, before: str | None
) -> Sequence[Found]:
    """Messages that hold all of the words, newest first."""
    spelled = [_spellings(word) for word in words]
    columns = (messages.c.id, messages.c.channel_id, messages.c.role, messages.c.content, messages.c.at)
    query = (
        select(*columns, channels.c.name.label("channel_name"))
        .join(channels, channels.c.id == messages.c.channel_id)
        .where(messages.c.state == "sent", messages.c.role.in_(SEARCHED_ROLES))
        .where(*may_hold(conn, spelled), *(holds(messages.c.content, one) for one in spelled))
    )
    if channel_id is not None:
        query = query.where(messages.c.channel_id == channel_id)
    if before is not None:
        query = query.where(messages.c.id < before)
    rows = conn.execute(query.order_by(messages.c.id.desc()).limit(limit))
    return [_found(row) for row in rows]


def _spellings(word: str) -> Sequence[str]:
    """Databases fold the letters of ASCII for certain; others are looked for in every way to write them."""
    return [word] if word.isascii() else list({word, word.lower(), word.upper(), word.capitalize()})


def _found(row: Any) -> Found:
    return Found(row.id, row.channel_id, row.channel_name, row.role, row.content, row.at)


def select_messages(conn: Connection, ids: Sequence[str]) -> Sequence[Any]:
    """Rows by their ids, oldest first; read in parts, as databases bound the number of parameters."""
    found: list[Any] = []
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        found += conn.execute(select(messages).where(messages.c.id.in_(part)).order_by(messages.c.id)).all()
    return found


def runs_named(found: Sequence[Message]) -> Sequence[str]:
    return list(dict.fromkeys(message.run_id for message in found if message.run_id))
