"""The tools of channels, threads and messages, through the endpoint."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.mcp_server.conftest import Connect, said

pytestmark = pytest.mark.anyio


async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
    """The structured content of a call that goes well."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    assert said(result)
    return result.structured_content


@pytest.mark.requirement("L26")
async def test_a_message_is_recorded_under_the_author_and_as_an_agents(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    async with connect(author_id="ann") as client:
        sent = await call(client, "send_message", content="the tests pass")
    assert sent == {"message_id": sent["message_id"], "channel_id": channel.id, "run_id": None}
    message = (await hub.runs.messages(channel.id)).items[0]
    assert (message.id, message.content) == (sent["message_id"], "the tests pass")
    assert (message.author_id, message.speaker) == ("ann", "agent")


async def test_a_message_goes_to_a_thread_of_the_project_and_not_elsewhere(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    thread = await hub.threads.create(channel.id, "a thread")
    other = await hub.channels.create("other")
    async with connect() as client:
        sent = await call(client, "send_message", content="hello", channel_id=thread.id)
        assert sent["channel_id"] == thread.id
        refused = await client.call_tool("send_message", {"content": "hello", "channel_id": other.id})
    assert refused.is_error
    assert (await hub.runs.messages(other.id)).items == []


async def test_a_mention_in_the_own_channel_starts_a_run_unless_the_agent_does_one_there(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    mention = {"content": "@manyhands go on"}
    async with connect(flags=frozenset({"run"})) as client:
        result = await client.call_tool("send_message", mention)
        assert "It started no run" in said(result)
    async with connect() as client:
        sent = await call(client, "send_message", **mention)
    [run] = (await hub.runs.list(channel.id)).items
    assert (run.id, run.options.speaker, run.options.depth) == (sent["run_id"], "agent", 1)
    await hub.runs.cancel(run.id)


async def test_an_agent_can_speak_in_the_channel_that_it_made(connect: Connect, hub: Hub) -> None:
    async with connect() as client:
        made = await call(client, "create_channel", name="reviews")
        again = await call(client, "create_channel", name="reviews")
        assert made["channel"]["name"] == "reviews"
        assert again["channel"]["id"] != made["channel"]["id"]
        await call(client, "send_message", content="hello", channel_id=made["channel"]["id"])
        found = await call(client, "search_channels", query="REVIEWS")
    assert {one["id"] for one in found["channels"]} == {made["channel"]["id"], again["channel"]["id"]}


async def test_a_thread_is_made_below_the_own_channel_and_deleted(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    async with connect() as client:
        made = await call(client, "create_thread", name="look into it")
        thread = made["thread"]
        assert (thread["parent_id"], thread["dir_path"]) == (channel.id, channel.dir_path)
        assert made["started"] is False
        gone = await call(client, "delete_thread", thread_id=thread["id"])
        assert gone == {"deleted": True, "would_lose": []}
        again = await client.call_tool("delete_thread", {"thread_id": thread["id"]})
        assert again.is_error
        itself = await client.call_tool("delete_thread", {"thread_id": channel.id})
    assert itself.is_error
    assert "not a thread" in said(itself)
    assert (await hub.channels.get(channel.id)).id == channel.id


@pytest.mark.requirement("L35")
async def test_a_worktree_with_work_is_kept_until_it_is_told_to_go(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    assert channel.dir_path is not None
    repository(Path(channel.dir_path))
    async with connect() as client:
        wrong = await client.call_tool("create_worktree_thread", {"branch": "nowhere", "name": "x"})
        assert wrong.is_error
        made = await call(client, "create_worktree_thread", branch="main", name="try it")
        worktree = made["thread"]["worktree"]
        (Path(worktree) / "new.txt").write_text("work")
        kept = await call(client, "delete_thread", thread_id=made["thread"]["id"])
        assert kept["deleted"] is False
        assert any("new.txt" in one for one in kept["would_lose"])
        assert (Path(worktree) / "new.txt").exists()
        gone = await call(client, "delete_thread", thread_id=made["thread"]["id"], force=True)
    assert gone["deleted"] is True
    assert not await anyio.Path(worktree).exists()


HUGE = "x" * 10_000_000
LONG = "x" * 100_000
BAD_CALLS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("create_worktree_thread", {"branch": "main", "name": "x"}, "git init"),
    ("create_worktree_thread", {"branch": "main", "name": "../x"}, "without ../"),
    ("create_thread", {"name": "../x"}, "without ../"),
    ("create_channel", {"name": "a/../x"}, "without ../"),
    ("create_channel", {"name": LONG}, "too long"),
    ("create_thread", {"name": "x", "message": 11 * LONG}, "attach a file"),
    ("send_message", {"content": HUGE}, "attach a file"),
    ("send_message", {"content": "x", "channel_id": LONG}, "search_channels"),
    ("search_channels", {"query": LONG}, "at most 1,000"),
)


async def test_bad_input_is_told_what_to_do_in_a_few_words_and_nothing_is_half_done(
    connect: Connect, hub: Hub, channel: Channel
) -> None:
    async with connect() as client:
        for tool, arguments, advice in BAD_CALLS:
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error, tool
            assert advice in said(refused), (tool, said(refused)[-200:])
            assert len(said(refused)) < 5000
        found = await call(client, "search_channels")
    assert [one["id"] for one in found["channels"]] == [channel.id]
    assert (await hub.runs.messages(channel.id)).items == []


async def test_the_readme_explains_set_up_configuration_commands_and_architecture(connect: Connect) -> None:
    async with connect() as client:
        readme = (await call(client, "get_readme"))["readme"]
    for part in ("manyhands up", "MANYHANDS_HOME", "| Commands |", "| Architecture |"):
        assert part in readme


def repository(directory: Path) -> None:
    """A git repository with one commit on `main`."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(directory), *words], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (directory / "README").write_text("x")
    git("add", ".")
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first")
