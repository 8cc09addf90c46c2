"""The bridge: its start beside a stdio server made with the Python SDK, and what it adds to a call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bench.report import Report, p50, progress
from bench.startup import MANYHANDS, daemon
from manyhands.bridge.http import Address, Connection
from manyhands.cli.client import HttpApi, find_daemon
from manyhands.home import Home

ROUNDS = 12
CALLS = 300
WARM_UP = 20
SDK_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bench")
@server.tool()
def echo(text: str) -> str:
    return text
server.run()
"""
ABOUT = {"name": "bench", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ABOUT}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {"name": "search_channels", "arguments": {"query": "bench"}, "_meta": META}


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as project, daemon(home):
        env = os.environ | {"MANYHANDS_HOME": home}
        command = [MANYHANDS, "mcp", "--dir", project]
        progress("starts of the bridge")
        _starts(report, command, env)
        progress("calls through the bridge")
        _calls(report, command, env, home, project)


def _starts(report: Report, command: Sequence[str], env: Mapping[str, str]) -> None:
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(_first_answer(command, env))
        theirs.append(_first_answer([sys.executable, "-c", SDK_SERVER], env))
    against = f"a stdio server of the Python SDK, {p50(theirs) * 1e3:.0f} ms"
    report.add("bridge", "start to first answer", p50(ours) / p50(theirs), "x", limit=0.25, against=against)
    report.add("bridge", "start to first answer, alone", p50(ours) * 1e3, "ms", limit=150)


def _first_answer(command: Sequence[str], env: Mapping[str, str]) -> float:
    start = time.perf_counter()
    with _started(command, env) as (writes, reads):
        _ask(writes, reads, "initialize", INITIALIZE)
        return time.perf_counter() - start


def _calls(report: Report, command: Sequence[str], env: Mapping[str, str], home: str, project: str) -> None:
    """Both ways side by side, so that a busy moment hits both."""
    address = find_daemon(Home(Path(home)), env={})
    assert address is not None
    issued = HttpApi(address).request("POST", "/tokens", {"dir_path": project})
    straight = Connection(Address(address.url))
    through, direct = [], []
    with _started(command, env) as (writes, reads):
        for number in range(CALLS + WARM_UP):
            start = time.perf_counter()
            _ask(writes, reads, "tools/call", CALL)
            between = time.perf_counter()
            _post(straight, issued["token"])
            if number >= WARM_UP:
                through.append(between - start)
                direct.append(time.perf_counter() - between)
    straight.close()
    added = p50(through) - p50(direct)
    against = f"straight to `/mcp`, {p50(direct) * 1e3:.1f} ms"
    report.add("bridge", "a tool's call", added * 1e3, "ms more", limit=3, against=against)


@contextmanager
def _started(command: Sequence[str], env: Mapping[str, str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def _message(method: str, params: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _ask(writes: IO[bytes], reads: IO[bytes], method: str, params: Mapping[str, Any]) -> None:
    writes.write(_message(method, params) + b"\n")
    writes.flush()
    answer = json.loads(reads.readline())
    assert not answer.get("result", {"isError": True}).get("isError"), answer


def _post(connection: Connection, token: str) -> None:
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search_channels",
    }
    response = connection.request("POST", "/mcp", headers, _message("tools/call", CALL))
    assert not json.loads(response.read())["result"].get("isError")
