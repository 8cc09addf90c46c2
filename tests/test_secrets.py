"""A secret that a server was given is told to nobody, whatever the server says, and is stored nowhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from manyhands import Hub
from manyhands.events import Event
from manyhands.memory.types import Query
from manyhands.secrets import HIDDEN
from manyhands.servers.types import ServerConfig
from manyhands.settings import Settings
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


@pytest.mark.requirement("L28")
async def test_a_projects_own_texts_are_told_without_secrets(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text(f"Always use {SECRET}.")
    async with hub_with(tmp_path, "Yes.") as (hub, model):
        hub.secrets.redactor.guard(SECRET)
        channel_id = await channel_of(hub, tmp_path)
        async for _ in hub.run("Hello.", channel_id=channel_id):
            pass
        scope = await hub.memory.scope(dir_path=str(tmp_path))
        await hub.memory.index(scope)
        found = await hub.memory.search(scope, Query("Always use"))
        assert f"Always use {HIDDEN}." in model.requests[0].system
        assert [hit.text for hit in found.hits] == [f"Always use {HIDDEN}."]
    assert stored(tmp_path / "home") == []


@pytest.mark.requirement("L28")
async def test_what_is_cut_is_cut_after_secrets_were_hidden(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * (Settings().result_limit_chars - 510) + SECRET + "y" * 9999)
    (tmp_path / "wide.txt").write_text("x" * 1000 + SECRET + "w" * 89 + "HERE" + "y" * 999)
    command = f"printf {SECRET[:9]}; sleep 0.2; printf {SECRET[9:]}; sleep 0.2; printf {SECRET[:12]}"
    async with hub_with(tmp_path) as (hub, _):
        hub.secrets.redactor.guard(SECRET)
        context = CallContext(channel_id=await channel_of(hub, tmp_path), direct=True)
        async with hub.bus.subscribe() as events:
            read = await hub.tools.call("read_file", {"path": "long.txt"}, context)
            assert SECRET[:6] not in (read.result or "")
            found = await hub.tools.call("search_files", {"pattern": "HERE"}, context)
            assert f"…{HIDDEN}wwww" in (found.result or "")
            ran = await hub.tools.call("run_command", {"command": command}, context)
            assert (ran.result or "").startswith(f"{HIDDEN}{HIDDEN}\n")
            told = []
            async for event in events:
                told.append(event.data.get("message") or "")
                if event.type == "tool.finished" and event.data["id"] == ran.id:
                    break
        assert "".join(told) == HIDDEN * 2


async def test_the_password_of_an_address_is_a_secret(tmp_path: Path) -> None:
    async with hub_with(tmp_path) as (hub, _):
        url = "http://me:pass-word@127.0.0.1:9/mcp?api_key=k3y-one"
        await hub.servers.save(ServerConfig("web", transport="http", url=url))
        assert hub.secrets.redactor.hide("pass-word k3y-one /mcp") == f"{HIDDEN} {HIDDEN} /mcp"


async def run_answering(hub: Hub, channel_id: str) -> list[Event]:
    """Run, saying yes to whatever is asked."""
    events = []
    async for event in hub.run("Gossip.", channel_id=channel_id):
        events.append(event)
        if event.type == "approval.requested":
            await hub.approvals.answer(event.data["id"], True, response={"a": "b"})
    return events
