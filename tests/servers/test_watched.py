from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

import pytest

from manyhands.servers.transports.types import TransportDiagnostics
from manyhands.servers.watched import WatchedTransport

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.client._transport import TransportStreams

pytestmark = pytest.mark.anyio


class Dying:
    """A transport whose process has closed its pipes and has no exit code yet."""

    def __init__(self) -> None:
        self.closed = asyncio.Event()
        self.closed.set()
        self.on_stream: Callable[[bool], None] | None = None
        self.looked = asyncio.Event()
        self.left = False

    async def __aenter__(self) -> TransportStreams:
        raise AssertionError("not entered here")

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.left = True

    def diagnostics(self) -> TransportDiagnostics:
        self.looked.set()
        return TransportDiagnostics(target="x", elapsed=1.0, pid=1, exit_code=-9 if self.left else None)


async def test_an_exit_code_that_we_caused_is_not_told() -> None:
    watched = WatchedTransport(Dying())
    await watched.__aexit__(None, None, None)
    assert watched.diagnostics().exit_code is None


async def test_it_is_left_even_when_it_is_cancelled_on_the_way() -> None:
    dying = Dying()
    task = asyncio.create_task(WatchedTransport(dying).__aexit__(None, None, None))
    await dying.looked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert dying.left
