"""The odd HTTP server as a process, for the tests of the HTTP and SSE transports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
from mcp import Client
from mcp.types import CallToolResult, TextContent

from manyhands.servers.transports.http import HttpTransport
from manyhands.servers.transports.sse import SseTransport

SCRIPT = Path(__file__).parent.parent / "fixtures" / "odd_http_server.py"
WITHIN = 30.0


class OddServer:
    """A running server; `restart` gives it the same port again."""

    def __init__(self) -> None:
        self._process = self._started(0)
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())

    def _started(self, port: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, str(SCRIPT), str(port)], stdout=subprocess.PIPE)

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    def restart(self) -> None:
        self._process = self._started(self.port)
        assert self._process.stdout
        self._process.stdout.readline()


@contextmanager
def running_odd_server() -> Iterator[OddServer]:
    server = OddServer()
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def connected(transport: HttpTransport | SseTransport) -> AsyncIterator[Client]:
    with anyio.fail_after(WITHIN):
        async with Client(transport, mode="legacy") as client:
            yield client


def text(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text
