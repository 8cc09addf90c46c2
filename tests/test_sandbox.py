"""What a sandbox lets a command do, as arguments of bubblewrap; `test_run_command` sees that they hold."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from manyhands.sandbox import (
    KEPT_OF_RUN,
    Bubblewrap,
    Mount,
    Sandbox,
    bubblewrap_arguments,
    sandbox_for,
    sandboxed_environment,
)

pytestmark = pytest.mark.anyio

PROJECT = Sandbox("/home/p/src", writable=("/home/p",), hidden=("/home/.manyhands",))


def mounts(sandbox: Sandbox) -> list[str]:
    """What is mounted where, in order: `kind path`, without what every sandbox begins with."""
    arguments = bubblewrap_arguments("bwrap", ["true"], sandbox)
    kinds = ("--bind", "--tmpfs", "--remount-ro", "--ro-bind-try")
    return [f"{kind} {path}" for kind, path in pairwise(arguments) if kind in kinds]


def test_the_command_line_is_complete() -> None:
    assert bubblewrap_arguments("/usr/bin/bwrap", ["bash", "-c", "ls"], PROJECT) == [
        "/usr/bin/bwrap",
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        *["--cap-drop", "ALL"],
        *["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
        *["--tmpfs", "/run", "--tmpfs", "/tmp"],
        *["--tmpfs", "/home/.manyhands"],
        *["--bind", "/home/p", "/home/p"],
        *["--ro-bind-try", "/run/current-system", "/run/current-system"],
        *["--ro-bind-try", "/run/resolvconf", "/run/resolvconf"],
        *["--tmpfs", "/var/tmp"],
        *["--ro-bind-try", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/resolv.conf"],
        *["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"],
        *["--remount-ro", "/home/.manyhands"],
        *["--chdir", "/home/p/src"],
        "--",
        *["bash", "-c", "ls"],
    ]


def test_the_network_is_there_unless_it_is_switched_off() -> None:
    closed = Sandbox("/p", writable=("/p",), network=False)
    assert "--unshare-net" not in bubblewrap_arguments("bwrap", ["true"], PROJECT)
    assert "--unshare-net" in bubblewrap_arguments("bwrap", ["true"], closed)


def test_root_keeps_the_right_to_write_into_the_project_and_no_other() -> None:
    arguments = bubblewrap_arguments("bwrap", ["true"], PROJECT, superuser=True)
    added = [value for name, value in pairwise(arguments) if name == "--cap-add"]
    assert added == ["CAP_DAC_OVERRIDE"]
    assert arguments.index("--cap-drop") < arguments.index("--cap-add")


def test_a_project_in_a_private_directory_is_mounted_after_it() -> None:
    found = mounts(Sandbox("/tmp/p", writable=("/tmp/p",)))
    assert found.index("--tmpfs /tmp") < found.index("--bind /tmp/p")


def test_what_is_hidden_inside_a_project_stays_hidden() -> None:
    found = mounts(Sandbox("/home/me", writable=("/home/me",), hidden=("/home/me/.manyhands",)))
    assert found.index("--bind /home/me") < found.index("--tmpfs /home/me/.manyhands")


def test_a_project_inside_of_what_is_hidden_can_be_used() -> None:
    found = mounts(Sandbox("/h/trees/p", writable=("/h/trees/p",), hidden=("/h",)))
    assert found.index("--tmpfs /h") < found.index("--bind /h/trees/p") < found.index("--remount-ro /h")


def test_hidden_counts_more_than_writable_and_writable_more_than_private() -> None:
    assert "--bind /h" not in mounts(Sandbox("/h", writable=("/h",), hidden=("/h",)))
    found = mounts(Sandbox("/tmp", writable=("/tmp",)))
    assert "--bind /tmp" in found
    assert "--tmpfs /tmp" not in found


def test_a_mount_counts_more_than_anything_and_shows_what_is_elsewhere() -> None:
    extra = (Mount("/h/run/a.sock", "/run/m/a.sock", writable=True), Mount("/h/x", "/h/x"))
    sandbox = Sandbox("/p", writable=("/p", "/h/x"), hidden=("/h",), private=("/run",), mounts=extra)
    arguments = bubblewrap_arguments("bwrap", ["true"], sandbox)
    joined = " ".join(arguments)
    assert "--bind /h/run/a.sock /run/m/a.sock" in joined
    assert "--ro-bind /h/x /h/x" in joined
    assert "--bind /h/x" not in joined.replace("--ro-bind", "")
    assert joined.index("--tmpfs /run") < joined.index("/run/m/a.sock")


def test_nothing_of_run_is_kept_where_it_is_not_private() -> None:
    assert not any("/run" in mount for mount in mounts(Sandbox("/p", writable=("/p",), private=("/tmp",))))
    assert all(path.startswith("/run/") for path in KEPT_OF_RUN)


def test_a_sandbox_for_a_project_names_only_what_exists_and_no_links(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / "src").mkdir(parents=True)
    home.mkdir()
    (tmp_path / "link").symlink_to(project)
    made = sandbox_for(
        str(tmp_path / "link"),
        directory=str(tmp_path / "link" / "src"),
        hidden=[str(home), str(tmp_path / "nowhere")],
        network=False,
    )
    assert made.directory == str(project / "src")
    assert made.writable == (str(project),)
    assert made.hidden == (str(home),)
    assert not made.network
    assert all(Path(path).is_dir() for path in made.private)


def test_inside_temporary_files_and_caches_go_where_they_can_be_written() -> None:
    outside = {"PATH": "/bin", "TMPDIR": "/scratch", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_CACHE_HOME": "/c"}
    inside = sandboxed_environment(outside)
    assert inside["PATH"] == "/bin"
    assert inside["XDG_CACHE_HOME"].startswith("/tmp/")
    assert not {"TMPDIR", "XDG_RUNTIME_DIR"} & inside.keys()


async def test_bubblewrap_that_is_not_installed_is_named() -> None:
    assert await Bubblewrap(lambda: None).problem(PROJECT) == "bwrap is not installed"


async def test_bubblewrap_that_may_not_do_its_work_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('bwrap: setting up uid map: Permission denied')\n"
    )
    broken.chmod(0o755)
    wrap = Bubblewrap(lambda: str(broken))
    problem = await wrap.problem(PROJECT)
    assert problem == "bwrap does not work here (bwrap: setting up uid map: Permission denied)"
    broken.write_text("#!/bin/sh\nexit 0\n")
    assert await wrap.problem(PROJECT) is None


async def test_bubblewrap_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    problem = await Bubblewrap(lambda: str(tmp_path / "gone")).problem(PROJECT)
    assert problem == "bwrap cannot be started (No such file or directory)"


async def test_once_proven_bubblewrap_is_not_tried_again(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho x >> {tried}\n")
    program.chmod(0o755)
    wrap = Bubblewrap(lambda: str(program))
    assert [await wrap.problem(PROJECT) for _ in range(3)] == [None, None, None]
    assert tried.read_text() == "x\n"
