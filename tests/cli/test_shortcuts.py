"""What is answered without the API is answered as the API does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient

from manyhands.api.app import create_app
from manyhands.cli.shortcuts import take_shortcut
from manyhands.errors import ManyhandsError
from manyhands.hub import Hub
from tests.chat.hubs import hub_with

pytestmark = pytest.mark.anyio

RUN = {"prompt": "go", "attachments": [], "model": None, "max_iterations": 2, "allow": ["read_*"]}


async def ask_api(hub: Hub, method: str, path: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {hub.home.token()}"}
    transport = ASGITransport(create_app(hub))
    async with AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
        return (await client.request(method, f"/api{path}", json=body)).json()


async def test_the_channel_of_a_directory_is_the_same_either_way(tmp_path: Path) -> None:
    async with hub_with(tmp_path, "ok") as (hub, _):
        body = {"dir_path": str(tmp_path)}
        quick = await take_shortcut(hub, "POST", "/channels", body)
        assert quick is not None
        assert quick == await ask_api(hub, "POST", "/channels", body)


async def test_a_run_is_started_the_same_either_way(tmp_path: Path) -> None:
    async with hub_with(tmp_path, "ok", "ok") as (hub, _):
        channel = await take_shortcut(hub, "POST", "/channels", {"dir_path": str(tmp_path)})
        assert channel is not None
        path, body = f"/channels/{channel['id']}/runs", {**RUN, "attended": False}
        quick, asked = await take_shortcut(hub, "POST", path, body), await ask_api(hub, "POST", path, body)
        assert quick is not None
        assert quick.keys() == asked.keys()
        first, second = [await hub.runs.get(answer["run_id"]) for answer in (quick, asked)]
        assert first.options == second.options
        assert (first.channel_id, first.author_id) == (second.channel_id, second.author_id)


async def test_what_goes_wrong_is_an_error_of_the_tree(tmp_path: Path) -> None:
    async with hub_with(tmp_path) as (hub, _):
        with pytest.raises(ManyhandsError):
            await take_shortcut(hub, "POST", "/channels/nobody/runs", {**RUN, "attended": False})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/channels", None),
        ("POST", "/channels", {"name": "x"}),
        ("POST", "/channels", {"dir_path": "/", "fresh": True}),
        ("POST", "/channels/x/runs", {"prompt": "go"}),
        ("POST", "/channels/x/runs", {**RUN, "attended": True, "attachments": [{}]}),
        ("POST", "/channels/x/runs", {**RUN, "attended": True, "cost_cap": 1}),
    ],
)
async def test_everything_else_is_left_to_the_api(
    tmp_path: Path, method: str, path: str, body: dict[str, Any] | None
) -> None:
    async with hub_with(tmp_path) as (hub, _):
        assert await take_shortcut(hub, method, path, body) is None
