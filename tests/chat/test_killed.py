"""A hub that is killed outright goes on with its runs when it returns, and does nothing twice."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from manyhands import Hub
from manyhands.chat.recovery import INTERRUPTED
from tests.hub_process import SOON_S, HubProcess, hub_process

TALLY = str(Path(__file__).parent / "tally_server.py")


def running(tmp_path: Path, script: list[Any], *prompts: str) -> AbstractContextManager[HubProcess]:
    written = tmp_path / "script.json"
    written.write_text(json.dumps(script))
    return hub_process("tests.chat.killed_hub", str(tmp_path / "home"), str(written), *prompts)


async def add_tally(tmp_path: Path) -> Path:
    tally = tmp_path / "tally"
    async with Hub(tmp_path / "home") as hub:
        outcome = await hub.add_server(
            "tally", command=sys.executable, args=[TALLY, str(tally)], trust="full", tool_timeout=60_000
        )
        assert outcome.ok, outcome.error
    return tally


def wait_for_lines(file: Path, count: int) -> None:
    deadline = time.monotonic() + SOON_S
    while not file.exists() or len(file.read_text().splitlines()) < count:
        assert time.monotonic() < deadline, "the tools were not called"
        time.sleep(0.02)


@pytest.mark.anyio
async def test_a_killed_run_goes_on_and_no_change_is_made_twice(tmp_path: Path) -> None:
    tally = await add_tally(tmp_path)
    both = {"calls": [["mcp__tally__strike", {}], ["mcp__tally__look", {}]]}
    with running(tmp_path, [both], "strike and look", "and then this") as hub:
        first = hub.until("run.started")
        wait_for_lines(tally, 2)
        hub.kill()
    tally.with_suffix(".go").touch()
    with running(tmp_path, ["went on", "and this too"]) as hub:
        ended = hub.until("run.finished")
        queued = hub.until("run.finished")
    assert (ended["id"], ended["status"], ended["text"]) == (first["id"], "completed", "went on")
    assert queued["text"] == "and this too"
    assert sorted(tally.read_text().split()) == ["look", "look", "strike"]
    async with Hub(tmp_path / "home") as hub_again:
        messages = await hub_again.runs.messages_of(first["id"])
        logged = await hub_again.tools.calls_of_run(first["id"])
    results = [message for message in messages if message.role == "tool"]
    assert [(one.content, one.is_error) for one in results] == [(INTERRUPTED, True), ("look done", False)]
    assert [(call.tool, call.code) for call in logged] == [
        ("strike", "interrupted"),
        ("look", "interrupted"),
        ("look", None),
    ]
