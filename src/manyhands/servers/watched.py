"""A transport that remembers how it was left: whether the server went by itself, and with which exit code."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

from manyhands.servers.transports.types import TransportDiagnostics, TransportHandle

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_POLL = 0.02
_POLLS = 15


class WatchedTransport:
    """Goes between the SDK, which enters and leaves it, and the owner, who wants to know what happened."""

    def __init__(self, handle: TransportHandle) -> None:
        self.handle = handle
        self._left: TransportDiagnostics | None = None

    async def __aenter__(self) -> TransportStreams:
        return await self.handle.__aenter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        exit_code: int | None = None
        try:
            exit_code = await self._exit_code_of_its_own()
        finally:  # a stop can come while we wait, and the transport must be left all the same
            try:
                suppress = await self.handle.__aexit__(exc_type, exc_value, traceback)
            finally:
                self._left = replace(self.handle.diagnostics(), exit_code=exit_code)
        return suppress

    def diagnostics(self) -> TransportDiagnostics:
        """What is known of it; the exit code only if the process ended before we ended it."""
        return self._left or self.handle.diagnostics()

    async def _exit_code_of_its_own(self) -> int | None:
        """A dying process closes its pipes a moment before it has an exit code."""
        facts = self.handle.diagnostics()
        if self.handle.closed.is_set() and facts.pid is not None:
            with anyio.CancelScope(shield=True):
                for _ in range(_POLLS):
                    if (facts := self.handle.diagnostics()).exit_code is not None:
                        break
                    await anyio.sleep(_POLL)
        return facts.exit_code
