"""Threads over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

pytestmark = pytest.mark.anyio


async def test_a_thread_is_another_conversation_of_the_same_directory(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    where = {"dir_path": str(tmp_path)}
    channel = (await client.post("/api/channels", json=where)).json()
    made = await client.post("/api/threads", json={"channel_id": channel["id"], "name": "aside"})
    assert made.status_code == 201
    thread = made.json()
    assert (thread["parent_id"], thread["name"]) == (channel["id"], "aside")
    assert thread["dir_path"] == channel["dir_path"]
    assert (await client.post("/api/channels", json=where)).json() == channel


async def test_a_thread_needs_a_channel_and_a_name(client: httpx2.AsyncClient) -> None:
    lost = await client.post("/api/threads", json={"channel_id": "nowhere", "name": "aside"})
    assert lost.status_code == 404
    nameless = await client.post("/api/threads", json={"channel_id": "nowhere", "name": ""})
    assert nameless.status_code == 422
