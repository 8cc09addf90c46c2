"""The tools of memory, through the official SDK's client."""

from __future__ import annotations

from pathlib import Path

import pytest

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.secrets import HIDDEN
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio

MEMORY = frozenset({"memory"})


@pytest.fixture
def notes(channel: Channel) -> Path:
    assert channel.dir_path is not None
    root = Path(channel.dir_path)
    (root / "boats.md").write_text("# Boats\n\nAna bought a sailing boat.\n")
    (root / "bad.md").write_bytes(b"\0\1\2")
    return root


async def test_an_agent_searches_and_is_told_where_it_stands(connect: Connect, notes: Path) -> None:
    async with connect(flags=MEMORY) as client:
        found = await client.call_tool("search_memory", {"query": "Who bought a boat?"})
        assert not found.is_error
        assert "1. boats.md:3-3 (Boats)" in said(found)
        assert "Ana bought a sailing boat." in said(found)
        assert found.structured_content["results"][0]["line_start"] == 3
        assert found.structured_content["index"]["files"] == 1
        (notes / "boats.md").unlink()
        nothing = await client.call_tool("search_memory", {"query": "boat", "top_k": 3})
        assert "Nothing was found in 0 files" in said(nothing)


@pytest.mark.requirement("L28")
async def test_a_secret_that_a_note_holds_is_not_told(connect: Connect, notes: Path, hub: Hub) -> None:
    hub.secrets.redactor.guard("sailing boat")
    async with connect(flags=MEMORY) as client:
        found = await client.call_tool("search_memory", {"query": "Who bought a boat?"})
        assert f"Ana bought a {HIDDEN}." in said(found)
        assert "sailing boat" not in str(found)


async def test_indexing_says_what_was_added_changed_and_removed(connect: Connect, notes: Path) -> None:
    async with connect(flags=MEMORY) as client:
        first = await client.call_tool("index_memory", {})
        assert "Files: 2 added, 0 changed, 0 removed, 0 unchanged." in said(first)
        assert "bad.md: It is no text" in said(first)
        assert first.structured_content["chunks"] == {"added": 1, "removed": 0}
        (notes / "boats.md").write_text("Ana sold it.\n\nAnd bought a kite.\n")
        second = await client.call_tool("index_memory", {})
        assert second.structured_content["files"]["changed"] == 1
        assert second.structured_content["chunks"] == {"added": 2, "removed": 1}


async def test_an_agent_never_reads_the_memory_of_another_project(
    connect: Connect, hub: Hub, notes: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.md").write_text("The boat's key is under the stone.")
    await hub.memory.index(await hub.memory.scope(dir_path=str(other)))
    hub.home.memory.mkdir()
    (hub.home.memory / "shared.md").write_text("A boat wants paint.")
    async with connect(flags=MEMORY) as client:
        found = await client.call_tool("search_memory", {"query": "boat key stone", "top_k": 50})
        paths = {hit["path"] for hit in found.structured_content["results"]}
        assert "secret.md" not in "".join(paths)
        assert {"boats.md", "shared.md"} <= paths
        for arguments in (
            {"query": "boat", "dir_path": str(other)},
            {"query": "boat", "channel_id": "ch_other"},
            {"query": ""},
            {"query": "boat", "top_k": 0},
        ):
            assert (await client.call_tool("search_memory", arguments)).is_error


async def test_without_the_flag_there_is_no_memory(connect: Connect, notes: Path) -> None:
    async with connect() as client:
        result = await client.call_tool("search_memory", {"query": "boat"})
        assert "There is no tool 'search_memory'" in said(result)
