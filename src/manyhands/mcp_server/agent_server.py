"""The MCP server for agents as a part of another program: the bridge, on any transport of the SDK."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from manyhands import __version__
from manyhands.bridge.agent import AgentLine
from manyhands.bridge.journal import Journal
from manyhands.bridge.options import Options, UsageError
from manyhands.bridge.relay import Relay
from manyhands.bridge.upstream import Upstream
from manyhands.errors import InvalidError

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream

Transport = AbstractAsyncContextManager[tuple[Any, Any]]
"""What yields a stream of the client's messages and one for ours, as the SDK's transports do."""
GONE = (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What is raised when nobody takes our messages any more."""
BACKLOG = 1024
DRAIN_S = 2.0


class AgentServer:
    """Gives an agent its hands in the hub, inside any program; a daemon has to run.

    It speaks for a channel, or for the channel of a directory, on stdio or on any transport of the SDK:

    >>> import anyio
    >>> from manyhands import AgentServer
    >>> async def main() -> None:
    ...     server = AgentServer(dir=".", agent_id="builder-1")
    ...     await server.run("stdio")  # until the client is gone
    >>> anyio.run(main)  # doctest: +SKIP
    """

    def __init__(
        self,
        channel_id: str | None = None,
        api_url: str | None = None,
        author_id: str | None = None,
        *,
        dir: str | os.PathLike[str] | None = None,
        memory_dir: str | os.PathLike[str] | None = None,
        agent_id: str | None = None,
        gateway: bool = False,
        platform: str = "local",
        token: str | None = None,
        home: str | os.PathLike[str] | None = None,
        log: str | None = None,
    ) -> None:
        """`channel_id` or `dir` says for whom it speaks; `memory_dir` offers the tools of memory.

        Without `api_url` and `token` it finds them as `manyhands mcp` does.
        """
        root = memory_dir or dir
        if channel_id is None and root is None:
            raise InvalidError("An agent's server needs a channel.", hint="Give channel_id or dir.")
        try:
            self._options = Options(
                api_url=api_url,
                channel_id=channel_id,
                dir=None if root is None else os.fspath(root),
                author_id=author_id,
                platform=platform,
                agent_id=agent_id,
                memory=memory_dir is not None,
                gateway=gateway,
                log=log,
                home=None if home is None else os.fspath(home),
                token=token,
            )
        except UsageError as error:
            raise InvalidError(str(error), hint="Correct api_url.") from error
        self._journal = Journal(self._options.log_file)
        self._upstream = Upstream(self._options, self._journal)
        self._is_over = False

    async def run(self, transport: Transport | Literal["stdio"] = "stdio") -> None:
        """Serve until the client is gone; the agent is taken off the registry then."""
        if transport == "stdio":
            from mcp.server.stdio import stdio_server

            transport = stdio_server()
        try:
            async with transport as (reads, writes):
                await self._serve(reads, writes)
        finally:
            with anyio.CancelScope(shield=True):
                await self.unregister_agent()

    async def unregister_agent(self) -> None:
        """Take the agent off the registry and give its token back; harmless to do again."""
        if self._is_over:
            return
        self._is_over = True
        await anyio.to_thread.run_sync(self._upstream.say_goodbye, self._options.agent_id)

    async def _serve(self, reads: Any, writes: Any) -> None:
        send, receive = anyio.create_memory_object_stream[bytes](BACKLOG)
        token = anyio.lowlevel.current_token()

        def write(data: bytes) -> None:
            with suppress(*GONE):
                anyio.from_thread.run(send.send, data, token=token)

        relay = Relay(
            self._upstream, write, self._journal, __version__, agent=self._options.agent_id is not None
        )
        async with send, receive, anyio.create_task_group() as group:
            group.start_soon(_hand_out, receive, writes)
            self._start_line(relay)
            try:
                async for message in reads:
                    await anyio.to_thread.run_sync(relay.take, _line(message))
                await anyio.to_thread.run_sync(relay.drain, DRAIN_S)
            finally:
                self._upstream.is_closing = True
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(relay.close)
            group.cancel_scope.cancel()

    def _start_line(self, relay: Relay) -> None:
        if self._options.agent_id is None:
            return
        line = AgentLine(self._options.agent_id, self._upstream, relay, self._journal)
        threading.Thread(target=line.run, name="agent", daemon=True).start()


async def _hand_out(receive: MemoryObjectReceiveStream[bytes], writes: Any) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async for data in receive:
        await writes.send(SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False)))


def _line(message: Any) -> bytes:
    """A message of the SDK as the bridge reads it; what could not be read stays unreadable."""
    if isinstance(message, Exception):
        return b"?"
    return bytes(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
