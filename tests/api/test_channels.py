"""Channels over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

pytestmark = pytest.mark.anyio

SHAPE = {"id", "name", "dir_path", "platform", "parent_id", "branch", "worktree", "active", "trusted"}


async def test_a_channel_is_made_found_listed_changed_and_deleted(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    made = await client.post("/api/channels", json={"dir_path": str(tmp_path)})
    assert made.status_code == 201
    channel = made.json()
    assert channel.keys() >= SHAPE
    found = await client.post("/api/channels", json={"dir_path": str(tmp_path)})
    assert (found.status_code, found.json()) == (200, channel)
    listed = (await client.get("/api/channels", params={"query": tmp_path.name})).json()
    assert listed == {"items": [channel], "next_cursor": None}
    path = f"/api/channels/{channel['id']}"
    changed = (await client.patch(path, json={"name": "mine", "trusted": True})).json()
    assert (changed["name"], changed["trusted"]) == ("mine", True)
    assert (await client.get(path)).json() == changed
    gone = await client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(path)).status_code == 404
    assert (await client.delete(path)).status_code == 404


async def test_a_channel_has_a_prompt_and_a_model_of_its_own(client: httpx2.AsyncClient) -> None:
    channel = (await client.post("/api/channels", json={"name": "mine"})).json()
    own = {"system_prompt": "Be brief.", "model": "demo"}
    path = f"/api/channels/{channel['id']}"
    assert (await client.patch(path, json=own)).json().items() >= own.items()
    cleared = (await client.patch(path, json={"system_prompt": None})).json()
    assert (cleared["system_prompt"], cleared["model"]) == (None, "demo")


async def test_a_list_is_paged(client: httpx2.AsyncClient) -> None:
    for name in "abc":
        await client.post("/api/channels", json={"name": name})
    first = (await client.get("/api/channels?limit=2")).json()
    second = (await client.get("/api/channels", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [channel["name"] for channel in first["items"] + second["items"]] == ["c", "b", "a"]
    assert second["next_cursor"] is None


async def test_a_channel_of_nothing_is_refused(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/channels", json={})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
