"""The tools of quality, through the official SDK's client."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from manyhands.chat.types import Channel
from manyhands.hub import Hub
from tests.mcp_server.conftest import Connect, said
from tests.quality.projects import SHOP, write

pytestmark = pytest.mark.anyio


async def test_an_agent_scans_and_reads_what_was_found(hub: Hub, connect: Connect, channel: Channel) -> None:
    assert channel.dir_path is not None
    write(Path(channel.dir_path), SHOP)
    async with connect() as client:
        for tool in ("quality_snapshot", "quality_complexity", "quality_clones"):
            nothing = await client.call_tool(tool, {})
            assert nothing.is_error
            assert "quality_scan" in said(nothing)
        with anyio.fail_after(60):
            async with hub.bus.subscribe() as events:
                started = await client.call_tool("quality_scan", {})
                assert started.structured_content == {"status": "started"}
                async for event in events:
                    if event.type == "quality.scanned":
                        break
        snapshot = await client.call_tool("quality_snapshot", {})
        assert snapshot.structured_content["quality_signal"] == event.data["quality_signal"]
        assert snapshot.structured_content["branch_mismatch"] is False
        assert "Quality signal" in said(snapshot)
        assert "2 of 5 files are in 1 import cycle." in said(snapshot)
        functions = await client.call_tool("quality_complexity", {"limit": 2})
        assert "shop/prices.py:14 many" in said(functions)
        assert functions.structured_content["functions"][0]["name"] == "many"
        assert (functions.structured_content["total"], functions.structured_content["next_offset"]) == (5, 2)
        rest = await client.call_tool("quality_complexity", {"offset": 4, "limit": 100})
        assert rest.structured_content["next_offset"] is None
        clones = await client.call_tool("quality_clones", {})
        assert "2 copies, 16 lines in sum" in said(clones)
        beyond = await client.call_tool("quality_clones", {"offset": 7})
        assert beyond.structured_content["clusters"] == []
        for tool, limit in (("quality_complexity", 101), ("quality_clones", 51)):
            assert (await client.call_tool(tool, {"limit": limit})).is_error
