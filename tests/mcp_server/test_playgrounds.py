"""The tools of playgrounds, through the official SDK's client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from manyhands.access.types import Grant
from manyhands.chat.types import Channel
from manyhands.hub import Hub
from manyhands.mcp_server.playgrounds import MOST_READ
from manyhands.playgrounds.types import Key
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio


async def page(client: Client, action: str, **arguments: Any) -> Any:
    return await client.call_tool("playground", {"action": action, "name": "demo", **arguments})


async def file(client: Client, action: str, **arguments: Any) -> Any:
    return await client.call_tool("playground_file", {"action": action, "name": "demo", **arguments})


@pytest.mark.parametrize("scope", ["global", "project"])
async def test_an_agent_makes_a_page_file_by_file(
    hub: Hub, connect: Connect, channel: Channel, scope: str
) -> None:
    hub.playgrounds.port = 8223
    project = channel.dir_path if scope == "project" else None
    async with connect(author_id="ann") as client:
        made = await page(client, "create", title="Demo", html="<p>1", scope=scope)
        assert made.structured_content["url"] == hub.playgrounds.address(Key("demo", project))
        assert made.structured_content["url"] in said(made)
        path = "lib/utils.js"
        await file(client, "create", path=path, content="export {}", scope=scope)
        again = await file(client, "create", path=path, content="x", scope=scope)
        assert again.is_error
        assert "action update" in said(again)
        await file(client, "update", path=path, content="export { a }", scope=scope)
        assert said(await file(client, "read", path=path, scope=scope)) == "export { a }"
        changed = await page(client, "update", description="About", scope=scope)
        assert changed.structured_content["playground"]["title"] == "Demo"
        listed = await file(client, "list", scope=scope)
        assert "lib/utils.js (12 bytes)" in said(listed)
        assert [one["path"] for one in listed.structured_content["files"]] == ["index.html", path]
        await file(client, "delete", path=path, scope=scope)
        found = await hub.playgrounds.get("demo", project)
        assert (found.manifest.title, found.manifest.description) == ("Demo", "About")
        assert (found.manifest.author_id, [one.path for one in found.files]) == ("ann", ["index.html"])
        await page(client, "delete", scope=scope)
    assert await hub.playgrounds.list_all() == []


async def test_an_agent_reads_what_a_page_wrote_to_its_console(hub: Hub, connect: Connect) -> None:
    await hub.playgrounds.create("demo")
    async with connect() as client:
        assert "nobody has opened the page" in said(await file(client, "read", path="console.log"))
        hub.playgrounds.take_console(Key("demo"), b'[{"level": "error", "text": "x is not defined"}]')
        assert "error: x is not defined" in said(await file(client, "read", path="console.log"))
        assert "1 lines, 1 errors" in said(await file(client, "list"))


async def test_a_long_file_and_one_that_is_no_text_are_read_with_care(hub: Hub, connect: Connect) -> None:
    await hub.playgrounds.create("demo")
    await hub.playgrounds.write_file("demo", "long.txt", "x" * (MOST_READ + 1))
    await hub.playgrounds.write_file("demo", "a.bin", b"\xff")
    async with connect() as client:
        assert said(await file(client, "read", path="long.txt")).endswith("of 100,001 characters.")
        assert said(await file(client, "read", path="a.bin")) == "a.bin is no text (1 bytes)."


async def test_an_agent_sees_global_ones_and_those_of_its_project_alone(
    hub: Hub, connect: Connect, channel: Channel, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    other, _ = await hub.channels.find_or_create(dir_path=str(tmp_path / "elsewhere"))
    await hub.playgrounds.create("everyones")
    await hub.playgrounds.create("mine", channel.dir_path)
    await hub.playgrounds.create("theirs", other.dir_path)
    read = {"action": "read", "path": "index.html", "scope": "project"}
    async with connect() as client:
        listed = await client.call_tool("playground_file", {"action": "list"})
        assert listed.structured_content is not None
        assert [one["name"] for one in listed.structured_content["playgrounds"]] == ["everyones", "mine"]
        assert not (await client.call_tool("playground_file", {**read, "name": "mine"})).is_error
        theirs = await client.call_tool("playground_file", {**read, "name": "theirs"})
        assert theirs.is_error
        assert "There is no project playground 'theirs'" in said(theirs)
        assert "elsewhere" not in said(theirs)
    token = await hub.access.issue(Grant(other.id))
    async with connect(headers={"Authorization": f"Bearer {token}"}) as client:
        assert not (await client.call_tool("playground_file", {**read, "name": "theirs"})).is_error


async def test_what_is_wrong_is_said_and_nothing_is_half_done(hub: Hub, connect: Connect) -> None:
    await hub.playgrounds.create("demo")
    wrong: list[tuple[dict[str, str], str]] = [
        ({"action": "create", "name": "../x"}, "cannot be the name"),
        ({"action": "create", "name": "big", "html": "x" * 10_000_000}, "5,000,000"),
        ({"action": "update", "name": "none", "title": "x"}, "no global playground"),
        ({"action": "update", "name": "demo"}, "nothing to update"),
        ({"action": "create", "name": "demo"}, "already"),
        ({"action": "paint", "name": "demo"}, "paint"),
        ({"action": "create", "name": "x", "colour": "red"}, "colour"),
    ]
    async with connect() as client:
        for arguments, says in wrong:
            result = await client.call_tool("playground", arguments)
            assert result.is_error
            assert says in said(result)
    assert [one.key.name for one in await hub.playgrounds.list()] == ["demo"]


async def test_a_wrong_call_about_a_file_says_what_to_do(hub: Hub, connect: Connect) -> None:
    await hub.playgrounds.create("demo")
    wrong: list[tuple[str, dict[str, str], str]] = [
        ("read", {}, "needs a path"),
        ("create", {"path": "a.js"}, "needs content"),
        ("create", {"path": "../a.js", "content": ""}, "cannot be the path"),
        ("read", {"path": "a/../../b"}, "cannot be the path"),
        ("create", {"path": "/a.js", "content": ""}, "absolute"),
        ("create", {"path": "a\0b", "content": ""}, "control characters"),
        ("create", {"path": "a.js", "content": "x" * 10_000_000}, "5,000,000"),
        ("update", {"path": "a.js", "content": "x"}, "action create"),
        ("delete", {"path": "index.html"}, "whole playground"),
    ]
    async with connect() as client:
        for action, arguments, says in wrong:
            result = await file(client, action, **arguments)
            assert result.is_error
            assert says in said(result)
        nameless = await client.call_tool("playground_file", {"action": "read", "path": "x"})
        assert "needs a name" in said(nameless)
    assert [one.path for one in await hub.playgrounds.list_files("demo")] == ["index.html"]
