"""The index under the search of conversations: every three characters in a row of what was said.

It narrows down which messages may hold a word; whether they do is then looked up in them, so the search finds
the same with and without it. It is made from the messages wherever it is missing, and triggers keep it. On
PostgreSQL it is one of `pg_trgm`, where the server has that.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, column, or_, select, table, text
from sqlalchemy.exc import DBAPIError

from manyhands.store.tables import messages

log = logging.getLogger(__name__)

SEARCHED_ROLES = ("user", "assistant")
LENGTH = 3
MOST_PIECES = 24
# The pieces stand under a number of their own: the rows of `messages` have none that stays.
_SQLITE = (
    "CREATE TABLE searched_messages (num INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE)",
    """CREATE VIRTUAL TABLE message_pieces USING fts5
       (content, content='', tokenize='trigram', detail='none', columnsize=0)""",
    """INSERT INTO searched_messages (message_id)
       SELECT id FROM messages WHERE role IN ('user', 'assistant')""",
    """INSERT INTO message_pieces (rowid, content)
       SELECT num, content FROM searched_messages JOIN messages ON messages.id = message_id""",
    """CREATE TRIGGER message_pieces_added AFTER INSERT ON messages
       WHEN new.role IN ('user', 'assistant') BEGIN
         INSERT INTO searched_messages (message_id) VALUES (new.id);
         INSERT INTO message_pieces (rowid, content)
         SELECT num, new.content FROM searched_messages WHERE message_id = new.id;
       END""",
    """CREATE TRIGGER message_pieces_changed AFTER UPDATE OF content ON messages BEGIN
         INSERT INTO message_pieces (message_pieces, rowid, content)
         SELECT 'delete', num, old.content FROM searched_messages WHERE message_id = old.id;
         INSERT INTO message_pieces (rowid, content)
         SELECT num, new.content FROM searched_messages WHERE message_id = old.id;
       END""",
    """CREATE TRIGGER message_pieces_removed AFTER DELETE ON messages BEGIN
         INSERT INTO message_pieces (message_pieces, rowid, content)
         SELECT 'delete', num, old.content FROM searched_messages WHERE message_id = old.id;
         DELETE FROM searched_messages WHERE message_id = old.id;
       END""",
)
_POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """CREATE INDEX ix_messages_pieces ON messages USING gin (content gin_trgm_ops)
       WHERE role IN ('user', 'assistant')""",
)
_pieces = table("message_pieces", column("rowid"), column("message_pieces"))
_searched = table("searched_messages", column("num"), column("message_id"))


def has_index(conn: Connection) -> bool:
    known = (
        "SELECT 1 FROM sqlite_master WHERE name = 'message_pieces_removed'"
        if conn.dialect.name == "sqlite"
        else "SELECT 1 FROM pg_indexes WHERE indexname = 'ix_messages_pieces'"
    )
    return conn.execute(text(known)).first() is not None


def make_index(conn: Connection) -> None:
    """From the messages that are there; a database that cannot have it is searched without."""
    if conn.dialect.name == "postgresql" and not _offers_pieces(conn):
        return
    try:
        with conn.begin_nested():
            for statement in _SQLITE if conn.dialect.name == "sqlite" else _POSTGRESQL:
                conn.execute(text(statement))
    except DBAPIError as error:
        log.warning("conversations are searched without an index: %s", error.orig)


def _offers_pieces(conn: Connection) -> bool:
    offered = text("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
    return conn.execute(offered).first() is not None


def holds(content: ColumnElement[str], spellings: Sequence[str]) -> ColumnElement[bool]:
    """Whether a text holds a word in one of its spellings."""
    return or_(*(content.icontains(spelling, autoescape=True) for spelling in spellings))


def may_hold(conn: Connection, spelled: Sequence[Sequence[str]]) -> Sequence[ColumnElement[bool]]:
    """What a message must fulfil that holds every word, in one of its spellings; others may, too."""
    long_enough = [spellings for spellings in spelled if min(map(len, spellings)) >= LENGTH]
    if not long_enough or not has_index(conn):
        return []
    holding = _holding_sqlite if conn.dialect.name == "sqlite" else _holding_postgresql
    return [messages.c.id.in_(holding(long_enough))]


def _holding_sqlite(spelled: Sequence[Sequence[str]]) -> Select[Any]:
    wanted = " AND ".join(map(_match, spelled))
    match: ColumnElement[bool] = _pieces.c.message_pieces.op("MATCH", is_comparison=True)(wanted)
    return select(_searched.c.message_id).where(_searched.c.num.in_(select(_pieces.c.rowid).where(match)))


def _holding_postgresql(spelled: Sequence[Sequence[str]]) -> Select[Any]:
    """The offset keeps the planner from reading all messages from the newest on, in the hope of a few."""
    said = messages.alias()
    holding = (holds(said.c.content, spellings) for spellings in spelled)
    return select(said.c.id).where(said.c.role.in_(SEARCHED_ROLES), *holding).offset(0)


def _match(spellings: Sequence[str]) -> str:
    """One word for the index."""
    return f"({' OR '.join(f'({_pieces_of(spelling)})' for spelling in spellings)})"


def _pieces_of(word: str) -> str:
    pieces = dict.fromkeys(word[place : place + LENGTH] for place in range(len(word) - LENGTH + 1))
    quoted = (piece.replace('"', '""') for piece in list(pieces)[:MOST_PIECES])
    return " AND ".join(f'"{piece}"' for piece in quoted)
