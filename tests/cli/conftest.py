"""A daemon in a process of its own, and the command line as a process, as people run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.model_endpoint import ModelEndpoint, running_endpoint

HAND_SERVER = str(Path(__file__).with_name("hand_server.py"))
HAND = (sys.executable, HAND_SERVER)
ENOUGH_S = 120


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """`manyhands` for one home."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MANYHANDS_U")}
        null_keyring = "keyring.backends.null.Keyring"
        return {
            **kept,
            "MANYHANDS_HOME": str(self.home),
            "PYTHON_KEYRING_BACKEND": null_keyring,
            "COLUMNS": "100",
        }

    def argv(self, *arguments: str) -> Sequence[str]:
        return (sys.executable, "-m", "manyhands.cli.main", *arguments)

    def __call__(
        self,
        *arguments: str,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        ran = subprocess.run(
            self.argv(*arguments),
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=ENOUGH_S,
            check=False,
            env={**self.environment, **(env or {})},
            cwd=cwd,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def ok(self, *arguments: str, stdin: str | None = None, cwd: Path | None = None) -> Ran:
        """Run it; failing fails the test with what it said."""
        ran = self(*arguments, stdin=stdin, cwd=cwd)
        assert ran.code == 0, f"{arguments}: {ran.err}{ran.out}{self.log_tail()}"
        return ran

    def log_tail(self) -> str:
        """The end of the hub's log, which says more than a command does."""
        file = self.home / "logs" / "manyhands.log"
        return "\n".join(file.read_text().splitlines()[-5:]) if file.exists() else ""


def until(is_so: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + ENOUGH_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def running_daemon(cli: CommandLine, *options: str) -> Iterator[str]:
    """`manyhands up` on a free port; yields its address with the token."""
    process = subprocess.Popen(
        cli.argv("up", "--port", "0", *options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready: "), f"{line}{process.communicate(timeout=ENOUGH_S)[1]}"
        yield line.removeprefix("ready: ").strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=ENOUGH_S)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line for a new home without a daemon."""
    return CommandLine(tmp_path / "home")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The command line for a home whose daemon runs as long as the module's tests, with the server `hand`."""
    line = CommandLine(tmp_path_factory.mktemp("served") / "home")
    with running_daemon(line):
        line.ok("servers", "add", "hand", "--trust", "trusted", "--", *HAND)
        yield line


@dataclass(frozen=True)
class Talk:
    """The command line for a home whose daemon asks a model that the test speaks for."""

    cli: CommandLine
    model: ModelEndpoint
    directory: Path
    """A project with one file, `notes.txt`."""

    def run(self, *arguments: str, stdin: str | None = None) -> Ran:
        return self.cli("run", *arguments, stdin=stdin, cwd=self.directory)


@pytest.fixture(scope="module")
def talk(served: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    directory = tmp_path_factory.mktemp("project")
    (directory / "notes.txt").write_text("buy milk\n")
    with running_endpoint() as model:
        base = ("--provider", "openai-compatible", "--model", "m", "--base-url", model.url, "--default")
        served.ok("models", "add", "script", *base)
        yield Talk(served, model, directory)
