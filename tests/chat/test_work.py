"""A run begins with what there is, after a moment for servers that are on their way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from manyhands import Hub
from tests.chat.hubs import channel_of, events_of, hub_with
from tests.chat.test_hands import SHELF_SERVER, offered, tool

pytestmark = pytest.mark.anyio


async def add_slow_server(hub: Hub, tmp_path: Path, start_s: float) -> None:
    shelf = tmp_path / "shelf.json"
    shelf.write_text(json.dumps({"tools": [tool("paint")], "start_s": start_s}))
    await hub.add_server("slow", command=sys.executable, args=[SHELF_SERVER, str(shelf)], wait=False)


async def test_the_first_iteration_waits_for_servers_that_are_connecting_and_says_so(
    tmp_path: Path, project: Path
) -> None:
    async with hub_with(tmp_path, "ok") as (hub, model):
        await add_slow_server(hub, tmp_path, 0.3)
        events = await events_of(hub, await channel_of(hub, project), "go")
    [notice] = [event.data["text"] for event in events if event.type == "run.notice"]
    assert notice == "Waiting for slow to connect, 10 s at most."
    assert "mcp__slow__paint" in offered(model.requests[0])


async def test_a_server_that_takes_too_long_is_not_waited_for(tmp_path: Path, project: Path) -> None:
    async with hub_with(tmp_path, "ok") as (hub, model):
        await hub.settings.patch({"first_iteration_wait_s": 0.05})
        await add_slow_server(hub, tmp_path, 600)
        events = await events_of(hub, await channel_of(hub, project), "go")
    notices = [event.data["text"] for event in events if event.type == "run.notice"]
    assert notices[-1] == "Starting without slow: still connecting."
    assert "mcp__slow__paint" not in offered(model.requests[0])
    assert events[-1].data["status"] == "completed"


async def test_the_model_is_made_ready_before_it_is_asked(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_before = []

    async def warm(models: object, wanted: str | None = None) -> None:
        asked_before.append(len(model.requests))

    monkeypatch.setattr("manyhands.hub_parts.OneModel.warm", warm)
    async with hub_with(tmp_path, "ok") as (hub, model):
        await events_of(hub, await channel_of(hub, project), "go")
    assert asked_before == [0]
