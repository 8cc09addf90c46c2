"""Bad servers and bad files, one after the other, each beside a good server: what is wrong is told with names
and advice, the good one works on, and nothing that was stored is lost.

Each kind is looked at more closely elsewhere: floods, frames, encodings in `servers/transports`, handshakes
in `servers/test_owner.py`, definitions and names in `servers/test_schemas.py` and `servers/test_naming.py`,
files in `servers/test_config_files.py`.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.servers.views import Outcome
from manyhands.tools.types import CallRecord
from tests.real.servers import from_npm
from tests.real.watching import Watched, text, watched_hub

pytestmark = pytest.mark.anyio

ODD = Path(__file__).parents[1] / "servers" / "fixtures" / "odd_server.py"
BANNER = "print('Welcome!', flush=True)\nimport sys\nfor line in sys.stdin: print('What?', flush=True)"
OBJECT = {"type": "object"}
TOOLS = ("echo", "large", "raw", "pour", "hang", "die")


@asynccontextmanager
async def beside_a_good_one(tmp_path: Path) -> AsyncIterator[Watched]:
    """A hub with a good server, which works afterwards too; what was stored is there when it opens again."""
    good = from_npm("memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    async with watched_hub(tmp_path / "home") as hub:
        await hub.add("good", **good)
        text(await hub.call("good", "read_graph"))
        yield hub
        text(await hub.call("good", "read_graph"))
        before = await stored(hub)
    async with watched_hub(tmp_path / "home") as again:
        assert await stored(again) == before


async def stored(hub: Watched) -> tuple[list[str], list[CallRecord], list[str]]:
    servers = [view.server.config.name for view in await hub.hub.servers.list()]
    calls = await hub.hub.tools.calls()
    tools = [listing.definition.full_name for listing in await hub.hub.list_all_tools()]
    return servers, list(calls.items), tools


def odd(*flags: str, **config: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(ODD), *flags], "trust": "trusted", **config}


async def add_odd(hub: Watched, tmp_path: Path, *tools: Any, **config: Any) -> Outcome:
    """The odd server, which lists these tools, or those that misbehave."""
    listing = tmp_path / "listing.json"
    offered = tools or [{"name": name, "inputSchema": OBJECT} for name in TOOLS]
    listing.write_text(json.dumps({"tools": offered}))
    outcome = await hub.hub.add_server("odd", **odd("--listing", str(listing), **config))
    assert outcome.ok, outcome.error
    return outcome


def told(error: str | None, *parts: str) -> None:
    """That each of these is in the error."""
    missing = [part for part in parts if part not in (error or "")]
    assert not missing, f"{missing} not in {error!r}"


def raw(answer: bytes) -> str:
    return base64.b64encode(answer + b"\n").decode()


# --- servers that do not come up


async def test_a_server_that_never_answers(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        outcome = await hub.hub.add_server("mute", **odd("--silent", connect_timeout=1_000))
        told(
            outcome.error, "'mute'", "did not answer within 1 s", str(ODD), "edit mute --connect-timeout 4000"
        )
        failed = await hub.call("mute", "echo")
        told(failed.error, "mcp__mute__echo", "server mute", "servers reconnect mute")


async def test_a_call_that_is_never_answered(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path, tool_timeout=300)
        record = await hub.call("odd", "hang")
        assert record.status == "timeout"
        assert (record.error or "").splitlines()[0] == "Tool execution timed out after 300ms"
        told(record.error, "'hang'", "'odd'", "Ask for less")
        assert text(await hub.call("odd", "echo", text="still here")) == "still here"


async def test_a_server_that_dies_in_the_handshake(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        outcome = await hub.hub.add_server("frail", **odd("--dies"))
        told(outcome.error, "'frail'", "exit code 3", "cannot find my configuration", "servers log frail")
        assert outcome.view.wire()["exit_code"] == 3


async def test_a_server_that_dies_in_a_call(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path)
        record = await hub.call("odd", "die", code=7)
        told(record.error, "'die'", "'odd'", "ended or hung up", "servers log odd")
        assert text(await hub.call("odd", "echo", text="back")) == "back"


async def test_a_server_that_prints_garbage(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        outcome = await hub.hub.add_server(
            "chatty", command=sys.executable, args=["-c", BANNER], connect_timeout=1_000
        )
        told(outcome.error, "'chatty'", "not MCP messages", "Welcome!", "logs belong on stderr")
        await add_odd(hub, tmp_path)
        for garbage in (b"Welcome!", b"{", b"[]", b'{"id": ID}', b"\x00\x01"):
            assert text(await hub.call("odd", "raw", bytes=raw(garbage), answer=True)) == "after"


# --- answers


async def test_an_answer_that_is_none(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path)
        for result in (b"[1]", b'{"content": 5}', b'{"content": [{"type": "image"}]}'):
            answer = b'{"jsonrpc": "2.0", "id": ID, "result": ' + result + b"}"
            record = await hub.call("odd", "raw", bytes=raw(answer))
            told(record.error, "'raw'", "'odd'", "The fault is the server's")


async def test_an_error_with_the_code_that_the_sdk_gives_to_a_closed_connection(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path)
        answer = b'{"jsonrpc": "2.0", "id": ID, "error": {"code": -32000, "message": "over quota"}}'
        told((await hub.call("odd", "raw", bytes=raw(answer))).error, "'raw'", "'odd'", "over quota")
        (view,) = [view for view in await hub.hub.servers.list() if view.server.config.name == "odd"]
        assert (view.wire()["status"], view.wire()["restarts"]) == ("connected", 0)


@pytest.mark.requirement("L08")
async def test_a_server_that_prints_100_megabytes(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path)
        record = await hub.call("odd", "large", size=100_000_000)
        told(record.error, "'large'", "'odd'", "67108864 bytes", "Ask for less")
        piece = base64.b64encode(b"x" * 1000).decode()
        record = await hub.call("odd", "pour", stream="stdout", piece=piece, size=100_000_000)
        assert text(record) == "poured"
        assert text(await hub.call("odd", "echo", text="still here")) == "still here"


async def test_invalid_utf8(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        await add_odd(hub, tmp_path)
        answer = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\xe9 \\ud800"}]}}'
        record = await hub.call("odd", "raw", bytes=raw(answer))
        assert text(record).startswith("caf�")
        assert (await hub.hub.tools.get_call(record.id)).result == record.result


# --- lists


async def test_ten_thousand_tools(tmp_path: Path) -> None:
    async with beside_a_good_one(tmp_path) as hub:
        many = [{"name": f"t{n}", "inputSchema": OBJECT} for n in range(10_000)]
        outcome = await add_odd(hub, tmp_path, *many, {"name": "echo", "inputSchema": OBJECT})
        assert outcome.view.tool_count == 10_001
        assert text(await hub.call("odd", "echo", text="found")) == "found"


@pytest.mark.requirement("L18")
async def test_invalid_schemas(tmp_path: Path) -> None:
    schemas: list[Any] = [None, 5, [], {"type": "string"}, {"type": "object", "properties": {"a": 7}}]
    async with beside_a_good_one(tmp_path) as hub:
        bad = [{"name": f"bad{n}", "inputSchema": schema} for n, schema in enumerate(schemas)]
        outcome = await add_odd(hub, tmp_path, *bad, {}, "tool", {"name": "echo", "inputSchema": OBJECT})
        assert text(await hub.call("odd", "echo", text="found")) == "found"
        repaired = {repair["item"] for repair in outcome.view.wire()["repairs"]}
        assert {f"tool bad{n}" for n in range(len(schemas))} <= repaired
        for listing in await hub.hub.servers.tools(outcome.view.server.id):
            assert listing.definition.input_schema.get("type") == ("object" if listing.offered else None)


@pytest.mark.requirement("L18")
async def test_a_name_of_200_characters_and_two_that_differ_only_in_case(tmp_path: Path) -> None:
    names = ["large" + "x" * 195, "Echo", "echo"]
    async with beside_a_good_one(tmp_path) as hub:
        tools = [{"name": name, "inputSchema": OBJECT} for name in names]
        outcome = await add_odd(hub, tmp_path, *tools)
        listed = await hub.hub.servers.tools(outcome.view.server.id)
        full = {listing.definition.name: listing.definition.full_name for listing in listed}
        assert len({name.lower() for name in full.values()}) == 3
        assert all(len(name) <= 64 for name in full.values())
        for name in ("Echo", names[0]):  # the odd server has neither; it says so by the whole name
            record = await hub.hub.call_tool(full[name], {})
            assert record.error == f"no tool {name}"
        assert text(await hub.call("odd", "echo", text="lower")) == "lower"


# --- files


@pytest.mark.requirement("L29")
async def test_a_config_file_with_the_wrong_top_key(tmp_path: Path) -> None:
    entry = {"mcpServer": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_text(json.dumps(entry))
    async with beside_a_good_one(tmp_path) as hub:
        with pytest.raises(InvalidError) as refused:
            await hub.hub.servers.import_json(json.dumps(entry), "desktop.json")
        told(str(refused.value), "desktop.json", "'mcpServer'", "Rename 'mcpServer' to 'mcpServers'")
        problem = await hub.hub.servers.sync_project(str(project))
        told(problem, str(project / ".mcp.json"), "'mcpServer'", "'mcpServers'")
