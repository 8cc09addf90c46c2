"""The command line in a real terminal: colours, width, progress, questions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from manyhands.cli.terminal import width_of
from tests.cli.conftest import HAND, CommandLine, running_daemon, until
from tests.cli.pseudo_terminal import Terminal, terminal


@contextmanager
def session(
    cli: CommandLine, *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    with terminal(
        cli.argv(*arguments), {**cli.environment, "TERM": "xterm-256color", **(env or {})}, columns
    ) as opened:
        yield opened


def shown(cli: CommandLine, *arguments: str, columns: int = 80) -> Terminal:
    with session(cli, *arguments, columns=columns) as opened:
        assert opened.end() == 0, opened.seen
        return opened


def test_states_are_words_in_colour(served: CommandLine) -> None:
    assert "\x1b[32mconnected\x1b[0m" in shown(served, "servers", "list").seen


def test_colour_can_be_refused(served: CommandLine) -> None:
    argv, env = served.argv("servers", "list"), served.environment
    with terminal(["env", "NO_COLOR=1", *argv], env) as opened:
        assert opened.end() == 0
    assert "\x1b[" not in opened.seen
    assert "connected" in opened.seen


@pytest.mark.parametrize("columns", [40, 50, 80, 160])
def test_every_line_of_a_list_fits_the_terminal(served: CommandLine, columns: int) -> None:
    served.ok("tools", "call", "mcp__hand__echo", '{"text": "the quick brown fox jumps over the lazy dog"}')
    served.ok("run", "say hello", "--quiet")
    for command in ("servers list", "tools list", "settings get", "tools log", "runs list", "models list"):
        lines = shown(served, *command.split(), columns=columns).text.splitlines()
        assert max(map(width_of, lines)) <= columns, (command, lines)


def test_a_narrow_terminal_still_shows_how_calls_and_runs_ended(served: CommandLine) -> None:
    served.ok("tools", "call", "mcp__hand__echo", '{"text": "the quick brown fox jumps over the lazy dog"}')
    heading, newest, *_ = shown(served, "tools", "log", columns=50).text.splitlines()
    assert heading.split() == ["CALL", "TOOL", "STATUS", "RESULT"]
    assert "hand: echo" in newest
    assert "the quick" in newest
    served.ok("run", "say hello", "--quiet")
    heading, newest, *_ = shown(served, "runs", "list", columns=50).text.splitlines()
    assert heading.split()[-2:] == ["STATUS", "ANSWER"]
    assert "I found no tool" in newest


def test_wide_shows_all_of_it(served: CommandLine) -> None:
    assert "…" in shown(served, "settings", "get", columns=60).text
    assert "…" not in shown(served, "settings", "get", "--wide", columns=60).text


def test_a_person_is_told_that_no_daemon_runs(cli: CommandLine) -> None:
    assert "no daemon is running" in shown(cli, "servers", "list").text
    assert "no daemon" not in cli.ok("servers", "list").err


def test_a_long_call_shows_a_spinner_with_the_servers_progress(served: CommandLine) -> None:
    seen = shown(served, "tools", "call", "mcp__hand__count", '{"to": 5}').text
    assert "calling mcp__hand__count … " in seen
    assert "5 of 5: at 5" in seen
    assert "counted to 5\n✓ " in seen


def test_a_failure_is_red_and_says_how_it_ended(served: CommandLine) -> None:
    with session(served, "tools", "call", "mcp__hand__fail") as opened:
        assert opened.end() == 1
    assert "\x1b[31mit cannot be done" in opened.seen
    assert "✗ error" in opened.text


def test_a_servers_question_is_asked_in_the_terminal(served: CommandLine) -> None:
    with session(served, "tools", "call", "mcp__hand__ask") as opened:
        opened.expect("Who are you?")
        opened.expect("Answer it?")
        opened.type("y")
        opened.expect("Your name")
        opened.type("")
        opened.expect("This one is needed.")
        opened.expect("Your name")
        opened.type("Ada")
        opened.expect("In years")
        opened.expect("age (optional)")
        opened.type("old")
        opened.expect("This must be a whole number.")
        opened.type("36")
        opened.expect("colour")
        opened.type("green")
        opened.expect("One of: red, blue.")
        opened.type("blue")
        assert opened.end() == 0
    assert '{"action": "accept", "content": {"age": 36, "colour": "blue", "name": "Ada"}}' in opened.text


@pytest.mark.parametrize(
    "note", ["", "too long for an event " * 300, f"postgres://me:{'secret' * 4}@host/db"]
)
def test_a_servers_question_can_be_declined_in_the_terminal(served: CommandLine, note: str) -> None:
    with session(served, "tools", "call", "mcp__hand__ask", json.dumps({"note": note})) as opened:
        opened.expect("Answer it?")
        opened.type("n")
        assert opened.end() == 0
    assert '{"action": "decline"}' in opened.text


def test_a_question_is_asked_without_a_daemon_too(cli: CommandLine) -> None:
    cli.ok("servers", "add", "hand", "--", *HAND)
    with session(cli, "tools", "call", "mcp__hand__ask") as opened:
        opened.expect("Answer it?")
        opened.type("n")
        assert opened.end() == 0
    assert '{"action": "decline"}' in opened.text


def test_a_permission_is_given_in_the_terminal(cli: CommandLine, tmp_path: Path) -> None:
    config = {"mcpServers": {"mine": {"command": HAND[0], "args": [HAND[1]]}}}
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_text(json.dumps(config))
    with running_daemon(cli):
        cli.ok("channels", "create", "--dir", str(project))
        until(lambda: cli.ok("approvals", "list", "--json").json)
        with session(cli, "approvals", "answer", columns=120) as opened:
            opened.expect("mine")
            opened.expect("Allow it? [y/N]")
            opened.type("y")
            assert opened.end() == 0
        assert "✓ approved: " in opened.text
        until(lambda: cli.ok("servers", "show", "mine", "--json").json["status"] == "connected")


def test_ctrl_c_at_a_question_ends_with_130(served: CommandLine) -> None:
    with session(served, "tools", "call", "mcp__hand__ask") as opened:
        opened.expect("Answer it?")
        assert opened.interrupt() == 130
    assert "Traceback" not in opened.text


def test_the_doctor_is_nice_to_look_at(served: CommandLine) -> None:
    seen = shown(served, "doctor")
    assert "\x1b[32m✓\x1b[0m hand" in seen.seen
    assert "All is well" in seen.text


def test_a_server_is_edited_in_the_editor(cli: CommandLine, tmp_path: Path) -> None:
    cli.ok("servers", "add", "hand", "--disabled", "--", *HAND)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/"tool_timeout": 30000/"tool_timeout": 31000/\' "$1"\n')
    editor.chmod(0o755)
    with session(cli, "servers", "edit", "hand", env={"EDITOR": str(editor), "VISUAL": ""}) as opened:
        assert opened.end() == 0, opened.seen
    server = cli.ok("servers", "show", "hand", "--json").json
    assert (server["tool_timeout"], server["connect_timeout"]) == (31000, 30000)


def test_a_stranger_cannot_move_the_cursor(served: CommandLine) -> None:
    seen = shown(served, "tools", "call", "mcp__hand__echo", '{"text": "\\u001b[2Jgone"}').seen
    assert "\x1b[2J" not in seen
    assert "\\x1b[2Jgone" in seen
    assert os.linesep in seen
