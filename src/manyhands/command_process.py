"""A command that runs: started as the leader of its own session, watched, and ended with its whole tree.

It does not know what the command is or in which sandbox; `manyhands.system` knows how a tree is killed.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import anyio

from manyhands.guardian import (
    MARKER_VARIABLE,
    Guardian,
    kill_processes,
    marked_processes,
    processes_of,
    session_options,
)
from manyhands.system import kill_tree

_LINGER_S = 0.2
_END_S = 3.0
_POLL_S = 0.02
_LAST_LOOKS = 20
# A command that writes without end must not keep the daemon from everything else.
_BURST_BYTES = 4 * 1024 * 1024
_BREATH_S = 0.05
_STDERR = 2

Feed = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. Without an exit code its time was over."""

    exit_code: int | None
    duration_s: float
    left_running: int
    """How many processes it left behind, which were ended too."""


class _Process(asyncio.SubprocessProtocol):
    """The process as asyncio tells of it."""

    def __init__(self, feed: Feed, feed_errors: Feed | None, started: Callable[[int], None]) -> None:
        self.pid = 0
        self.exited, self.drained, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.transport: asyncio.SubprocessTransport
        self._feed = feed
        self._feed_errors = feed_errors
        self._open = {1} if feed_errors is None else {1, _STDERR}
        self._started = started
        self._burst = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.SubprocessTransport", transport)
        self.pid = self.transport.get_pid()
        self._started(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self._feed_errors if fd == _STDERR and self._feed_errors else self._feed)(data)
        self._burst += len(data)
        if self._burst >= _BURST_BYTES:
            self._burst = 0
            pipe = cast("asyncio.ReadTransport", self.transport.get_pipe_transport(fd))
            pipe.pause_reading()
            asyncio.get_running_loop().call_later(_BREATH_S, pipe.resume_reading)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.drained.set()

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def write(self, data: bytes) -> None:
        """What it reads, and then the end of it."""
        pipe = cast("asyncio.WriteTransport", self.transport.get_pipe_transport(0))
        pipe.write(data)
        pipe.write_eof()


async def run_command_process(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: str,
    timeout_s: float,
    feed: Feed,
    feed_errors: Feed | None = None,
    stdin: bytes | None = None,
    guardian: Guardian | None = None,
) -> Ended:
    """Run it to its end, or to the end of its time. Whatever happens, nothing of it runs on afterwards.

    Without `feed_errors` standard error goes where standard output goes; without `stdin` there is no input.
    """
    marker = guardian.child_marker() if guardian else os.urandom(8).hex()
    process = _Process(feed, feed_errors, guardian.watch if guardian else lambda pid: None)
    pipes = {
        "stdin": subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        "stderr": subprocess.STDOUT if feed_errors is None else subprocess.PIPE,
    }
    began = anyio.current_time()
    left: int | None = None
    try:
        with anyio.move_on_after(timeout_s):
            await _start(process, argv, {**environment, MARKER_VARIABLE: marker}, directory, marker, pipes)
            if stdin is not None:
                process.write(stdin)
            await process.exited.wait()
            with anyio.move_on_after(_LINGER_S):  # its last words, unless somebody holds the pipe open
                await process.drained.wait()
            left = len(await anyio.to_thread.run_sync(processes_of, {process.pid}, marker))
    finally:
        duration = anyio.current_time() - began
        in_time = process.exited.is_set()
        try:
            if process.pid:
                await _end(process, marker, alone=left == 0)
        finally:
            if guardian and process.pid:
                guardian.release(process.pid)
    return Ended(process.transport.get_returncode() if in_time else None, duration, left or 0)


async def _start(
    process: _Process,
    argv: Sequence[str],
    environment: Mapping[str, str],
    directory: str,
    marker: str,
    pipes: Mapping[str, int],
) -> None:
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: process,
            *argv,
            stdin=pipes["stdin"],
            stdout=subprocess.PIPE,
            stderr=pipes["stderr"],
            env=environment,
            cwd=directory,
            **session_options(),
        )
    except BaseException:
        if not process.pid:  # it may have begun without our having been told
            kill_processes(marked_processes(marker))
        raise


async def _end(process: _Process, marker: str, *, alone: bool) -> None:
    """Kill what is left of the tree, at once: before anything is awaited that could be cancelled.

    A shield holds off cancel scopes but not `task.cancel()`: after that one nothing is awaited any more.
    """
    gone = kill_tree(process.pid, marker) == 0 and alone
    try:
        with anyio.move_on_after(_END_S, shield=True):
            while not gone:  # nobody tells of orphans' ends
                await anyio.sleep(_POLL_S)
                gone = kill_tree(process.pid, marker) == 0
            await process.exited.wait()
        with anyio.move_on_after(_LINGER_S, shield=True):
            await process.drained.wait()
            process.transport.close()
            await process.closed.wait()
    except asyncio.CancelledError:
        _kill_all(process.pid, marker)
        raise
    finally:
        process.transport.close()


def _kill_all(pid: int, marker: str) -> None:
    """Without awaiting. One look is not enough: a process that is becoming another one shows no marker."""
    quiet = 0
    for _ in range(_LAST_LOOKS):
        quiet = quiet + 1 if kill_tree(pid, marker) == 0 else 0
        if quiet == 2:
            return
        time.sleep(_POLL_S / 4)
