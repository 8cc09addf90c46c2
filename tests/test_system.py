"""What depends on the operating system: environments, private files, the lock of a home, process trees."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from manyhands.errors import ConflictError
from manyhands.system import (
    HomeLock,
    child_environment,
    exposure,
    is_private,
    kill_tree,
    memory_of_trees,
    process_identity,
    process_started,
    read_lock,
    terminate_group,
    widen_pipe,
    write_private,
)

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_a_wide_pipe_holds_a_long_message_where_the_system_can() -> None:
    reader, writer = os.pipe()
    try:
        widen_pipe(reader)
        os.set_blocking(writer, False)
        written = os.write(writer, bytes(1_000_000))
        assert written >= (256 * 1024 if sys.platform == "linux" else 1)
    finally:
        os.close(reader)
        os.close(writer)


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_child_inherits_what_a_package_runner_needs_and_no_secret() -> None:
    base = {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LC_ALL": "C.UTF-8",
        "https_proxy": "http://proxy",
        "NODE_EXTRA_CA_CERTS": "/ca.pem",
        "UV_INDEX_URL": "https://packages.example",
        "npm_config_registry": "https://packages.example",
        "MANYHANDS_TOKEN": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "OPENAI_API_KEY": "secret",
        "TERM": "() { echo old shell function; }",
    }
    environment = child_environment(base=base)
    kept = {
        "PATH",
        "HOME",
        "LC_ALL",
        "https_proxy",
        "NODE_EXTRA_CA_CERTS",
        "UV_INDEX_URL",
        "npm_config_registry",
    }
    assert set(environment) == kept
    assert "secret" not in environment.values()


def test_the_configs_own_variables_win() -> None:
    environment = child_environment({"HOME": "/elsewhere", "TOKEN": "given"}, base={"HOME": "/home/me"})
    assert environment["HOME"] == "/elsewhere"
    assert environment["TOKEN"] == "given"


def test_our_programs_come_last_on_the_path() -> None:
    ours = [str(Path(sys.executable).parent), str(Path(sys.base_prefix) / "bin")]

    def path(extra: dict[str, str] | None, *given: str) -> list[str]:
        base = {"PATH": os.pathsep.join(given)}
        return child_environment(extra, base=base)["PATH"].split(os.pathsep)

    assert path(None, "/theirs") == ["/theirs", *ours]
    assert path({"PATH": "/mine"}, "/theirs") == ["/mine", *ours]
    assert path(None, ours[0], "/theirs") == [ours[0], "/theirs", ours[1]]


def test_a_private_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")
    path.chmod(0o644)
    assert not is_private(path)
    write_private(path, "new €")
    assert path.read_text(encoding="utf-8") == "new €"
    assert is_private(path)
    assert list(tmp_path.iterdir()) == [path]


def test_how_others_get_at_a_file_is_told_the_worst_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for mode in (0o700, 0o750, 0o701, 0o720, 0o777):
        tmp_path.chmod(mode)
        told.append(exposure(tmp_path))
    read, written = "can be read by others", "can be written by others"
    assert told == [None, read, read, written, written]
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert exposure(tmp_path) == "belongs to another user"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_private(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "half a pair \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_says_who_holds_it_and_can_be_read_without_taking_it(tmp_path: Path) -> None:
    path = tmp_path / "home" / "lock"
    assert read_lock(path) is None
    with HomeLock(path) as lock:
        lock.announce("http://127.0.0.1:8222")
        holder = read_lock(path)
        assert holder
        assert (holder.pid, holder.url) == (os.getpid(), "http://127.0.0.1:8222")
        with pytest.raises(ConflictError, match=rf"process {os.getpid()} at http://127.0.0.1:8222"):
            HomeLock(path).acquire()
        assert read_lock(path) == holder
        assert is_private(path)
    assert read_lock(path) is None
    with HomeLock(path):
        pass


def test_a_lock_whose_holder_was_killed_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = f"""
from pathlib import Path
from manyhands.system import HomeLock
lock = HomeLock(Path({str(path)!r}))
lock.acquire("http://127.0.0.1:1")
print("held", flush=True)
import time; time.sleep(600)
"""
    with running([sys.executable, "-c", script]) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(ConflictError, match=f"process {other.pid}"):
            HomeLock(path).acquire()
        other.kill()
    assert path.read_bytes()
    assert read_lock(path) is None
    with HomeLock(path):
        holder = read_lock(path)
        assert holder
        assert holder.pid == os.getpid()


@pytest.mark.parametrize(
    "note", [b"", b"garbage", b"[]", b'{"pid": 1}', b'{"pid":1,"identity":"x","started":0}']
)
def test_a_lock_file_that_says_nothing_true_is_nobodys(tmp_path: Path, note: bytes) -> None:
    path = tmp_path / "lock"
    path.write_bytes(note)
    assert read_lock(path) is None
    with HomeLock(path):
        pass


def test_a_process_is_told_from_a_later_one_with_its_id() -> None:
    mine = process_identity(os.getpid())
    assert mine
    assert process_identity(os.getpid()) == mine
    started = process_started(os.getpid())
    assert started
    assert started < time.time()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert process_identity(child.pid) is None
    assert process_started(child.pid) is None


def test_the_memory_of_a_tree_counts_its_children() -> None:
    script = f"import subprocess; p = subprocess.Popen({SLEEP!r}); print(p.pid, flush=True); p.wait()"
    with running([sys.executable, "-c", script]) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        memory = memory_of_trees([parent.pid, child, 999_999_999])
        assert set(memory) == {parent.pid, child}
        assert memory[parent.pid] > memory[child] > 1_000_000
        kill_tree(parent.pid, "")


def test_a_group_is_asked_and_a_tree_is_killed() -> None:
    with running(SLEEP) as child:
        assert terminate_group(child.pid)
        assert child.wait() != 0
    assert not terminate_group(child.pid)
    assert kill_tree(child.pid, "") == 0
