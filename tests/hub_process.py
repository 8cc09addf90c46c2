"""A hub in a process of its own, to be killed: from the side of the test, and what the process itself runs.

The process writes a line for every event that the test wants to know of, and ends when its input does.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread
from typing import Any

from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus

from manyhands import Hub

SOON_S = 60


class HubProcess:
    """A hub in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines = SimpleQueue[str]()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        """All the time: a hub whose line nobody reads would wait for that."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The next event of that kind with these data."""
        while line := self._lines.get(timeout=SOON_S):
            event = json.loads(line)
            data: dict[str, Any] = event["data"]
            if event["type"] == kind and wanted.items() <= data.items():
                return data
        raise AssertionError(f"it ended, and there was no such {kind}")

    def go_on(self) -> None:
        """Write a line to it."""
        assert self._process.stdin is not None
        self._process.stdin.write("go on\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(SOON_S)

    def end(self) -> None:
        """By the end of its input, else outright."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(SOON_S)
        finally:
            self._process.kill()
            self._reader.join(SOON_S)


@contextmanager
def hub_process(module: str, *arguments: str) -> Iterator[HubProcess]:
    """`python -m MODULE ARGUMENTS`, once it is ready."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        hub = HubProcess(process)
        try:
            hub.until("ready")
            yield hub
        finally:
            hub.end()


async def tell(hub: Hub, *kinds: str, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
    """Write `ready`, then the events whose types begin so."""
    async with hub.bus.subscribe() as events:
        _say("ready", {})
        task_status.started()
        async for event in events:
            if event.type.startswith(kinds):
                _say(event.type, event.data)


def _say(kind: str, data: dict[str, Any]) -> None:
    print(json.dumps({"type": kind, "data": data}), flush=True)
