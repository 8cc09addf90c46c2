"""`manyhands quality` with and without a daemon."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from manyhands.home import Home
from manyhands.system import read_lock
from tests.chat.repositories import Repository
from tests.cli.conftest import CommandLine, running_daemon, until
from tests.quality.conftest import repository
from tests.quality.projects import MANY

__all__ = ["repository"]


@pytest.fixture(autouse=True, scope="module")
def no_process_waits(served: CommandLine) -> None:
    """What the daemon keeps for the next scan would outlive a test."""
    served.ok("settings", "set", "quality_wait_s", "0")


def test_a_directory_is_scanned_and_read_without_a_daemon(cli: CommandLine, repository: Repository) -> None:
    place = ("--dir", str(repository.path))
    scanned = cli.ok("quality", "scan", *place).out
    assert "Quality signal" in scanned
    assert "2 of 5 files are in 1 import cycle." in " ".join(scanned.split())
    assert "shop/prices.py:14 many: parameters 7" in scanned
    assert "2 copies, 16 lines" in scanned
    assert cli.ok("quality", "show", *place, "--json").json["branch"] == "main"


def test_what_a_scan_found_is_listed(served: CommandLine, repository: Repository) -> None:
    place = ("--dir", str(repository.path))
    unknown = served("quality", "show", *place)
    assert (unknown.code, "manyhands quality scan --dir" in unknown.err) == (1, True)
    snapshot = served.ok("quality", "scan", *place, "--json").json
    assert (snapshot["files"], snapshot["branch_mismatch"]) == (5, False)
    assert "Quality signal" in served.ok("quality", "show", *place).out
    table = served.ok("quality", "complexity", *place, "--limit", "1").out
    assert ("many" in table, "7!" in table) == (True, True)
    assert "shop/orders.py:4-11 totals" in served.ok("quality", "clones", *place).out


def test_scans_end_when_the_daemon_is_killed(cli: CommandLine, repository: Repository) -> None:
    with running_daemon(cli):
        holder = read_lock(Home(cli.home).lock_file)
        assert holder is not None
        cli.ok("quality", "scan", "--dir", str(repository.path), "--json")
        family = psutil.Process(holder.pid).children(recursive=True)
        scanning = [one for one in family if "manyhands.quality.scanner" in one.cmdline()]
        assert len(scanning) == 1  # it waits for the next scan
        os.kill(holder.pid, signal.SIGKILL)
        until(lambda: not any(map(_is_alive, scanning)))


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.requirement("L42")
def test_the_gate_has_an_exit_code(served: CommandLine, repository: Repository) -> None:
    def gate(*options: str) -> tuple[int, str]:
        ran = served("quality", "gate", "--dir", str(repository.path), *options)
        return ran.code, ran.out + ran.err

    code, out = gate("--base", "main")
    assert (code, "passed: no new problems" in out) == (0, True)
    (repository.path / "shop/new.py").write_text(MANY.replace("many", "more"))
    code, out = gate("--base", "main", "--changes")
    assert code == 1
    assert "shop/new.py:1: more: parameters is 7 (at most 5)" in out
    assert "+  shop/new.py:1" in out
    assert gate("--base", "main", "--threshold", "parameters=7")[0] == 0
    assert gate("--base", "main", "--skip", "functions")[0] == 0
    assert gate("--base", "main", "--max-problems", "1")[0] == 0
    assert gate("--base", "main", "--exclude", "new.py")[0] == 0
    assert gate("--base", "main", "--exclude", "new.py", "--min-signal", "10000")[0] == 1
    code, out = gate("--base", "nowhere")
    assert (code, "no commit 'nowhere'" in out) == (1, True)
    assert gate("--threshold", "speed=1")[0] == 2


def test_what_is_not_there_is_said(served: CommandLine, tmp_path: Path) -> None:
    ran = served("quality", "scan", "--dir", str(tmp_path / "gone"))
    assert (ran.code, "There is no directory" in ran.err) == (1, True)
    assert "No source file was measured" in served.ok("quality", "scan", "--dir", str(tmp_path)).out
    assert "There are no functions." in served.ok("quality", "complexity", "--dir", str(tmp_path)).out
    assert "There are no copies." in served.ok("quality", "clones", "--dir", str(tmp_path)).out
