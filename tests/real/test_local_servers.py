"""The reference servers from npm and PyPI on stdio: each is connected, listed and called."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.real.servers import from_npm, from_pypi
from tests.real.watching import Watched, text, watched_hub

pytestmark = pytest.mark.anyio

# Plain text: for HTML this server would install more packages from npm on its first use.
PAGE = b"The ships leave at noon."


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Watched]:
    async with watched_hub(tmp_path / "home") as watched:
        yield watched


async def tools_of(hub: Watched, server: str) -> set[str]:
    listings = await hub.hub.list_all_tools()
    return {one.definition.name for one in listings if one.definition.server == server and one.offered}


async def test_the_time_server_speaks_the_newest_revision_and_tells_the_time(hub: Watched) -> None:
    time = await hub.add("time", **from_pypi("time"))
    assert (await hub.hub.servers.get(time)).catalogue.protocol == "2026-07-28"
    assert await tools_of(hub, "time") == {"get_current_time", "convert_time"}
    assert "+09:00" in text(await hub.call("time", "get_current_time", timezone="Asia/Tokyo"))
    refused = await hub.call("time", "get_current_time", timezone="Nowhere/Land")
    assert (refused.status, refused.is_error) == ("error", True)
    assert "Nowhere/Land" in (refused.error or "")


def new_repository(directory: Path) -> Path:
    repository = directory / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    for name, value in {"user.name": "Ada", "user.email": "ada@example.org"}.items():
        subprocess.run(["git", "-C", str(repository), "config", name, value], check=True)
    return repository


async def test_the_git_server_reads_and_changes_a_repository(hub: Watched, tmp_path: Path) -> None:
    repository = new_repository(tmp_path)
    (repository / "sea.txt").write_text("blue\n")
    await hub.add("git", **from_pypi("git", "--repository", str(repository)))
    path = str(repository)
    assert "sea.txt" in text(await hub.call("git", "git_status", repo_path=path))
    text(await hub.call("git", "git_add", repo_path=path, files=["sea.txt"]))
    text(await hub.call("git", "git_commit", repo_path=path, message="Paint the sea"))
    assert "Paint the sea" in text(await hub.call("git", "git_log", repo_path=path))
    outside = await hub.call("git", "git_status", repo_path=str(tmp_path))
    assert "outside the allowed repository" in (outside.error or "")


async def test_the_fetch_server_reads_a_page_and_offers_its_prompt(hub: Watched) -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}/harbour"

    async def answer(stream: SocketStream) -> None:
        async with stream:
            asked = (await stream.receive()).split(b" ")[1]
            status, body = (b"404 Not Found", b"") if asked == b"/robots.txt" else (b"200 OK", PAGE)
            head = (
                b"HTTP/1.1 %b\r\ncontent-type: text/plain\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            )
            await stream.send(head % (status, len(body)) + body)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        config = from_pypi("fetch", "--allow-private-ips", env={"NO_PROXY": "127.0.0.1"})
        fetch = await hub.add("fetch", **config)
        assert [one["command"] for one in await hub.hub.servers.prompts(fetch)] == ["/fetch:fetch"]
        assert "The ships leave at noon." in text(await hub.call("fetch", "fetch", url=url))
        prompt = await hub.hub.servers.get_prompt(fetch, "fetch", {"url": url})
        assert "The ships leave at noon." in prompt["messages"][0]["content"]["text"]
        tasks.cancel_scope.cancel()
    await listener.aclose()


async def test_the_memory_server_remembers_across_a_reconnect(hub: Watched, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    await hub.add("memory", **from_npm("memory", env={"MEMORY_FILE_PATH": str(file)}))
    ada = {"name": "Ada", "entityType": "person", "observations": ["likes the sea"]}
    made = await hub.call("memory", "create_entities", entities=[ada])
    assert (made.structured_content, text(made) != "") == ({"entities": [ada]}, True)
    await hub.hub.servers.reconnect(await hub.id_of("memory"))
    found = await hub.call("memory", "search_nodes", query="Ada")
    assert found.structured_content["entities"] == [ada]
    graph = await hub.hub.servers.read_resource(await hub.id_of("memory"), "memory://knowledge-graph")
    assert "likes the sea" in graph["contents"][0]["text"]


async def test_all_of_them_connect_side_by_side_and_are_there_again_after_a_restart(tmp_path: Path) -> None:
    configs = {name: from_npm(name) for name in ("everything", "filesystem")}
    configs["memory"] = from_npm("memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    configs["time"] = from_pypi("time")
    async with watched_hub(tmp_path / "home") as first:
        for name, config in configs.items():
            await first.hub.add_server(name, wait=False, **config)
        for name in configs:
            await first.event("mcp.status", name=name, status="connected")
        before = {one.definition.full_name for one in await first.hub.list_all_tools()}
    async with watched_hub(tmp_path / "home") as again:
        listed = await again.hub.list_all_tools()
        assert {one.definition.full_name for one in listed} == before
        assert not [one for one in listed if one.definition.server_id and one.offered]
        outcomes = await again.hub.connect_all()
        assert [outcome.error for outcome in outcomes] == [None] * len(configs)
        assert "Kyoto" in text(await again.call("everything", "echo", message="Kyoto"))
