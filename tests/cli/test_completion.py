"""Shell completion: the scripts, and names asked of the daemon."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine


def complete(cli: CommandLine, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    line = " ".join(["manyhands", *words])
    env = {"_MANYHANDS_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    ran = cli(env=env)
    assert (ran.code, ran.err) == (0, "")
    return [item.partition(",")[2] for item in ran.out.split()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(cli: CommandLine, shell: str) -> None:
    script = cli.ok("completion", shell).out
    assert f"_MANYHANDS_COMPLETE={shell}_complete" in script


def test_bash_takes_the_script_and_completes_with_it(served: CommandLine, tmp_path: Path) -> None:
    launcher = tmp_path / "manyhands"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m manyhands.cli.main "$@"\n')
    launcher.chmod(0o755)
    script = """
        set -e
        eval "$(manyhands completion bash)"
        COMP_WORDS=(manyhands servers show ha) COMP_CWORD=3
        _manyhands_completion manyhands
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}:{served.environment['PATH']}"
    ran = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**served.environment, "PATH": path},
    )
    assert (ran.stdout, ran.stderr) == ("hand\n", "")


def test_commands_and_options_complete(cli: CommandLine) -> None:
    assert complete(cli, "ser") == ["servers"]
    assert "reconnect" in complete(cli, "servers", "")
    assert complete(cli, "servers", "add", "x", "--tru") == ["--trust"]
    assert complete(cli, "servers", "add", "x", "--trust", "") == ["ask", "trusted", "full"]


def test_servers_tools_and_settings_complete_by_name(served: CommandLine) -> None:
    assert complete(served, "servers", "remove", "h") == ["hand"]
    assert complete(served, "tools", "call", "mcp__hand__e") == ["mcp__hand__echo"]
    assert complete(served, "settings", "get", "searx") == ["searxng_url"]


def test_without_a_daemon_names_do_not_complete_and_nothing_is_started(cli: CommandLine) -> None:
    assert complete(cli, "servers", "remove", "") == []
    assert not cli.home.exists()
