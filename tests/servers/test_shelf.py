"""One channel sees the tools of its servers under names that lead back to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manyhands.servers.types import ServerConfig
from manyhands.settings import Settings
from manyhands.tools.types import ToolChanged
from tests.servers.hubs import bench, shelf, tool

pytestmark = pytest.mark.anyio


async def test_the_setting_decides_which_form_of_a_name_is_shown_and_both_are_understood(
    tmp_path: Path,
) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path, settings=Settings(tool_namespace="id")) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        assert await hub.names() == [f"mcp__{server_id}__find"]
        for name in (f"mcp__{server_id}__find", "mcp__books__find"):
            listing = await hub.service.listing(name, None)
            assert listing is not None
            assert listing.definition.full_name == f"mcp__{server_id}__find"
        hub.settings.current = Settings(tool_namespace="name")
        assert await hub.names() == ["mcp__books__find"]


async def test_a_name_that_was_cut_before_its_separator_still_finds_its_server(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    long = "a-server-with-a-name-that-fills-all-of-the-sixty-four-characters-alone"
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("other"))
        await hub.service.save(books.config(long))
        name = (await hub.names())[1]
        assert len(name) == 64
        assert "__find" not in name
        found = await hub.service.listing(name, None)
        assert found is not None
        assert found.definition.server == long
        assert (await hub.call(name)).text == "find {}"


@pytest.mark.requirement("L25")
@pytest.mark.parametrize("now", [[tool("find", "Finds it and mails it.")], [tool("lose")]])
async def test_a_tool_that_is_another_one_once_its_server_is_connected_is_not_called(
    tmp_path: Path, now: list[dict[str, Any]]
) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
    books.put(*now)
    async with bench(tmp_path, connect=False) as hub:
        with pytest.raises(ToolChanged):
            await hub.call("mcp__books__find")
        listing = await hub.listing("mcp__books__find")
        assert listing is None or listing.changed


async def test_what_leads_nowhere_is_nothing(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
        for name in ("mcp__books__lose", "mcp__films__find", "mcp__99__find", "find", "mcp__", ""):
            assert await hub.service.listing(name, None) is None
            assert await hub.tool(name, None) is None


@pytest.mark.requirement("L18")
@pytest.mark.requirement("L21")
async def test_a_hopeless_tool_is_explained_and_hides_no_other(tmp_path: Path) -> None:
    huge = tool("huge", "x" * 600_000)
    books = shelf(tmp_path, "books", huge, tool("find"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
        assert await hub.names() == ["mcp__books__find"]
        listing = await hub.service.listing("mcp__books__huge", None)
        assert listing is not None
        assert not listing.offered
        assert "left out of what server books lists: its definition has" in listing.reason
        assert await hub.tool("mcp__books__huge", None) is None


@pytest.mark.requirement("L21")
async def test_the_tools_of_one_server_are_listed_with_their_reasons(tmp_path: Path) -> None:
    books = shelf(tmp_path, "books", tool("find"), tool("lend"))
    async with bench(tmp_path) as hub:
        server_id = (await hub.service.save(books.config("books"))).view.server.id
        await hub.service.set_preference(server_id, "lend", enabled=False)
        await hub.service.disconnect(server_id)
        reasons = {item.definition.name: item.reason for item in await hub.service.tools(server_id)}
        assert reasons == {
            "find": "server books was disconnected by hand; run `manyhands servers connect books`",
            "lend": "switched off; run `manyhands tools enable mcp__books__lend`",
        }


@pytest.mark.requirement("L21")
async def test_a_tool_of_a_server_that_never_told_its_tools_says_why(tmp_path: Path) -> None:
    async with bench(tmp_path) as hub:
        outcome = await hub.service.save(ServerConfig("books", command="no-such-command-anywhere"))
        for name in ("mcp__books__find", f"mcp__{outcome.view.server.id}__find"):
            listing = await hub.service.listing(name, None)
            assert listing is not None
            assert not listing.offered
            assert "no-such-command-anywhere was not found" in listing.reason
            assert "servers reconnect books" in listing.reason
            assert await hub.tool(name, None) is None


@pytest.mark.requirement("L21")
async def test_a_tool_that_runs_only_as_a_task_is_not_offered(tmp_path: Path) -> None:
    tasks = [tool(kind, execution={"taskSupport": kind}) for kind in ("required", "optional", "forbidden")]
    books = shelf(tmp_path, "books", *tasks, tool("odd", execution="later"))
    async with bench(tmp_path) as hub:
        await hub.service.save(books.config("books"))
        assert await hub.names() == ["mcp__books__optional", "mcp__books__forbidden", "mcp__books__odd"]
        listing = await hub.service.listing("mcp__books__required", None)
        assert listing is not None
        assert "only as a task" in listing.reason
