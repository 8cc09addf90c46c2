"""A line to a server: whether it can be used, who uses it, and how it ends.

What the failure of one request says about the whole is decided here; beginning anew is the owner's business.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from mcp.shared.exceptions import MCPError
from mcp.types import EmptyResult, PingRequest
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from manyhands.servers.endpoints import Limits
from manyhands.servers.failures import has_hung_up, is_connection_error
from manyhands.servers.transports.types import STALE_SESSION, UNAUTHORIZED
from manyhands.servers.watched import WatchedTransport

if TYPE_CHECKING:
    from mcp import Client

log = logging.getLogger(__name__)

_RETIRE_S = 2.0


class Line:
    """One client from its handshake to its end.

    `over` is set when it cannot be used any more, and `error` says why; `on_retired` is called when nothing
    new may use it.
    """

    def __init__(self, client: Client, transport: WatchedTransport, limits: Limits) -> None:
        self.client = client
        self.transport = transport
        self.modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        self.over = anyio.Event()
        self.error: BaseException | None = None
        self.on_retired: Callable[[], None] = lambda: None
        self._limits = limits
        self._users = 0
        self._retired = False
        self._unused = anyio.Event()
        self._doubtful = anyio.Event()
        self._tasks: anyio.abc.TaskGroup | None = None

    @property
    def tasks(self) -> anyio.abc.TaskGroup:
        """Where its tasks run; they end with it."""
        assert self._tasks is not None, "the line is not watched"
        return self._tasks

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[anyio.abc.TaskGroup]:
        """While its end is noticed and doubts are looked into."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._notice_end)
            self._tasks.start_soon(self._check_when_in_doubt)
            try:
                yield self._tasks
            finally:
                self._tasks.cancel_scope.cancel()

    def end(self, error: BaseException | None = None) -> None:
        """It cannot be used any more; the first reason counts."""
        if not self.over.is_set():
            self.error = error
            self.over.set()
            self.on_retired()

    def retire(self, error: BaseException) -> None:
        """Nothing new may use it; what is under way has a moment to be answered, if only with that error."""
        if not self._retired and not self.over.is_set() and self._tasks is not None:
            self._retired = True
            self.on_retired()
            self._tasks.start_soon(self._end_when_unused, error)

    async def _end_when_unused(self, error: BaseException) -> None:
        if self._users:
            with anyio.move_on_after(_RETIRE_S):
                await self._unused.wait()
        self.end(error)

    @contextmanager
    def used(self) -> Iterator[Client]:
        """While a request of somebody is under way."""
        self._users += 1
        try:
            yield self.client
        finally:
            self._users -= 1
            if self._retired and not self._users:
                self._unused.set()

    @property
    def in_use(self) -> bool:
        """Whether a request of somebody is under way."""
        return self._users > 0

    async def settle(self, seconds: float) -> None:
        """Let the server act on what it was told; it is back at work when it answers."""
        await anyio.sleep(seconds)
        with suppress(MCPError):
            await self._probe()

    def judge(self, error: MCPError) -> None:
        """What the failure of one request says about the connection."""
        if has_hung_up(error) or error.code in (UNAUTHORIZED, STALE_SESSION):
            self.retire(error)
        elif is_connection_error(error):
            self.doubt()

    def doubt(self) -> None:
        """A request failed on the way: find out whether the server is still there."""
        self._doubtful.set()

    async def _notice_end(self) -> None:
        await self.transport.handle.closed.wait()
        self.end()

    async def _check_when_in_doubt(self) -> None:
        while True:
            await self._doubtful.wait()
            self._doubtful = anyio.Event()
            try:
                with anyio.fail_after(self._limits.probe_s):
                    await self._probe()
            except TimeoutError:
                log.info("%s is busy, or out of reach", self._name)  # its calls have limits of their own
            except MCPError as error:
                if error.code in (UNAUTHORIZED, STALE_SESSION):
                    self.retire(error)
                elif is_connection_error(error):
                    self.end(error)

    async def _probe(self) -> None:
        if self.modern:
            await self.client.session.send_discover(self.client.protocol_version)
        else:
            await self.client.session.send_request(PingRequest(), EmptyResult)

    @property
    def _name(self) -> str:
        return self.transport.diagnostics().target
