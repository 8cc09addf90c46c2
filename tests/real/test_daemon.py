"""A daemon with real servers, as a process: on a machine without runners of packages, and killed outright."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.conftest import ENOUGH_S, CommandLine, running_daemon, until
from tests.real.servers import BIN, npm_command

LOCK = Path(__file__).parents[1] / "node" / "package-lock.json"
TIME = ("mcp__time__get_current_time", '{"timezone": "Asia/Tokyo"}')


@dataclass(frozen=True)
class BareMachine(CommandLine):
    """`manyhands` where the PATH leads to what scripts are made of, and to no program that runs packages."""

    @property
    def environment(self) -> dict[str, str]:
        programs = self.home.parent / "programs"
        return {**super().environment, "PATH": str(programs)}


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


@pytest.fixture
def bare(tmp_path: Path) -> BareMachine:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sh", "dirname", "realpath"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    return BareMachine(tmp_path / "home")


def add(cli: CommandLine, name: str, *command: str) -> None:
    """Packages may have to be downloaded first."""
    cli.ok("servers", "add", name, "--trust", "trusted", "--connect-timeout", "100000", "--", *command)


def from_lock(package: str) -> str:
    version = json.loads(LOCK.read_text())["packages"][f"node_modules/{package}"]["version"]
    return f"{package}@{version}"


def test_uvx_and_npx_are_those_of_the_environment_where_the_machine_has_none(bare: BareMachine) -> None:
    assert shutil.which("npx", path=bare.environment["PATH"]) is None
    memory = from_lock("@modelcontextprotocol/server-memory")
    with running_daemon(bare):
        add(bare, "time", "uvx", "mcp-server-time")
        assert "+09:00" in bare.ok("tools", "call", *TIME).out
        add(bare, "memory", "npx", "-y", memory)
        assert "entities" in bare.ok("tools", "call", "mcp__memory__read_graph", "{}").out


def test_a_package_that_does_not_exist_is_told_with_what_the_runner_said(bare: BareMachine) -> None:
    ran = bare("servers", "add", "nothing", "--", "uvx", "manyhands-no-such-package-anywhere")
    assert ran.code == 1
    assert "'nothing'" in ran.err
    assert "manyhands-no-such-package-anywhere" in ran.err
    assert "servers log nothing" in ran.err


@pytest.mark.requirement("L03")
def test_a_daemon_that_is_killed_leaves_no_process_and_the_next_one_has_everything(cli: CommandLine) -> None:
    with running_daemon(cli):
        daemon = psutil.Process(cli.ok("status", "--json").json["pid"])
        add(cli, "everything", *npm_command("everything"))
        add(cli, "time", str(BIN / "mcp-server-time"))
        add(cli, "files", *npm_command("filesystem"))
        cli.ok("tools", "call", "mcp__everything__echo", '{"message": "before"}')
        hanging = start_hanging_call(cli)
        family = daemon.children(recursive=True)
        assert len({server(process) for process in family}) > 3
        os.kill(daemon.pid, signal.SIGKILL)
        until(lambda: not [process for process in family if is_alive(process)])
        hanging.communicate(timeout=ENOUGH_S)
    assert hanging.returncode == 1
    with running_daemon(cli):
        until(lambda: states(cli) == {"everything": "connected", "time": "connected", "files": "connected"})
        assert "+09:00" in cli.ok("tools", "call", *TIME).out
        calls = [(call["tool"], call["status"]) for call in cli.ok("tools", "log", "--json").json]
    long = "trigger-long-running-operation"
    assert calls == [("get_current_time", "success"), (long, "error"), ("echo", "success")]


def start_hanging_call(cli: CommandLine) -> subprocess.Popen[str]:
    """A call that the daemon's end cuts off."""
    name, arguments = "mcp__everything__trigger-long-running-operation", '{"duration": 600, "steps": 1}'
    started = subprocess.Popen(
        cli.argv("tools", "call", name, arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
    )
    until(lambda: any(call["status"] == "pending" for call in cli.ok("tools", "log", "--json").json))
    return started


def states(cli: CommandLine) -> dict[str, Any]:
    return {server["name"]: server["status"] for server in cli.ok("servers", "list", "--json").json}


def server(process: psutil.Process) -> str:
    return " ".join(process.cmdline())


def is_alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
