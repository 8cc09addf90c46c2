"""`manyhands backup|restore` as processes."""

from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.system import read_lock
from tests.cli.conftest import CommandLine


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a home with one channel."""
    directory = tmp_path_factory.mktemp("saved")
    line = CommandLine(directory / "home")
    line.ok("channels", "create", "before")
    ran = line.ok("backup", cwd=directory)
    (made,) = directory.glob("manyhands-*.tar.gz")
    assert str(made) in ran.out
    return made


def names(cli: CommandLine) -> set[str]:
    """The channels that a home holds."""
    with closing(sqlite3.connect(cli.home / "manyhands.db")) as database:
        return {row[0] for row in database.execute("SELECT name FROM channels")}


def test_a_backup_is_private_and_never_overwrites(cli: CommandLine, saved: Path) -> None:
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    ran = cli("backup", str(saved))
    assert ran.code == 1
    assert str(saved) in ran.err


def test_a_backup_comes_back_into_another_home(cli: CommandLine, saved: Path) -> None:
    ran = cli.ok("restore", str(saved))
    assert ran.out.startswith(f"✓ {cli.home} is as it was at 20")
    assert names(cli) == {"before"}


def test_what_is_there_is_replaced_only_when_told_and_kept_aside(cli: CommandLine, saved: Path) -> None:
    cli.ok("channels", "create", "after")
    ran = cli("restore", str(saved))
    assert ran.code == 1
    assert "--replace" in ran.err
    assert names(cli) == {"after"}
    report = cli.ok("restore", str(saved), "--replace", "--json").json
    assert Path(report["replaced"]).is_dir()
    assert names(cli) == {"before"}


def test_a_running_daemon_is_started_again_with_what_was_saved(cli: CommandLine, saved: Path) -> None:
    cli.ok("up", "--detach", "--port", "0")
    try:
        url = cli.ok("status", "--json").json["url"]
        cli.ok("channels", "create", "after")
        cli.ok("restore", str(saved), "--replace")
        assert [channel["name"] for channel in cli.ok("channels", "list", "--json").json] == ["before"]
        assert cli.ok("status", "--json").json["url"] == url
    finally:
        cli.ok("down")


def test_a_running_daemon_goes_on_when_the_restore_is_refused(
    cli: CommandLine, saved: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.tar.gz"
    damaged.write_bytes(saved.read_bytes()[:-100])
    cli.ok("up", "--detach", "--port", "0")
    try:
        before = read_lock(cli.home / "lock")
        for arguments, why in (((str(damaged), "--replace"), "damaged"), ((str(saved),), "--replace")):
            ran = cli("restore", *arguments)
            assert ran.code == 1
            assert why in ran.err
        assert before is not None
        assert read_lock(cli.home / "lock") == before
    finally:
        cli.ok("down")


KILLED = """
import os, signal, sys
from pathlib import Path
from manyhands.backup import restore_backup
from manyhands.home import Home

Path.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
restore_backup(Home(Path(sys.argv[1])), Path(sys.argv[2]), replace=True)
"""


@pytest.mark.parametrize("as_daemon", [False, True])
def test_a_restore_that_was_killed_is_finished_by_the_next_start(
    cli: CommandLine, saved: Path, as_daemon: bool
) -> None:
    cli.ok("channels", "create", "after")
    command = [sys.executable, "-c", KILLED, str(cli.home), str(saved)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not (cli.home / "manyhands.db").exists()
    if as_daemon:
        cli.ok("up", "--detach", "--port", "0")
    try:
        assert [channel["name"] for channel in cli.ok("channels", "list", "--json").json] == ["before"]
    finally:
        if as_daemon:
            cli.ok("down")
    assert not list(cli.home.glob(".restore-*"))
