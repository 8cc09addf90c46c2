"""The search finds the same with an index and without one, and the index follows the messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, insert, select, text, update

from manyhands.chat import search_index
from manyhands.chat.conversation_store import search
from manyhands.store.engine import Store, open_store
from manyhands.store.tables import channels, messages

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 5, 10, tzinfo=UTC)
TEXTS = [
    "The Übersicht is 100% done",
    "ÜBERSICHT, in capitals",
    'say "hello" AND (wait) OR NOT',
    "no",
    "Straße and STRASSE",
    "日本語の文章",
    "under_score and a%b",
    "hello hello " * 40,
]
ASKED = [
    *(
        "übersicht",
        "THE",
        "100%",
        '"hello"',
        "AND (wait)",
        "no",
        "o",
        "straße",
        "本語",
        "日本語の",
        "under_s",
        "a%b",
    ),
    *("hello", "hello hello", "e" * 200, "OR NOT", "*", "none of it"),
]


def row(number: int, content: str, role: str = "user") -> dict[str, Any]:
    return {
        "id": f"msg_{number:03}",
        "channel_id": "c1",
        "role": role,
        "state": "sent",
        "content": content,
        "author_id": "me",
        "speaker": "person",
        "tool_calls": [],
        "is_error": False,
        "attachments": [],
        "thinking": [],
        "at": AT,
    }


def fill(conn: Connection) -> None:
    channel = {"id": "c1", "name": "One", "active": True, "trusted": False, "created_at": AT}
    conn.execute(insert(channels).values(channel))
    conn.execute(insert(messages), [row(number, content) for number, content in enumerate(TEXTS)])


async def found(store: Store, words: str) -> Sequence[str]:
    hits = await store.read(lambda conn: search(conn, words.split(), None, 100, None))
    return [hit.message_id for hit in hits]


async def test_it_is_found_the_same_with_an_index_and_without(store: Store) -> None:
    await store.write(fill)
    without = {asked: await found(store, asked) for asked in ASKED}
    await store.write(search_index.make_index)
    assert {asked: await found(store, asked) for asked in ASKED} == without
    assert without["übersicht"] == ["msg_001", "msg_000"]
    assert without["hello"] == ["msg_007", "msg_002"]


async def test_the_index_follows_what_is_added_changed_and_removed(store: Store) -> None:
    await store.write(search_index.make_index)
    await store.write(fill)
    assert await found(store, "capitals") == ["msg_001"]
    changed = update(messages).where(messages.c.id == "msg_001").values(content="small letters")
    await store.write(lambda conn: conn.execute(changed))
    assert await found(store, "capitals") == []
    assert await found(store, "letters") == ["msg_001"]
    await store.write(lambda conn: conn.execute(delete(messages).where(messages.c.id == "msg_001")))
    assert await found(store, "letters") == []
    await store.write(lambda conn: conn.execute(insert(messages), [row(20, "small letters", role="tool")]))
    assert await found(store, "letters") == []


async def test_the_index_goes_with_the_channel(store: Store) -> None:
    await store.write(search_index.make_index)
    await store.write(fill)
    await store.write(lambda conn: conn.execute(delete(channels)))
    assert (
        await store.read(lambda conn: conn.execute(select(func.count()).select_from(messages)).scalar()) == 0
    )
    await store.write(fill)
    assert await found(store, "hello") == ["msg_007", "msg_002"]


async def test_sqlite_looks_into_those_messages_alone_that_may_hold_a_word(made_sqlite_url: str) -> None:
    async with open_store(made_sqlite_url) as store:
        await store.write(fill)
        assert not await store.read(search_index.has_index)
        await store.write(search_index.make_index)
        assert await store.read(search_index.has_index)
        # With nothing in the index, nothing is looked into.
        await store.write(lambda conn: conn.execute(text("DELETE FROM searched_messages")))
        assert await found(store, "hello") == []
        assert await found(store, "no") != []


async def test_a_database_that_cannot_have_the_index_is_searched_without(made_sqlite_url: str) -> None:
    async with open_store(made_sqlite_url) as store:
        await store.write(fill)
        await store.write(lambda conn: conn.execute(text("CREATE TABLE message_pieces (other INTEGER)")))
        await store.write(search_index.make_index)
        assert not await store.read(search_index.has_index)
        assert await found(store, "hello") == ["msg_007", "msg_002"]
