"""The stdio transport: a server as a child process that speaks one JSON message a line.

Used as `Client(StdioTransport(...))`. Reads in linear time, survives garbage, floods and oversized messages,
keeps what explains a failure, and leaves no process behind. It does not decide when to start, or start again.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from manyhands.guardian import Guardian
from manyhands.secrets import Redactor
from manyhands.servers.transports.child import Child, Listener, Patience, start_child
from manyhands.servers.transports.frames import (
    LineFramer,
    Malformed,
    Oversized,
    answered_id,
    is_answer,
    parse_line,
)
from manyhands.servers.transports.package_index import index_settings
from manyhands.servers.transports.pending import PendingRequests, cancelled_id
from manyhands.servers.transports.stream_ends import ReadEnd, StreamEnd
from manyhands.servers.transports.tails import ByteTail, ErrorOutput
from manyhands.servers.transports.types import (
    BAD_ANSWER,
    DEFAULT_MAX_FRAME,
    FRAME_TOO_LARGE,
    TransportDiagnostics,
)
from manyhands.system import child_environment

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_GARBAGE_KEPT = 8 * 1024
_GARBAGE_LINE = 400
_QUEUE_HIGH = 1024 * 1024
_TAKEN_AT_ONCE = 32
_WRITE_STALL = 30.0


class _Inbox(ReadEnd):
    """The read stream. Bytes come in from the child, messages go out to the SDK, at the SDK's pace."""

    def __init__(self, pending: PendingRequests, max_frame: int) -> None:
        self._garbage = 0
        self._garbage_tail = ByteTail(_GARBAGE_KEPT)
        self._pending = pending
        self._max_frame = max_frame
        self._framer = LineFramer(max_frame)
        self._frames: deque[bytes | Oversized] = deque()
        self._messages: deque[SessionMessage] = deque()
        self._queued = 0
        self._taken = 0
        self._ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._child: Child | None = None

    def serve(self, child: Child) -> None:
        """The child whose output this is: its flow is held back when the SDK falls behind."""
        self._child = child

    def feed(self, data: bytes) -> None:
        """Bytes from the child."""
        if self._ended:
            return
        for frame in self._framer.feed(data):
            if frame:  # empty lines weigh nothing, so no number of them would be too many
                self._frames.append(frame)
                self._queued += _weight(frame)
        if self._queued > _QUEUE_HIGH and self._child:
            self._child.pause_reading()
        if self._frames:
            self._wake()

    def end(self) -> None:
        """Nothing more will come; what is here is still handed out."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def __anext__(self) -> SessionMessage | Exception:
        await self._let_others_run()
        while not self._messages:
            if self._frames:
                self._unpack(self._next_frame())
                if not self._messages:
                    await self._let_others_run()
            elif self._ended:
                raise StopAsyncIteration
            else:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
        return self._messages.popleft()

    async def _let_others_run(self) -> None:
        """Now and then: the SDK starts a task per message, and a flood must not hold up all else."""
        self._taken += 1
        if self._taken % _TAKEN_AT_ONCE == 0:
            await asyncio.sleep(0)

    def _next_frame(self) -> bytes | Oversized:
        frame = self._frames.popleft()
        was_high = self._queued > _QUEUE_HIGH
        self._queued -= _weight(frame)
        if was_high and self._queued <= _QUEUE_HIGH and self._child:
            self._child.resume_reading()
        return frame

    def _unpack(self, frame: bytes | Oversized) -> None:
        if isinstance(frame, Oversized):
            self._lose(frame)
            return
        for item in parse_line(frame):
            if not isinstance(item, Malformed):
                self._messages.append(SessionMessage(self._pending.received(item)))
            elif item.id is not None:
                self._fail(item.id, BAD_ANSWER, f"The server's answer is malformed: {item.problem}.")
            else:
                self._note_garbage(frame)

    def _lose(self, frame: Oversized) -> None:
        """Tell whoever waits for a message that was too large. Unknown until its end, it is everybody."""
        request_id = answered_id(frame)
        if not is_answer(frame):
            if frame.ended:
                self._note_garbage(frame.head)
        elif request_id is not None or frame.ended:
            size = f"at least {frame.size}" if not frame.ended else f"{frame.size}"
            text = (
                f"The server's answer has {size} bytes; the limit for one message is {self._max_frame} bytes,"
                " so it was thrown away. Ask for less at a time."
            )
            self._fail(request_id, FRAME_TOO_LARGE, text)

    def _fail(self, request_id: int | str | None, code: int, text: str) -> None:
        self._messages.extend(SessionMessage(error) for error in self._pending.failed(request_id, code, text))

    def _note_garbage(self, line: bytes) -> None:
        self._garbage += 1
        self._garbage_tail.append(line[:_GARBAGE_LINE].rstrip() + b"\n")

    def garbage(self) -> tuple[int, str]:
        """How many lines were no messages, with the last of them; one that does not end is one, too."""
        begun = self._framer.begun.lstrip()[:_GARBAGE_LINE]
        if not begun or begun[:1] in b"{[":  # it may become a message
            return self._garbage, self._garbage_tail.text()
        return self._garbage + 1, self._garbage_tail.text() + begun.decode("utf-8", "replace")

    async def aclose(self) -> None:
        self.end()
        self._frames.clear()
        self._messages.clear()


def _weight(frame: bytes | Oversized) -> int:
    return len(frame) if isinstance(frame, bytes) else 0


class _Outbox(StreamEnd):
    """The write stream. `on_stall` is told when the server does not read: it is of no use then."""

    def __init__(
        self, child: Child, pending: PendingRequests, stall: float, on_stall: Callable[[], None]
    ) -> None:
        self.problem: str | None = None
        self._child = child
        self._pending = pending
        self._stall = stall
        self._on_stall = on_stall
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        with self._pending.sending(item.message):
            if self._closed:
                raise anyio.ClosedResourceError
            await self._write(item.message)
            if not self._child.hears():
                raise anyio.BrokenResourceError("The server does not read its input any more.")

    async def _write(self, message: JSONRPCMessage) -> None:
        data = _encoded(message)
        if cancelled_id(message) is not None:  # it is short, and whoever gives up waits for it
            self._child.write_at_once(data)
        elif not await self._child.write(data, self._stall):
            self.problem = f"The server has not read its input for {self._stall:g} s."
            self._on_stall()
            raise anyio.BrokenResourceError(self.problem)

    async def aclose(self) -> None:
        self._closed = True


def _encoded(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:  # half a surrogate pair, which UTF-8 cannot carry and an escape can
        return json.dumps(message.model_dump(by_alias=True, mode="json", exclude_unset=True)).encode() + b"\n"


class StdioTransport:
    """One run of one server process; not to be entered twice.

    `env` is the config's part, with references resolved; `system.child_environment` and `package_index` say
    what is added.
    `shown` replaces the command line in diagnostics, for arguments that hold secrets; `redactor`
    takes secrets out of whatever the server says.
    """

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        guardian: Guardian | None = None,
        on_stderr: Callable[[str], None] | None = None,
        max_frame: int = DEFAULT_MAX_FRAME,
        patience: Patience | None = None,
        write_stall: float = _WRITE_STALL,
        shown: str | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self._argv = [command, *args]
        self._env = env
        self._cwd = cwd
        self._guardian = guardian
        self._patience = patience or Patience()
        self._write_stall = write_stall
        self._shown = shown or shlex.join(self._argv)
        self._redactor = redactor or Redactor()
        self._pending = PendingRequests(self._redactor, of=self._shown)
        self._inbox = _Inbox(self._pending, max_frame)
        self._stderr = ErrorOutput(on_stderr, self._redactor.hidden_bytes())
        self._outbox: _Outbox | None = None
        self._child: Child | None = None
        self.closed = asyncio.Event()
        self.on_stream: Callable[[bool], None] | None = None
        self._began = time.monotonic()
        self._ended: float | None = None

    async def __aenter__(self) -> TransportStreams:
        self._began = time.monotonic()
        self._child = await start_child(
            self._argv,
            environment=await anyio.to_thread.run_sync(_environment, self._env),
            directory=self._cwd,
            listener=Listener(self._started, self._inbox.feed, self._stderr.feed, self._no_more),
            marker=self._guardian.child_marker() if self._guardian else os.urandom(8).hex(),
        )
        self._inbox.serve(self._child)
        self._outbox = _Outbox(self._child, self._pending, self._write_stall, self._no_more)
        return self._inbox, self._outbox

    def _started(self, pid: int) -> None:
        if self._guardian:
            self._guardian.watch(pid)

    def _no_more(self) -> None:
        self._ended = self._ended or time.monotonic()
        self._inbox.end()
        self.closed.set()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._child is None:
            return
        try:
            await self._inbox.aclose()
            await self._child.stop(self._patience)
        finally:
            if self._guardian:
                self._guardian.release(self._child.pid)

    def diagnostics(self) -> TransportDiagnostics:
        """What is known of the process, while it runs and after."""
        garbage, garbage_tail = self._inbox.garbage()
        return TransportDiagnostics(
            target=self._shown,
            elapsed=(self._ended or time.monotonic()) - self._began,
            pid=self._child.pid if self._child else None,
            exit_code=self._child.exit_code if self._child else None,
            stderr_tail=self._stderr.text(),
            garbage=garbage,
            garbage_tail=self._redactor.hide_cut(garbage_tail),
            problem=self._outbox.problem if self._outbox else None,
            repairs=self._pending.repairs,
        )


def _environment(given: Mapping[str, str] | None) -> dict[str, str]:
    environment = child_environment(given)
    return {**environment, **index_settings(environment)}
