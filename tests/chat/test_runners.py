"""What a person may configure as a channel's runner."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from manyhands.chat.runners import ALONE, PRESETS, Runner, read_runner
from manyhands.errors import InvalidError


@pytest.mark.parametrize("command", PRESETS)
def test_known_agents_need_no_arguments(command: str) -> None:
    runner = Runner(command=f"/usr/bin/{command}")
    assert runner.arguments == (*PRESETS[command], *ALONE.get(command, ()))
    assert Runner(command=command, args=("x",)).arguments == ("x",)


def test_a_sandbox_of_the_hub_takes_the_place_of_their_own() -> None:
    alone, held = Runner(command="codex"), Runner(command="codex", sandbox="bwrap")
    assert alone.arguments[-3:] == ("--sandbox", "workspace-write", "-")
    assert held.arguments[-3:] == ("--sandbox", "danger-full-access", "-")
    assert "acceptEdits" in Runner(command="claude").arguments
    assert "bypassPermissions" in Runner(command="claude", sandbox="bwrap").arguments


@pytest.mark.parametrize(
    "bad",
    [
        {"command": ""},
        {"command": "a\0b"},
        {"command": "a", "args": ["\0"]},
        {"command": "a", "sandbox": "docker"},
        {"command": "a", "sandbox": "docker", "image": "--privileged"},
        {"command": "a", "sandbox": "chroot"},
        {"command": "a", "env": {"A B": "x"}},
        {"command": "a", "env": {"A=B": "x"}},
        {"command": "a", "mounts": [{"path": "relative"}]},
        {"command": "a", "memory": "lots"},
        {"command": "a", "timeout_s": 0},
        {"command": "a", "shell": True},
    ],
)
def test_what_could_not_run_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Runner.model_validate(bad)


def test_a_stored_one_that_is_no_longer_valid_says_so() -> None:
    with pytest.raises(InvalidError, match="Set it again"):
        read_runner({"command": 5})
