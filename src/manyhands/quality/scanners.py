"""The processes that scan, seen from the hub: started when needed, asked, ended with all that they started.

One that has just scanned is kept for a while, since people scan again. What is asked of it and what its
answers mean is not known here.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import anyio
import anyio.to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from manyhands.errors import ManyhandsError, UnavailableError
from manyhands.guardian import MARKER_VARIABLE, Guardian, session_options
from manyhands.quality.types import Json
from manyhands.system import child_environment, kill_tree

log = logging.getLogger(__name__)

AT_ONCE = 2
LONGEST_LINE = 64 * 1024 * 1024
_END_S = 10.0
_POLL_S = 0.02
# -P: a module in the current directory must not stand in for one of ours.
_TOP = os.path.abspath(os.sep)
_COMMAND = (sys.executable, "-P", "-m", "manyhands.quality.scanner")

# NumPy's threads for matrices, of which there are none here, take longer to start than all the rest of it.
_QUICK_START = {"OPENBLAS_NUM_THREADS": "1"}

Take = Callable[[Json], None]


class _Silent(UnavailableError):
    """It ended without a word."""


class Scanners:
    """Scans in processes of their own, at most two at a time."""

    def __init__(self, guard: Guardian, wait_s: Callable[[], float]) -> None:
        """`wait_s`: how long one that has scanned waits for more, at this moment."""
        self._guard = guard
        self._wait_s = wait_s
        self._idle: dict[str, _Scanner] = {}
        self._limiter = anyio.CapacityLimiter(AT_ONCE)
        self._changed = anyio.Event()

    async def ask(self, root: str, request: Json, take: Take) -> None:
        """Have a root scanned; `take` is given each message. Cancelling ends the processes at once."""
        async with self._limiter:
            if waiting := self._idle.pop(root, None):
                with suppress(_Silent):  # it went while nobody looked
                    await self._ask(waiting, root, request, take)
                    return
            await self._ask(await _Scanner.start(self._guard), root, request, take)

    async def _ask(self, scanner: _Scanner, root: str, request: Json, take: Take) -> None:
        try:
            await scanner.ask(request, take)
        except BaseException:
            await scanner.kill()
            raise
        await self._keep(root, scanner)

    async def _keep(self, root: str, scanner: _Scanner) -> None:
        """Only the last one is kept: each holds the facts of a whole project."""
        older = list(self._idle.values())
        self._idle = {root: scanner}
        if self._wait_s():
            self._changed.set()
        else:
            older, self._idle = [*older, scanner], {}
        for one in older:
            await one.end()

    async def run(self) -> None:
        """End the one that has waited long enough; runs as long as the hub does."""
        try:
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                with anyio.move_on_after(self._wait_s()):
                    await self._changed.wait()
                    continue
                await self.close()
        finally:
            await self.close()

    async def close(self) -> None:
        """End those that wait."""
        waiting, self._idle = list(self._idle.values()), {}
        for scanner in waiting:
            await scanner.end()


class _Scanner:
    """One process."""

    def __init__(self, process: Process, guard: Guardian, marker: str) -> None:
        assert process.stdout is not None
        self._process = process
        self._guard = guard
        self._marker = marker
        self._lines = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def start(cls, guard: Guardian) -> _Scanner:
        marker = guard.child_marker()
        environment = child_environment({MARKER_VARIABLE: marker, **_QUICK_START})
        try:
            # One that is half started when the scan is cancelled could not be waited for.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    _COMMAND,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=_TOP,
                    env=environment,
                    **session_options(),
                )
        except OSError as error:
            raise UnavailableError(
                f"The scan cannot be started: {error.strerror}.", hint="Try again when there is more room."
            ) from error
        guard.watch(process.pid)
        return cls(process, guard, marker)

    async def ask(self, request: Json, take: Take) -> None:
        assert self._process.stdin is not None
        heard = False
        try:
            await self._process.stdin.send(json.dumps(request).encode() + b"\n")
            while True:
                message = json.loads(await self._lines.receive_until(b"\n", LONGEST_LINE))
                heard = True
                if "error" in message:
                    raise _error(message["error"])
                if "end" in message:
                    return
                take(message)
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            code = await self._exit_code()
            raise (UnavailableError if heard else _Silent)(
                f"The process that scans ended in the middle of it (exit code {code}).",
                hint="It may have run out of memory: exclude directories (quality_exclude) and try again.",
            ) from None

    async def _exit_code(self) -> int | None:
        with anyio.move_on_after(_END_S):
            return await self._process.wait()
        return None

    async def end(self) -> None:
        """Let it put on disk what it has learned, then see that nothing of it is left."""
        assert self._process.stdin is not None
        with anyio.move_on_after(_END_S, shield=True):
            await self._process.stdin.aclose()
            await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End it with its workers, at once."""
        with anyio.move_on_after(_END_S, shield=True):
            left = await anyio.to_thread.run_sync(kill_tree, self._process.pid, self._marker)
            while left:  # nobody tells of the end of somebody else's children
                await anyio.sleep(_POLL_S)
                left = await anyio.to_thread.run_sync(kill_tree, self._process.pid, self._marker)
            await self._process.aclose()
        self._guard.release(self._process.pid)


def _error(said: Json) -> ManyhandsError:
    kinds = {kind.code: kind for kind in ManyhandsError.__subclasses__()}
    kind = kinds.get(said["code"], UnavailableError)
    return kind(said["message"], hint=said.get("hint") or "Try again.")
