"""What servers write to stderr is told while they write it: whole lines, without secrets, not too often."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from manyhands.events import Event
from manyhands.hub import Hub
from manyhands.secrets import Redactor
from manyhands.servers.error_output import LONGEST_LINE, ErrorOutputs, cut

pytestmark = pytest.mark.anyio

HAND_SERVER = Path(__file__).parents[1] / "cli" / "hand_server.py"


def test_a_line_that_is_not_whole_waits_for_its_end() -> None:
    assert cut("one\ntwo\nthr") == ("one\ntwo\n", "thr")
    assert cut("thr") == ("", "thr")
    assert cut("") == ("", "")


def test_a_line_that_never_ends_is_cut_between_words() -> None:
    words = "word " * LONGEST_LINE
    assert cut(f"{words}secr") == (words, "secr")
    assert cut("x" * (LONGEST_LINE + 1)) == ("x" * (LONGEST_LINE + 1), "")


async def _next(events: AsyncIterator[Event], kind: str) -> Event:
    with anyio.fail_after(60):
        async for event in events:
            if event.type == kind:
                return event
    raise AssertionError("no more events")


async def test_what_a_server_writes_is_an_event_without_its_secrets(tmp_path: Path) -> None:
    loud = tmp_path / "loud.py"
    loud.write_text(
        "import os, runpy, sys\n"
        "print('the key is', os.environ['KEY'], file=sys.stderr, flush=True)\n"
        f"runpy.run_path({str(HAND_SERVER)!r}, run_name='__main__')\n"
    )
    async with Hub(tmp_path / "home") as hub, hub.bus.subscribe() as events:
        outcome = await hub.add_server(
            "loud", command=sys.executable, args=[str(loud)], env={"KEY": "a-very-secret-key"}
        )
        assert outcome.ok, outcome.error
        told = await _next(events, "mcp.stderr")
        assert told.data["server_id"] == outcome.view.server.id
        assert told.data["text"].startswith("the key is ")
        assert "a-very-secret-key" not in told.data["text"]


async def test_a_server_that_is_only_tried_is_not_told_of(tmp_path: Path) -> None:
    async with Hub(tmp_path / "home") as hub, hub.bus.subscribe() as events:
        report = await hub.servers.test(
            {"name": "tried", "command": sys.executable, "args": [str(HAND_SERVER)]}
        )
        assert report.ok
        assert "hello from" in report.stderr
        hub.bus.publish("settings.changed", {})
        with anyio.fail_after(60):
            assert (await anext(aiter(events))).type == "settings.changed"


async def test_what_a_person_decides_is_told(tmp_path: Path) -> None:
    async with Hub(tmp_path / "home") as hub:
        outcome = await hub.add_server("hand", command=sys.executable, args=[str(HAND_SERVER)])
        server_id = outcome.view.server.id
        async with hub.bus.subscribe() as events:
            await hub.servers.set_preference(server_id, "echo", enabled=False)
            assert (await _next(events, "mcp.updated")).data == {"server_id": server_id, "tool": "echo"}
            await hub.servers.accept_definition(server_id, "echo")
            assert (await _next(events, "mcp.updated")).data == {"server_id": server_id, "tool": "echo"}
            await hub.servers.save({"trust": "full"}, server_id=server_id)
            assert (await _next(events, "mcp.updated")).data == {"server_id": server_id}


async def test_what_is_heard_outside_every_task_is_told(tmp_path: Path) -> None:
    async with Hub(tmp_path / "home") as hub, hub.bus.subscribe() as events:
        hear = ErrorOutputs(hub.bus, Redactor()).listener(7)
        asyncio.get_running_loop().call_soon(hear, "a line\n", context=contextvars.Context())
        assert (await _next(events, "mcp.stderr")).data == {"server_id": 7, "text": "a line\n"}
