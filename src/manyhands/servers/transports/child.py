"""A running child process with its three pipes, from its start to its certain end.

It moves bytes and knows nothing of messages; `manyhands.system` knows how this system kills a tree.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio

from manyhands.errors import UnavailableError
from manyhands.guardian import (
    MARKER_VARIABLE,
    kill_processes,
    marked_processes,
    processes_of,
    session_options,
)
from manyhands.system import kill_tree, process_identity, terminate_group, widen_pipe

_STDIN, _STDOUT = 0, 1
_WRITE_BUFFER = 256 * 1024
_LINGER = 0.25
_LEFTOVERS = 0.5
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each step of an ending may take, in seconds: end of input, SIGTERM, SIGKILL."""

    grace: float = 2.0
    term: float = 2.0
    kill: float = 2.0


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what the child does. `ended`: nothing more will come."""

    started: Callable[[int], None]
    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]
    ended: Callable[[], None]


class Child(asyncio.SubprocessProtocol):
    """The process, its input, and how it ends. Made by `start_child`."""

    def __init__(self, listener: Listener, marker: str) -> None:
        self.pid = 0
        self.exit_code: int | None = None
        self._listener = listener
        self._marker = marker
        self._room = asyncio.Event()
        self._room.set()
        self._exited = asyncio.Event()
        self._disconnected = asyncio.Event()
        self._deaf = False
        self._family: dict[int, str | None] = {}
        self._transport: asyncio.SubprocessTransport

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self.pid = self._transport.get_pid()
        self._listener.started(self.pid)
        self._input.set_write_buffer_limits(high=_WRITE_BUFFER)
        if not self._output.is_closing():  # as it is when the child has ended already
            widen_pipe(self._output.get_extra_info("pipe").fileno())
            self._output.set_protocol(_Output(self._said, self._output.get_protocol()))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDOUT:  # what came before its pipe was ours
            self._said(data)
        else:
            self._listener.stderr(data)

    def _said(self, data: bytes) -> None:
        if not self._deaf:
            self._listener.stdout(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self._listener.ended()
        elif fd == _STDIN:  # it hears nothing more, so it is of no use
            self._expect_end()

    def process_exited(self) -> None:
        self.exit_code = self._transport.get_returncode()
        self._exited.set()
        self._expect_end()

    def _expect_end(self) -> None:
        """Its output ends soon, or never if a grandchild holds it open; what it wrote is read by then."""
        self._room.set()
        asyncio.get_running_loop().call_later(_LINGER, self._listener.ended)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disconnected.set()

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    # What its owner calls.

    @property
    def _input(self) -> asyncio.WriteTransport:
        return cast("asyncio.WriteTransport", self._transport.get_pipe_transport(_STDIN))

    @property
    def _output(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(_STDOUT))

    def hears(self) -> bool:
        """Whether something written now has a chance to be read."""
        return self.exit_code is None and not self._input.is_closing()

    async def write(self, data: bytes, stall: float) -> bool:
        """Write as soon as the child has read enough of what came before; whether it did within the bound."""
        while not self._room.is_set():
            with anyio.move_on_after(stall) as scope:
                await self._room.wait()
            if scope.cancelled_caught:
                return False
        self.write_at_once(data)
        return True

    def write_at_once(self, data: bytes) -> None:
        """Write, however much waits to be read; nothing is written to a child that is gone."""
        if self.hears():
            self._input.write(data)

    def pause_reading(self) -> None:
        """Let its output wait in the pipe."""
        self._output.pause_reading()

    def resume_reading(self) -> None:
        """Read on; harmless when it was not paused."""
        self._output.resume_reading()

    async def stop(self, patience: Patience) -> None:
        """End the process and everything it started, politely at first. Bounded, whoever cancels it.

        A shield holds off cancel scopes but not `task.cancel()`: that one makes it kill at once.
        """
        try:
            with anyio.CancelScope(shield=True):
                await self._persuade(patience)
                await self._let_go(patience)
        except asyncio.CancelledError:
            self._kill_all()
            self._transport.close()
            with anyio.CancelScope(shield=True):
                await self._exits_within(patience.kill)
            self._kill_all()
            raise

    async def _persuade(self, patience: Patience) -> None:
        self._deaf = True  # but keep reading: a child that cannot write cannot end
        self.resume_reading()
        self._take_stock()
        self._input.close()
        if await self._exits_within(patience.grace):
            await self._end_leftovers()
            return
        terminate_group(self.pid)
        await self._exits_within(patience.term)

    def _take_stock(self) -> None:
        """Remember its descendants: once it is gone, one that left its session and its marker is nobody's."""
        self._family = {pid: process_identity(pid) for pid in processes_of({self.pid}, self._marker)}

    def _kill_all(self) -> bool:
        """Kill all that is left of it; whether there was something."""
        strays = {pid for pid, known in self._family.items() if known and process_identity(pid) == known}
        if strays:
            kill_processes(processes_of(strays, self._marker))
        return bool(kill_tree(self.pid, self._marker) or strays)

    async def _end_leftovers(self) -> None:
        """The child went by itself; ask what it left behind to go as well."""
        if not terminate_group(self.pid):
            return
        with anyio.move_on_after(_LEFTOVERS):
            while processes_of({self.pid}, self._marker):  # noqa: ASYNC110 - nobody tells of orphans' ends
                await anyio.sleep(_POLL)

    async def _let_go(self, patience: Patience) -> None:
        with anyio.move_on_after(patience.kill):
            while self._kill_all():  # noqa: ASYNC110 - nobody tells of orphans' ends
                await anyio.sleep(_POLL)
        await self._exits_within(patience.kill)
        with anyio.move_on_after(_LINGER):  # the last words in its pipes
            await self._disconnected.wait()
        self._transport.close()
        with anyio.move_on_after(patience.kill):
            await self._disconnected.wait()

    async def _exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()


class _Output(asyncio.Protocol):
    """The child's output, read at once: asyncio's own way to `pipe_data_received` takes one more turn of
    the loop. How the pipe ends stays its business (`own`).
    """

    def __init__(self, said: Callable[[bytes], None], own: asyncio.BaseProtocol) -> None:
        self._said = said
        self._own = own

    def data_received(self, data: bytes) -> None:
        self._said(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._own.connection_lost(exc)


async def start_child(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: str | None,
    listener: Listener,
    marker: str,
) -> Child:
    """Start a process as the leader of its own session. A start that is cancelled leaves nothing behind."""
    child = Child(listener, marker)
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: child,
            *_resolved(argv, environment),
            env={**environment, MARKER_VARIABLE: marker},
            cwd=directory,
            **session_options(),
        )
    except (OSError, ValueError) as error:
        raise _cannot_start(argv, directory, error) from error
    except BaseException:
        kill_processes(marked_processes(marker))
        raise
    return child


def _resolved(argv: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """Windows does not look for `npx.cmd` when it is asked for `npx`, and looks on the wrong PATH."""
    if sys.platform == "win32":
        import shutil

        return [shutil.which(argv[0], path=environment.get("PATH")) or argv[0], *argv[1:]]
    return argv


def _cannot_start(argv: Sequence[str], directory: str | None, error: Exception) -> UnavailableError:
    command = shlex.quote(argv[0])
    if directory is not None and not Path(directory).is_dir():
        return UnavailableError(
            f"The directory {directory} does not exist.", hint="Correct the server's cwd."
        )
    if isinstance(error, FileNotFoundError):
        return UnavailableError(
            f"The command {command} was not found.",
            hint="Install it, or give its full path; the server's env may set PATH.",
        )
    if isinstance(error, PermissionError):
        return UnavailableError(f"The command {command} may not be run.", hint="Make it executable.")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return UnavailableError(
        f"The command {command} could not be started: {reason}.", hint="Check its config."
    )
