"""Uvicorn as a part of our own task group: no signals, no logging and no lifespan of its own."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn

KEEP_ALIVE_S = 30
LARGEST_FRAME = 1 << 20


class HttpServer(uvicorn.Server):
    """Serves an ASGI app on sockets that are bound already, until `stop`."""

    def __init__(self, app: Any, grace_s: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                interface="asgi3",
                log_config=None,
                # Addresses hold the token once, and the call log says more.
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="websockets-sansio",
                ws_max_size=LARGEST_FRAME,
                # Small frames, mostly to this machine: packing them costs more than sending them.
                ws_per_message_deflate=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=grace_s,
            )
        )
        logging.getLogger("uvicorn.access").disabled = True  # whoever collects logs of all kinds
        self.listening = anyio.Event()
        self.stopped = anyio.Event()

    async def serve_on(self, *listeners: socket.socket) -> None:
        """Serve until it is stopped."""
        try:
            await self.serve(list(listeners))
        finally:
            self.stopped.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    def stop(self) -> None:
        """Take no more, let what is under way end within the grace, then cancel it."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the daemon's."""
        yield
