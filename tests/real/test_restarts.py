"""Servers that other people run are restarted; the hub finds them again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.real.servers import WebTransport, web_everything
from tests.real.watching import text, watched_hub

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("L05")
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_call_after_the_server_was_restarted_succeeds(
    tmp_path: Path, transport: WebTransport
) -> None:
    async with web_everything(transport, tmp_path / "w") as server, watched_hub(tmp_path / "home") as hub:
        await hub.add("web", **server.config)
        assert "one" in text(await hub.call("web", "echo", message="one"))
        await server.restart()
        assert "two" in text(await hub.call("web", "echo", message="two"))
        assert (await hub.hub.servers.by_name("web")).status == "connected"


@pytest.mark.requirement("L02")
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_server_that_is_gone_is_named_with_advice_and_used_again_when_it_is_back(
    tmp_path: Path, transport: WebTransport
) -> None:
    async with web_everything(transport, tmp_path / "w") as server, watched_hub(tmp_path / "home") as hub:
        await hub.add("web", connect_timeout=5_000, **server.config)
        await server.end()
        failed = await hub.call("web", "echo", message="nobody")
        assert failed.status == "error"
        for part in ("'echo'", "'web'"):
            assert part in (failed.error or "")
        # Whether the end was noticed before the call or by it.
        assert re.search("Check|The next call connects it again", failed.error or "")
        await server.restart()
        assert "back" in text(await hub.call("web", "echo", message="back"))
