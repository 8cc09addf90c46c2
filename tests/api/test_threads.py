"""Threads over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from manyhands import Hub
from manyhands.access.types import Grant
from tests.chat.repositories import make_repository

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


async def test_worktrees_are_made_listed_compared_and_deleted(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "project")
    channel = (await client.post("/api/channels", json={"dir_path": str(repository.path)})).json()
    made = await client.post(
        "/api/worktrees", json={"channel_id": channel["id"], "branch": "main", "name": "fix"}
    )
    assert made.status_code == 201
    thread = made.json()
    assert (thread["parent_id"], thread["branch"]) == (channel["id"], "manyhands/fix")
    inside = Path(thread["worktree"])
    (inside / "new.txt").write_text("new\n")
    (listed,) = (await client.get("/api/worktrees")).json()["items"]
    assert (listed["id"], listed["state"], listed["thread"]) == (thread["id"], "uncommitted", "fix")
    assert (await client.get(f"/api/worktrees/{thread['id']}")).json() == listed
    (file,) = (await client.get(f"/api/worktrees/{thread['id']}/diff")).json()["files"]
    assert (file["path"], file["status"], file["additions"]) == ("new.txt", "added", 1)
    for route in ("threads", "worktrees"):
        kept = await client.delete(f"/api/{route}/{thread['id']}")
        assert kept.status_code == 409
        assert kept.json()["kept"] is True
        assert "new.txt" in kept.json()["would_lose"][0]
    cleaned = (await client.post("/api/worktrees/clean", json={})).json()
    assert (cleaned["removed"], len(cleaned["kept"])) == ([], 1)
    assert (await client.delete(f"/api/worktrees/{thread['id']}?force=true")).status_code == 204
    assert (await client.get(f"/api/channels/{thread['id']}")).status_code == 404
    assert (await client.get(f"/api/worktrees/{thread['id']}")).status_code == 404
    assert thread["worktree"] not in repository("worktree", "list")


async def test_what_is_wrong_with_a_worktree_is_said_and_nothing_is_made(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "project")
    channel = (await client.post("/api/channels", json={"dir_path": str(repository.path)})).json()
    for wanted, status in (
        ({"branch": "nothing"}, 404),
        ({"branch": "main", "name": "../x"}, 422),
        ({"branch": "main", "unknown": 1}, 422),
        ({"channel_id": "nowhere", "branch": "main"}, 404),
    ):
        answer = await client.post("/api/worktrees", json={"channel_id": channel["id"]} | wanted)
        assert answer.status_code == status, answer.json()
        assert answer.json()["detail"]
    assert (await client.get("/api/worktrees")).json()["items"] == []
    assert repository.branches() == {"main"}


async def test_a_thread_is_deleted_and_a_channel_is_none(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    channel = (await client.post("/api/channels", json={"dir_path": str(tmp_path)})).json()
    thread = (await client.post("/api/threads", json={"channel_id": channel["id"], "name": "aside"})).json()
    assert (await client.delete(f"/api/threads/{thread['id']}")).status_code == 204
    assert (await client.delete(f"/api/threads/{thread['id']}")).status_code == 404
    assert (await client.delete(f"/api/threads/{channel['id']}")).status_code == 404


async def test_a_runner_is_set_inherited_and_taken_away_by_the_owner(
    client: httpx2.AsyncClient, anonymous: httpx2.AsyncClient, hub: Hub, tmp_path: Path
) -> None:
    channel = (await client.post("/api/channels", json={"dir_path": str(tmp_path)})).json()
    where, runner = f"/api/channels/{channel['id']}", {"command": "claude", "env": {"KEY": "very-secret"}}
    set_to = (await client.patch(where, json={"runner": runner})).json()["runner"]
    assert (set_to["command"], set_to["sandbox"]) == ("claude", "none")
    assert "very-secret" not in str(set_to)
    thread = (await client.post("/api/threads", json={"channel_id": channel["id"], "name": "aside"})).json()
    assert thread["runner"] == set_to
    assert (await client.patch(where, json={"runner": {"command": ""}})).status_code == 422
    token = await hub.access.issue(Grant(channel["id"]))
    limited = {"Authorization": f"Bearer {token}"}
    for headers, status in (({}, 401), (limited, 404)):
        answer = await anonymous.patch(where, json={"runner": {"command": "sh"}}, headers=headers)
        assert answer.status_code == status
    assert (await client.get(where)).json()["runner"] == set_to
    assert (await client.patch(where, json={"runner": None})).json()["runner"] is None
