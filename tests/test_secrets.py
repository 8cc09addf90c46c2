"""A secret that a server was given is told to nobody, whatever the server says, and is stored nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from manyhands import Hub
from manyhands.events import Event
from manyhands.secrets import HIDDEN
from manyhands.servers.types import ServerConfig
from manyhands.testing.scripted import calls
from manyhands.tools.types import CallContext
from tests.chat.hubs import channel_of, hub_with

SERVER = Path(__file__).parent / "servers" / "fixtures" / "gossip_server.py"
SECRET = "plain-words-of-mine"
PLACE = "/srv/where/things/are"


def gossip(**env: str) -> ServerConfig:
    given = {"GOSSIP_TOKEN": SECRET, **env}
    return ServerConfig("gossip", command=sys.executable, args=(str(SERVER),), env=given, trust="full")


def stored(home: Path) -> list[str]:
    """The files of a home in which the secret can be read; an encrypted one is none of them."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.requirement("L28")
async def test_a_servers_secret_reaches_no_model_and_no_file(tmp_path: Path) -> None:
    tools = ("tell", "fail", "refuse", "much", "watch", "ask")
    asked = calls(*((f"mcp__gossip__{name}", {}) for name in tools))
    async with hub_with(tmp_path, asked, lambda request: repr(request.turns)) as (hub, model):
        await hub.servers.save(gossip(GOSSIP_PLACE=PLACE))
        events = await run_answering(hub, await channel_of(hub, tmp_path))
        what_the_model_got = repr(model.requests)
        assert SECRET not in repr(events)
        assert SECRET not in what_the_model_got
        # Where something is, is no secret.
        assert what_the_model_got.count(f"token {HIDDEN} of {PLACE}") >= len(tools)
        assert {"tool.progress", "approval.requested"} <= {event.type for event in events}
    assert stored(tmp_path / "home") == []


@pytest.mark.requirement("L28")
async def test_whoever_asks_a_server_does_not_get_its_secret(tmp_path: Path) -> None:
    async with hub_with(tmp_path) as (hub, _):
        server_id = (await hub.servers.save(gossip())).view.server.id
        record = await hub.tools.call("mcp__gossip__tell", {}, CallContext(direct=True))
        page = await hub.tools.call("mcp__gossip__much", {}, CallContext(direct=True))
        assert record.structured_content == {"said": [f"token {HIDDEN} of "], f"token {HIDDEN} of ": 1}
        said = [
            record,
            await hub.tools.result_page(page.id, 0, 1000),
            await hub.servers.get(server_id),
            await hub.servers.listings(None),
            await hub.servers.prompts(server_id),
            await hub.servers.get_prompt(server_id, "hello"),
            await hub.servers.resources(server_id),
            await hub.servers.read_resource(server_id, "gossip://it"),
            await hub.servers.complete(server_id, "prompt", "hello", {"name": "a", "value": ""}),
        ]
        assert [part for part in said if SECRET in repr(part)] == []
        assert all(HIDDEN in repr(part) for part in said)


@pytest.mark.requirement("L28")
async def test_files_are_read_without_secrets_and_not_overwritten_by_what_stands_for_them(
    tmp_path: Path,
) -> None:
    file = tmp_path / "settings.env"
    file.write_text(f"GOSSIP_TOKEN={SECRET}\nPLACE={PLACE}\n")
    async with hub_with(tmp_path) as (hub, _):
        await hub.servers.save(gossip(GOSSIP_PLACE=PLACE))
        context = CallContext(channel_id=await channel_of(hub, tmp_path), direct=True)
        read = await hub.tools.call("read_file", {"path": file.name}, context)
        assert f"GOSSIP_TOKEN={HIDDEN}" in (read.result or "")
        assert PLACE in (read.result or "")
        back = {"path": file.name, "content": f"GOSSIP_TOKEN={HIDDEN}\nPLACE=/elsewhere\n"}
        written = await hub.tools.call("write_file", back, context)
        assert (written.status.value, written.code) == ("error", "invalid_arguments")
        assert "would destroy the secret" in (written.error or "")
        assert file.read_text().startswith(f"GOSSIP_TOKEN={SECRET}\n")
        found = await hub.tools.call("search_files", {"pattern": re.escape(HIDDEN)}, context)
        assert found.status.value == "success"  # to look for it harms nobody


async def run_answering(hub: Hub, channel_id: str) -> list[Event]:
    """Run, saying yes to whatever is asked."""
    events = []
    async for event in hub.run("Gossip.", channel_id=channel_id):
        events.append(event)
        if event.type == "approval.requested":
            await hub.approvals.answer(event.data["id"], True, response={"a": "b"})
    return events
