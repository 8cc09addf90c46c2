"""Whole conversations over HTTP."""

from __future__ import annotations

import hashlib
from typing import Any

import httpx2
import pytest

pytestmark = pytest.mark.anyio

MESSAGES = [
    {"id": "a", "role": "user", "content": "Where is the fox?", "at": "2026-01-05T10:00:00Z"},
    {"id": "b", "role": "assistant", "content": "In the den. " * 40, "at": "2026-01-05T10:00:01Z"},
]
ARCHIVE: dict[str, Any] = {
    "format": "manyhands.conversation",
    "version": 1,
    "channel": {"name": "Old/talk"},
    "messages": MESSAGES,
    "attachments": {},
}


@pytest.fixture
async def channel_id(client: httpx2.AsyncClient) -> str:
    answer = await client.post("/api/channels/import", json=ARCHIVE)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_conversation_is_found_exported_forked_and_read(
    client: httpx2.AsyncClient, channel_id: str
) -> None:
    (found,) = (await client.get("/api/search", params={"q": "den in"})).json()["items"]
    assert (found["channel_id"], found["role"]) == (channel_id, "assistant")
    assert len(found["snippet"]) < 300
    markdown = await client.get(f"/api/channels/{channel_id}/export")
    assert markdown.headers["content-disposition"] == 'attachment; filename="Old-talk.md"'
    assert "Where is the fox?" in markdown.text
    document = (await client.get(f"/api/channels/{channel_id}/export", params={"format": "json"})).json()
    assert [message["content"] for message in document["messages"]] == [one["content"] for one in MESSAGES]
    fork = await client.post(f"/api/channels/{channel_id}/fork", json={})
    assert (fork.status_code, fork.json()["parent_id"]) == (201, channel_id)
    read = await client.put(f"/api/channels/{channel_id}/read", json={"message_id": found["message_id"]})
    assert read.status_code == 204
    activity = (await client.get("/api/activity")).json()["items"]
    assert {one["unread"] for one in activity} == {0}


async def test_a_file_that_is_no_conversation_is_refused_with_its_place(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/channels/import", json=ARCHIVE | {"messages": [{"id": "x"}]})
    assert answer.status_code == 422
    assert "messages.0.role" in answer.json()["detail"]


async def test_attachments_are_shown_only_as_pictures(client: httpx2.AsyncClient) -> None:
    files = {"f" * 64: {"name": "page.html", "mime": "text/html", "data": "PGI+"}}
    assert (
        await client.post("/api/channels/import", json=ARCHIVE | {"attachments": files})
    ).status_code == 201
    digest = hashlib.sha256(b"<b>").hexdigest()
    saved = await client.get(f"/api/attachments/{digest}", params={"mime": "text/html"})
    assert (saved.content, saved.headers["content-disposition"]) == (b"<b>", "attachment")
    assert saved.headers["content-type"] == "application/octet-stream"
    shown = await client.get(f"/api/attachments/{digest}", params={"mime": "image/png"})
    assert shown.headers["content-type"] == "image/png"
    assert "sandbox" in shown.headers["content-security-policy"]
    assert (await client.get(f"/api/attachments/{'0' * 64}")).status_code == 404
    assert (await client.get("/api/attachments/..%2Ftoken")).status_code in (404, 422)


async def test_a_new_channel_of_a_taken_name_gets_a_number(client: httpx2.AsyncClient) -> None:
    body = {"name": "Plans", "fresh": True}
    names = [(await client.post("/api/channels", json=body)).json()["name"] for _ in range(3)]
    assert names == ["Plans", "Plans 2", "Plans 3"]


async def test_a_page_of_messages_comes_with_its_runs_and_calls_when_asked(
    client: httpx2.AsyncClient, channel_id: str
) -> None:
    plain = (await client.get(f"/api/channels/{channel_id}/messages")).json()
    full = (await client.get(f"/api/channels/{channel_id}/messages", params={"detail": True})).json()
    assert (plain["items"], full["runs"], full["calls"]) == (full["items"], [], [])
