"""A daemon that is killed outright takes everything that it started with it."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from manyhands.guardian import (
    MARKER_VARIABLE,
    Guardian,
    guardian,
    marked_processes,
    process_table,
    processes_of,
)
from manyhands.system import kill_marked

pytestmark = pytest.mark.anyio

ODD_SERVER = Path(__file__).parent / "servers" / "fixtures" / "odd_server.py"
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
WITHIN = 20.0

# A daemon in miniature: it starts a stubborn server with a family, says who they are, and waits to be killed.
DAEMON = """
import asyncio, json, sys
from mcp import Client
from manyhands.guardian import guardian
from manyhands.servers.transports.stdio import StdioTransport

async def main():
    async with guardian() as guard:
        transport = StdioTransport(sys.executable, [sys.argv[1], "--stubborn"], guardian=guard)
        async with Client(transport, mode="legacy") as client:
            family = json.loads((await client.call_tool("family", {})).content[0].text)
            print(json.dumps([guard.pid, transport.diagnostics().pid, *family]), flush=True)
            await asyncio.Event().wait()

asyncio.run(main())
"""


def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, start_new_session=True, **options)


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            continue
    return found


def gone(pids: list[int]) -> list[int]:
    """Those of them that do not end within the bound."""
    deadline = time.monotonic() + WITHIN
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive(pids)


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(WITHIN):
        while not condition():  # noqa: ASYNC110 - what happens in other processes gives no event here
            await anyio.sleep(0.01)


@pytest.mark.requirement("L03")
async def test_a_daemon_killed_outright_leaves_no_server_and_no_grandchild() -> None:
    command = [sys.executable, "-c", DAEMON, str(ODD_SERVER)]
    with start(command, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout
        started = json.loads(daemon.stdout.readline())
        running = alive(started)
        daemon.kill()
    assert running == started
    assert gone(started) == []


@pytest.mark.requirement("L03")
async def test_what_is_still_watched_when_the_guardian_closes_ends() -> None:
    async with guardian() as guard:
        child = start(SLEEP)
        guard.watch(child.pid)
    assert child.wait(WITHIN) == -signal.SIGKILL


async def test_a_released_child_is_left_alone() -> None:
    async with guardian() as guard:
        child = start(SLEEP)
        guard.watch(child.pid)
        guard.release(child.pid)
    assert child.poll() is None
    child.kill()
    child.wait()


async def test_a_marked_process_is_found_wherever_it_went() -> None:
    async with guardian() as guard:
        marker = guard.child_marker()
        environment = {**os.environ, MARKER_VARIABLE: marker}
        child = start(SLEEP, env=environment)
        await until(lambda: child.pid in marked_processes(marker))
        assert child.pid in marked_processes(guard.marker)
        assert child.pid not in marked_processes(marker[:-1])
    assert child.wait(WITHIN) == -signal.SIGKILL


async def test_a_guardian_that_dies_is_replaced_and_told_everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with guardian() as guard:
        child = start(SLEEP)
        guard.watch(child.pid)
        first = guard.pid
        assert first
        os.kill(first, signal.SIGKILL)
        await until(lambda: guard.pid not in (first, None))
    assert child.wait(WITHIN) == -signal.SIGKILL
    assert "starting another" in caplog.text


async def test_a_guardian_that_keeps_dying_is_given_up_loudly(caplog: pytest.LogCaptureFixture) -> None:
    async with guardian() as guard:
        for _ in range(6):
            if (pid := guard.pid) is not None:
                os.kill(pid, signal.SIGKILL)
                await until(lambda pid=pid: guard.pid != pid)  # type: ignore[misc]
        assert guard.pid is None
        guard.watch(os.getpid())  # harmless
        guard.release(os.getpid())
    assert "keeps dying" in caplog.text


async def test_children_of_the_daemon_do_not_hold_the_guardians_pipe() -> None:
    async with guardian() as guard:
        child = start(SLEEP, close_fds=False)
        guardian_pid = guard.pid
        assert guardian_pid
    assert alive([guardian_pid]) == []
    child.kill()
    child.wait()


async def test_a_process_tree_is_known_down_to_its_leaves() -> None:
    script = f"import subprocess, sys; subprocess.run({SLEEP!r})"
    child = start([sys.executable, "-c", script])
    await until(lambda: len(processes_of({child.pid}, "")) == 2)
    assert os.getpid() in process_table()
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    await until(lambda: not processes_of({child.pid}, ""))


async def test_what_an_earlier_daemon_left_is_found_by_its_marker() -> None:
    marker = f"test-{os.getpid()}"
    environment = {**os.environ, MARKER_VARIABLE: f"{marker}.7"}
    child = start(SLEEP, env=environment)
    await until(lambda: child.pid in marked_processes(marker))
    assert kill_marked(marker) == 1
    assert child.wait(WITHIN) == -signal.SIGKILL


async def test_a_stopped_guardian_does_not_block_the_daemon() -> None:
    async with guardian() as guard:
        stuck = guard.pid
        assert stuck
        os.kill(stuck, signal.SIGSTOP)
        for number in range(20_000):
            _watch_and_release(guard, 1_000_000_000 + number)
        assert guard.pid != stuck


def _watch_and_release(guard: Guardian, pid: int) -> None:
    guard.watch(pid)
    guard.release(pid)
