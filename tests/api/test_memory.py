"""Memory over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from manyhands.access.types import Grant
from manyhands.hub import Hub

pytestmark = pytest.mark.anyio
Client = httpx2.AsyncClient


@pytest.fixture
def project(tmp_path: Path) -> str:
    root = tmp_path / "project"
    root.mkdir()
    (root / "boats.md").write_text("# Boats\n\nAna bought a sailing boat.\n\nIt is red.\n")
    (root / "bad.md").write_bytes(b"\0\1\2")
    return str(root.resolve())


async def post(client: Client, path: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/memory/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_notes_are_indexed_searched_listed_and_opened(client: Client, project: str) -> None:
    done = await post(client, "index", dir_path=project)
    assert done["files"] == {"added": 2, "changed": 0, "removed": 0, "unchanged": 0}
    assert (done["chunks"]["added"], done["embedded"], done["scope"]) == (2, 2, "project")
    assert [problem["path"] for problem in done["problems"]] == ["bad.md"]
    found = await post(client, "search", dir_path=project, query="Who bought a boat?", top_k=1)
    (hit,) = found["results"]
    assert (hit["path"], hit["line_start"], hit["heading"]) == ("boats.md", 3, "Boats")
    assert set(hit["parts"]) == {"lexical", "vector", "recency"}
    assert hit["scope"] == "project"
    assert found["mode"] == "hybrid"
    assert found["index"] == {"files": 1, "chunks": 2, "stale": 0, "indexing": False}
    where = {"dir_path": project}
    listed = (await client.get("/api/memory/files", params=where)).json()["items"]
    assert [(file["path"], file["chunks"]) for file in listed] == [("bad.md", 0), ("boats.md", 2)]
    bad = (await client.get("/api/memory/files", params={**where, "problems": True})).json()["items"]
    assert [file["path"] for file in bad] == ["bad.md"]
    line = {**where, "path": hit["path"], "line": hit["line_start"], "around": 1, "scope": hit["scope"]}
    excerpt = (await client.get("/api/memory/file", params=line)).json()
    assert excerpt["text"] == "\nAna bought a sailing boat.\n"
    assert (excerpt["line_start"], excerpt["lines"], excerpt["changed"]) == (2, 6, False)
    status = (await client.get("/api/memory/status", params=where)).json()
    own, shared = status["collections"]
    assert (own["directory"], own["files"], own["embedded"], own["problems"]) == (project, 1, 2, 1)
    assert (own["state"], shared["scope"]) == ("idle", "global")
    assert status["embedder"]["name"] == "static"


async def test_a_channel_has_the_memory_of_its_directory(client: Client, hub: Hub, project: str) -> None:
    channel, _ = await hub.channels.find_or_create(dir_path=project)
    found = await post(client, "search", channel_id=channel.id, query="red", mode="lexical")
    assert [hit["path"] for hit in found["results"]] == ["boats.md"]
    assert found["mode"] == "lexical"
    alone = await post(client, "search", query="red", mode="lexical")
    assert alone["results"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "x", "top_k": 0},
        {"query": "x", "top_k": 101},
        {"query": "x", "budget_chars": 0},
        {"query": "x", "channel_id": "ch", "dir_path": "/"},
        {"query": "x", "dir_path": "relative"},
        {"query": "x", "recency": 9},
        {"query": "x", "unknown": 1},
    ],
)
async def test_a_wrong_question_is_refused(client: Client, body: dict[str, Any]) -> None:
    answer = await client.post("/api/memory/search", json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid"


async def test_what_is_not_in_the_memory_cannot_be_opened(
    client: Client, project: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    for path in (str(tmp_path / "secret.md"), "../secret.md", "/etc/passwd", "nothing.md"):
        answer = await client.get("/api/memory/file", params={"dir_path": project, "path": path})
        assert answer.status_code == 404


async def test_a_limited_token_does_not_reach_it(client: Client, hub: Hub, project: str) -> None:
    channel, _ = await hub.channels.find_or_create(dir_path=project)
    token = await hub.access.issue(Grant(channel.id, flags=frozenset({"memory"})))
    headers = {"Authorization": f"Bearer {token}"}
    answer = await client.post("/api/memory/search", json={"query": "boat"}, headers=headers)
    assert answer.status_code == 404
