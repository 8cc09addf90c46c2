"""What the doctor finds."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.cli import checks
from manyhands.cli.checks import (
    check_daemon,
    check_database,
    check_disk,
    check_home,
    check_limits,
    check_programs,
    check_python,
)
from manyhands.home import Home
from manyhands.store.schema import head_revision
from manyhands.system import HomeLock


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("MANYHANDS_URL", raising=False)
    monkeypatch.delenv("MANYHANDS_DATABASE_URL", raising=False)
    made = Home(tmp_path / "home")
    made.create()
    made.token()
    return made


def database(home: Home, revision: str) -> None:
    with closing(sqlite3.connect(home.database_file)) as opened:
        opened.execute("CREATE TABLE alembic_version (version_num TEXT)")
        opened.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
        opened.execute("CREATE TABLE filler (text TEXT)")
        opened.executemany("INSERT INTO filler VALUES (?)", [("x" * 1000,)] * 100)
        opened.commit()
    home.database_file.chmod(0o600)


def test_a_good_home_is_fine(home: Home) -> None:
    assert [finding.verdict for finding in check_home(home)] == ["ok"]


def test_a_home_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    home = Home(tmp_path / "none")
    found = [*check_home(home), *check_database(home), *check_disk(home), *check_daemon(home)]
    assert {finding.verdict for finding in found} == {"ok"}


def test_a_token_that_others_can_read_is_broken_and_says_how_to_mend_it(home: Home) -> None:
    home.token_file.chmod(0o644)
    (finding,) = check_home(home)
    assert finding.verdict == "broken"
    assert finding.fix == f"chmod go= {home.token_file}"


def test_a_home_that_others_can_write_is_told_as_such(home: Home) -> None:
    home.path.chmod(0o777)
    (finding,) = check_home(home)
    assert (finding.verdict, finding.text) == ("broken", f"{home.path} can be written by others")
    assert finding.fix == f"chmod go= {home.path}"


def test_a_home_of_another_user_is_told_as_such(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: home.path.stat().st_uid + 1)
    (finding,) = check_home(home)
    assert f"{home.path} belongs to another user" in finding.text
    both = f"{home.path} {home.token_file}"
    assert finding.fix == f"sudo chown $(id -u) {both} && chmod go= {both}"


@pytest.mark.parametrize(("another", "fix"), [(0, "chmod u+rwx"), (1, "sudo chown $(id -u)")])
def test_a_home_that_cannot_be_written_says_what_its_owner_has_to_do(
    home: Home, monkeypatch: pytest.MonkeyPatch, another: int, fix: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # which a superuser never sees
    monkeypatch.setattr(os, "geteuid", lambda: home.path.stat().st_uid + another)
    (finding,) = check_home(home)
    assert (finding.verdict, finding.fix) == ("broken", f"{fix} {home.path}")


def test_a_bad_config_file_is_told(home: Home) -> None:
    home.config_file.write_text("prot = 1\n")
    found = {finding.subject: finding for finding in check_home(home)}
    assert found["config"].verdict == "broken"
    assert "prot" in found["config"].text
    assert list(check_database(home)) == []


def test_a_whole_database_is_fine(home: Home) -> None:
    database(home, head_revision())
    (finding,) = check_database(home)
    assert finding.verdict == "ok"
    assert head_revision() in finding.text


def test_a_damaged_database_is_broken(home: Home) -> None:
    database(home, head_revision())
    content = bytearray(home.database_file.read_bytes())
    content[5000:60000] = os.urandom(55000)
    home.database_file.write_bytes(content)
    (finding,) = check_database(home)
    assert finding.verdict == "broken"
    assert "restore" in finding.fix


def test_a_database_of_the_future_is_broken(home: Home) -> None:
    database(home, "9999")
    (finding,) = check_database(home)
    assert finding.verdict == "broken"
    assert "newer" in finding.text


def test_a_daemon_that_does_not_answer_is_broken(home: Home) -> None:
    lock = HomeLock(home.lock_file)
    with lock:
        lock.announce("http://127.0.0.1:1")
        (finding,) = check_daemon(home)
    assert finding.verdict == "broken"
    assert "manyhands up" in finding.fix


def test_a_home_that_is_held_without_serving_is_a_warning(home: Home) -> None:
    with HomeLock(home.lock_file):
        (finding,) = check_daemon(home)
    assert finding.verdict == "warning"
    assert str(os.getpid()) in finding.text


def test_programs_are_found_in_our_own_environment() -> None:
    assert {finding.subject: finding.verdict for finding in check_programs()} == {
        "uvx": "ok",
        "npx": "ok",
        "node": "ok",
    }


def test_a_full_disk_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LEAST_DISK", 10**18)
    (finding,) = check_disk(home)
    assert finding.verdict == "warning"
    assert "retention" in finding.fix


def test_python_and_limits_are_told() -> None:
    found = [*check_python(), *check_limits()]
    assert [finding.subject for finding in found] == ["python", "open files"]
