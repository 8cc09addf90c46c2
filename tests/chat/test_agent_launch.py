"""How command agents are started, as words, variables and mounts."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from manyhands.chat.agent_launch import (
    BRIDGE_FILE,
    INSIDE,
    Hands,
    Task,
    agent_sandbox,
    mcp_command,
    mcp_config,
    plan,
    write_bridge,
)
from manyhands.chat.runners import PRESETS, Runner
from manyhands.errors import InvalidError
from manyhands.sandbox import Bubblewrap


def task(tmp_path: Path, **runner: object) -> Task:
    return Task(
        Runner.model_validate({"command": "agent"} | runner),
        "run_1",
        "ch_1",
        str(tmp_path),
        "do it",
        "mha_secret",
        "agent",
        {"PATH": "/bin", "KEY": "value"},
        str(tmp_path / "home"),
        str(tmp_path / "home" / "run"),
        Hands("http://127.0.0.1:1", str(tmp_path / "home" / "run" / "api.sock")),
    )


def test_outside_of_a_sandbox_the_hub_is_reached_over_http(tmp_path: Path) -> None:
    config = json.loads(mcp_config(task(tmp_path)))["mcpServers"]["manyhands"]
    assert config["env"] == {"MANYHANDS_TOKEN": "mha_secret"}
    assert config["args"][-6:] == [
        *["--api-url", "http://127.0.0.1:1", "--channel-id", "ch_1", "--author-id", "agent"]
    ]
    assert "mcp" in config["args"]


def test_inside_it_is_reached_over_the_socket_by_one_file(tmp_path: Path) -> None:
    command = mcp_command(task(tmp_path, sandbox="bwrap"))
    assert command[1] == f"{INSIDE}/{BRIDGE_FILE}"
    assert ("--api-url", f"unix:{INSIDE}/api.sock") in list(pairwise(command))


@pytest.mark.parametrize("sandbox", ["none", "bwrap", "docker", "podman"])
def test_no_secret_is_among_the_words(tmp_path: Path, sandbox: str) -> None:
    image = {"image": "example"} if sandbox in ("docker", "podman") else {}
    for command, words in PRESETS.items():
        asked = task(tmp_path, command=command, sandbox=sandbox, **image)
        launch = plan(asked, Bubblewrap())
        assert "mha_secret" not in " ".join(launch.argv)
        assert "value" not in launch.argv
        assert launch.environment["MANYHANDS_TOKEN"] == "mha_secret"
        assert launch.stdin == b"do it"
        assert command in launch.argv
        assert len(launch.argv) >= len(words)


def test_the_bridge_of_a_container_is_a_command_line_of_its_own(tmp_path: Path) -> None:
    launch = plan(task(tmp_path, sandbox="podman", image="example"), Bubblewrap())
    words = shlex.split(launch.environment["MANYHANDS_MCP_COMMAND"])
    assert words[:2] == ["python3", f"{INSIDE}/{BRIDGE_FILE}"]
    mounted = [word for word in launch.argv if word.startswith("type=bind")]
    assert any(f"target={INSIDE}/api.sock" in word for word in mounted)
    assert any(f"target={INSIDE}/mcp.json,readonly" in word for word in mounted)
    assert ["--env", "KEY"] in [list(pair) for pair in pairwise(launch.argv)]


def test_a_sandbox_needs_the_socket(tmp_path: Path) -> None:
    lost = replace(task(tmp_path, sandbox="bwrap"), hands=Hands("http://127.0.0.1:1", None))
    with pytest.raises(InvalidError, match="manyhands up"):
        agent_sandbox(lost)


def test_mounts_of_the_runner_are_shown_and_keys_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (".ssh", ".agent", "home"):
        (tmp_path / name).mkdir()
    sandbox = agent_sandbox(
        task(tmp_path, sandbox="bwrap", mounts=[{"path": "~/.agent", "writable": True}], network=False)
    )
    assert str(tmp_path / ".ssh") in sandbox.hidden
    assert str(tmp_path / "home") in sandbox.hidden
    shown = {mount.target: mount.writable for mount in sandbox.mounts}
    assert shown[str(tmp_path / ".agent")] is True
    assert not sandbox.network


def test_a_prompt_that_is_too_long_for_an_argument_says_what_to_do(tmp_path: Path) -> None:
    long = replace(task(tmp_path, args=["{prompt}"]), prompt="x" * 200_000)
    with pytest.raises(InvalidError, match="standard input"):
        plan(long, Bubblewrap())


def test_the_bridge_is_one_file_that_needs_no_package(tmp_path: Path) -> None:
    write_bridge(str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(tmp_path / BRIDGE_FILE), "--nonsense"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode != 0
    assert "nonsense" in ran.stderr
