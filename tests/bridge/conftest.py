"""The bridge as a process: by hand, line by line, or under the official SDK's client."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters

from manyhands.cli.client import HttpApi, find_daemon
from manyhands.home import Home
from tests.cli.conftest import ENOUGH_S, HAND, CommandLine, cli, running_daemon

__all__ = ["cli"]

Mode = Literal["legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")
Json = dict[str, Any]


class ByHand:
    """A bridge that is spoken to line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._next = 0

    def send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **params: Any) -> Any:
        """Ask and wait for the answer; what else is said meanwhile is passed over."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params})
        while (answer := self.read()).get("id") != self._next or "method" in answer:
            pass
        return answer

    def initialize(self, version: str = "2025-11-25") -> Any:
        about = {"name": "test", "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=about)
        self.send({"method": "notifications/initialized"})
        return answer["result"]

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def until_notified(self, method: str) -> Any:
        while (message := self.read()).get("method") != method:
            pass
        return message["params"]

    def close(self) -> int:
        """What a client does at its end; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(ENOUGH_S)


@contextmanager
def by_hand(line: CommandLine, *options: str, **env: str) -> Iterator[ByHand]:
    process = subprocess.Popen(
        line.argv("mcp", *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**line.environment, **env},
    )
    try:
        yield ByHand(process)
    finally:
        process.kill()
        process.wait(ENOUGH_S)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


@asynccontextmanager
async def under_sdk(line: CommandLine, mode: Mode, *options: str, **more: Any) -> AsyncIterator[Client]:
    """The official client starts the bridge."""
    command, *arguments = line.argv("mcp", *options)
    server = StdioServerParameters(command=command, args=arguments, env=line.environment)
    async with Client(server, mode=mode, **more) as client:
        yield client


def api_of(line: CommandLine) -> HttpApi:
    """The daemon's API, as the owner."""
    address = find_daemon(Home(line.home), env={})
    assert address is not None
    return HttpApi(address)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """One daemon for all tests that do not end it, each with a project of its own."""
    line = CommandLine(tmp_path_factory.mktemp("served") / "home")
    with running_daemon(line):
        line.ok("servers", "add", "hand", "--trust", "trusted", "--", *HAND)
        yield line
