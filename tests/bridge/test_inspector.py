"""The official inspector in its command-line mode, over stdio and over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.conftest import api_of
from tests.cli.conftest import ENOUGH_S, CommandLine

NODE = str(Path(sys.executable).with_name("node"))
INSPECTOR = Path(__file__).parents[1] / "node" / "node_modules" / ".bin" / "mcp-inspector"


def inspect(line: CommandLine, *arguments: str) -> Any:
    ran = subprocess.run(
        [NODE, str(INSPECTOR), "--cli", *arguments],
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        env=line.environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return json.loads(ran.stdout)


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, served: CommandLine, project: Path) -> tuple[str, ...]:
    """How the inspector is told where our server is."""
    if request.param == "stdio":
        return (*served.argv("mcp", "--home", str(served.home), "--dir", str(project)),)
    api = api_of(served)
    token = api.request("POST", "/tokens", {"dir_path": str(project)})["token"]
    header = f"Authorization: Bearer {token}"
    return (f"{api.address.url}/mcp", "--transport", "http", "--header", header)


def test_the_inspector_lists_and_calls(served: CommandLine, target: tuple[str, ...], project: Path) -> None:
    listed = inspect(served, *target, "--method", "tools/list")
    assert "create_worktree_thread" in {tool["name"] for tool in listed["tools"]}
    call = ("--method", "tools/call", "--tool-name", "search_channels")
    found = inspect(served, *target, *call)
    assert [one["dir_path"] for one in found["structuredContent"]["channels"]] == [str(project)]
