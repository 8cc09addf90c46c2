"""A hub with its app on a real socket, and the official SDK's client to its MCP endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from manyhands.access.types import Grant
from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.api.conftest import Served, app, hub, no_keyring, served

__all__ = ["app", "hub", "no_keyring", "served"]

Mode = Literal["legacy", "2026-07-28"]
Connect = Callable[..., AbstractAsyncContextManager[Client]]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")


@pytest.fixture
async def channel(hub: Hub, tmp_path: Path) -> Channel:
    directory = tmp_path / "project"
    directory.mkdir()
    return (await hub.channels.find_or_create(dir_path=str(directory)))[0]


@pytest.fixture
def connect(hub: Hub, served: Served, channel: Channel) -> Connect:
    """Speak to `/mcp` with a token of the channel, or with given headers."""

    @asynccontextmanager
    async def open_client(
        mode: Mode = "2026-07-28",
        headers: dict[str, str] | None = None,
        message_handler: Any = None,
        **grant: Any,
    ) -> AsyncIterator[Client]:
        if headers is None:
            token = await hub.access.issue(Grant(**{"channel_id": channel.id, **grant}))
            headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
            async with Client(transport, mode=mode, message_handler=message_handler) as client:
                yield client

    return open_client


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def said(result: Any) -> str:
    """The text of a tool's result."""
    return "\n".join(block.text for block in result.content)
