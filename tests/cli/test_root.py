"""The command tree as a whole: help, usage errors, exit codes, and what is not imported."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from manyhands import __version__
from manyhands.cli.command import HubCommand, HubGroup
from manyhands.cli.main import main
from manyhands.cli.root import cli
from manyhands.errors import ConflictError

HEAVY = ("pydantic", "httpx2", "mcp", "fastapi", "sqlalchemy", "rich", "anyio", "websockets", "starlette")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MANYHANDS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MANYHANDS_URL", raising=False)
    return tmp_path / "home"


def all_commands() -> Iterator[tuple[str, click.Command]]:
    def walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None, f"{path} {name}"
                yield from walk(f"{path} {name}", child)

    return walk("manyhands", cli)


COMMANDS = dict(all_commands())
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_an_example(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split()[1:], "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: {path}")
    assert "\nExample" in text
    assert f"\n  {path.rsplit(' ', 1)[0] if path in LEAVES else path}" in text


@pytest.mark.parametrize("path", LEAVES)
def test_every_command_takes_a_home(path: str) -> None:
    command = COMMANDS[path]
    assert isinstance(command, HubCommand)
    assert "--home" in {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize(
    "path", [path for path, command in COMMANDS.items() if isinstance(command, HubGroup)]
)
def test_the_help_of_a_group_names_every_command_of_it(path: str) -> None:
    group = COMMANDS[path]
    assert isinstance(group, HubGroup)
    assert sorted(group.list_commands(click.Context(group))) == sorted({*group.later, *group.commands})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("frobnicate", "No such command 'frobnicate'"),
        ("servers lst", "Did you mean 'list'?"),
        ("servers add", "Missing argument 'NAME'"),
        ("servers add x", "Give the server's command after `--`, or --url"),
        ("servers add x -y cmd", "What belongs to the server's command goes after `--`"),
        ("servers add x --url http://h -- cmd", "not both"),
        ("servers add x --transport sse -- cmd", "--transport stdio goes with a command"),
        ("servers add x --env NOEQUALS -- cmd", "'NOEQUALS' is not NAME=VALUE"),
        ("servers add x --trust maybe -- cmd", "'maybe' is not one of"),
        ("servers add x --tool-timeout 0 -- cmd", "0 is not in the range"),
        ("servers reconnect", "Give the name of a server or --all"),
        ("tools call", "Missing argument 'NAME'"),
        ("tools rules add perhaps", "'perhaps' is not one of"),
        ("channels create", "Give a NAME, --dir, or both"),
        ("completion tcsh", "'tcsh' is not one of"),
        ("up --port 99999", "99999 is not in the range"),
    ],
)
def test_wrong_usage_is_one_line_that_says_where_to_look(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert "--help`" in captured.err


def test_without_a_command_the_help_is_shown_as_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: manyhands" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--version"], ["-V"], ["--home", "/tmp", "--version"]])
def test_the_version_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"manyhands {__version__}\n"


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "later", {})
    monkeypatch.setattr(cli, "commands", {"fail": click.Command("fail", callback=fail)})


def test_an_error_is_one_line_with_what_to_do_next(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, ConflictError("Two\nlines \x1b[31m.", hint="Do this."))
    assert main(["fail"]) == 1
    assert capsys.readouterr().err == "error: Two lines \\x1b[31m. Do this.\n"


def test_a_file_that_is_not_there_and_a_full_disk_are_no_tracebacks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, FileNotFoundError(2, "No such file or directory", "mcp.json"))
    assert main(["fail"]) == 1
    assert capsys.readouterr().err.startswith("error: mcp.json: No such file or directory.")
    raising(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))
    assert main(["fail"]) == 1
    assert "Free some disk space" in capsys.readouterr().err


def test_what_was_not_foreseen_is_one_line_unless_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, ZeroDivisionError("division by zero"))
    assert main(["fail"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("error: ZeroDivisionError: division by zero.")
    assert shown.count("\n") == 1
    monkeypatch.setenv("MANYHANDS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["fail"])


def test_a_letter_that_the_terminal_cannot_show_ends_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "manyhands.cli.main", "tools", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
    )
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_being_interrupted_is_130(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, error)
    assert main(["fail"]) == 130


def imported_by(*arguments: str) -> set[str]:
    code = (
        "import sys; from manyhands.cli.main import main; main(sys.argv[1:]); sys.exit(' '.join(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    return set(ran.stderr.split())


def test_the_version_is_told_without_importing_click() -> None:
    assert not imported_by("--version") & {"click", "http.client", "json", *HEAVY}


@pytest.mark.parametrize(
    "line", ["--help", "servers --help", "tools call --help", "status --json", "doctor --help"]
)
def test_commands_import_nothing_heavy_on_their_way(line: str) -> None:
    assert not imported_by(*line.split()) & set(HEAVY)


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    ran = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -m manyhands.cli.main servers --help | true', sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
