"""Real MCP servers, as their authors publish them: how to start each of them here.

Servers from npm run with the environment's own Node. `web_everything` is one that somebody else started: over
HTTP or SSE, on the loopback alone.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

BIN = Path(sys.executable).parent
NODE = str(BIN / "node")
PRELOAD = Path(__file__).parent / "preload"
PACKAGES = Path(__file__).parents[1] / "node" / "node_modules" / "@modelcontextprotocol"
START_S = 30.0

WebTransport = Literal["http", "sse"]
_KINDS: Mapping[WebTransport, tuple[str, str]] = {"http": ("streamableHttp", "mcp"), "sse": ("sse", "sse")}


def from_npm(name: str, *args: str, **config: Any) -> dict[str, Any]:
    """The configuration of a reference server from npm, on stdio."""
    return {"command": NODE, "args": [_entry(name), *args], "trust": "trusted", **config}


def from_pypi(name: str, *args: str, **config: Any) -> dict[str, Any]:
    """The configuration of a reference server from PyPI, on stdio."""
    return {"command": str(BIN / f"mcp-server-{name}"), "args": list(args), "trust": "trusted", **config}


def npm_command(name: str) -> tuple[str, ...]:
    """The command that starts a reference server from npm, on stdio."""
    return NODE, _entry(name)


def watched_everything(witness: Path) -> dict[str, Any]:
    """`server-everything` on stdio; the reason of every request that it aborts goes into a file."""
    args = [*_preloaded("witness"), _entry("everything"), "stdio"]
    return {"command": NODE, "args": args, "env": {"WITNESS": str(witness)}, "trust": "trusted"}


@dataclass
class WebServer:
    """`server-everything` as a process of somebody else."""

    transport: WebTransport
    witness: Path
    process: Process
    port: int

    @property
    def config(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/{_KINDS[self.transport][1]}"
        return {"transport": self.transport, "url": url, "trust": "trusted"}

    async def restart(self) -> None:
        """On the same port; whoever was connected is forgotten."""
        await self.end()
        self.process, self.port = await _start_web(self.transport, self.witness, self.port)

    async def end(self) -> None:
        """Outright; Node runs below a script that starts it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await self.process.aclose()


@asynccontextmanager
async def web_everything(transport: WebTransport, witness: Path) -> AsyncIterator[WebServer]:
    """Runs it as long as the block does."""
    server = WebServer(transport, witness, *await _start_web(transport, witness, 0))
    try:
        yield server
    finally:
        with anyio.CancelScope(shield=True):
            await server.end()


async def _start_web(transport: WebTransport, witness: Path, port: int) -> tuple[Process, int]:
    preloads = (*_preloaded("loopback"), *_preloaded("witness"))
    command = [NODE, *preloads, _entry("everything"), _KINDS[transport][0]]
    environment = {**os.environ, "PORT": str(port), "WITNESS": str(witness)}
    process = await anyio.open_process(command, env=environment, stderr=None, start_new_session=True)
    assert process.stdout is not None
    with anyio.fail_after(START_S):
        line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)
    host, port_text = line.decode().split()
    assert host == "127.0.0.1"
    return process, int(port_text)


def _preloaded(name: str) -> tuple[str, str]:
    return "--require", str(PRELOAD / f"{name}.cjs")


def _entry(name: str) -> str:
    return str(PACKAGES / f"server-{name}" / "dist" / "index.js")
