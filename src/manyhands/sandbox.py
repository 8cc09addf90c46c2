"""The sandbox for other people's commands: what it may touch, bubblewrap's arguments for that, and whether
bubblewrap is here and works.

`bubblewrap_arguments` is pure. Starting and ending the command is its owner's business: killing the process
that was started ends everything inside, since the sandbox has its own table of processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio

PROGRAM = "bwrap"
PROBE_S = 5.0

# Where programs put what is theirs alone, and where the system keeps sockets: whoever can reach the one of a
# container engine or of the person's own session manager has left the sandbox.
PRIVATE = ("/run", "/tmp", "/var/tmp")  # noqa: S108 (they are replaced, not written to)
# Without these no host name is found, or (NixOS) no program.
KEPT_OF_RUN = (
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    "/run/current-system",
)
_POINTS_OUTSIDE = ("TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR")


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or directory that is seen inside at `target`, whatever is hidden there otherwise."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What a command may do. All directories are absolute, exist, and hold no links.

    Everything that is not named can be read and not written. Of nested directories the inner one counts.
    """

    directory: str
    """Where the command starts."""
    writable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Seen as empty directories."""
    private: tuple[str, ...] = PRIVATE
    """Empty at first, writable, gone with the command."""
    network: bool = True
    mounts: tuple[Mount, ...] = ()
    """They count more than anything else."""


def sandbox_for(
    project: str,
    *,
    directory: str | None = None,
    hidden: Sequence[str] = (),
    network: bool = True,
    mounts: Sequence[Mount] = (),
) -> Sandbox:
    """A sandbox in which a project can be worked on; what does not exist here is left out."""
    root = os.path.realpath(project)
    return Sandbox(
        os.path.realpath(directory or root),
        writable=(root,),
        hidden=_existing(hidden),
        private=_existing(PRIVATE),
        network=network,
        mounts=tuple(mounts),
    )


def _existing(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths if os.path.isdir(path)))


def bubblewrap_arguments(
    program: str, command: Sequence[str], sandbox: Sandbox, *, superuser: bool = False
) -> list[str]:
    """The command line that runs a command in a sandbox. `superuser`: whether whoever starts it is root."""
    apart = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    # Root keeps one right, else it could not write into a project that is somebody else's; none of those that
    # undo what is mounted.
    rights = ["--cap-drop", "ALL", *(["--cap-add", "CAP_DAC_OVERRIDE"] if superuser else [])]
    return [
        program,
        "--die-with-parent",
        *apart,
        *([] if sandbox.network else ["--unshare-net"]),
        *rights,
        *["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
        *_mounts(sandbox),
        *["--chdir", sandbox.directory],
        "--",
        *command,
    ]


def _mounts(sandbox: Sandbox) -> list[str]:
    """Outer directories before inner ones; of one that is named twice, hidden counts most, then writable."""
    mounts = {path: ["--tmpfs", path] for path in sandbox.private}
    if "/run" in mounts:
        mounts |= {path: ["--ro-bind-try", path, path] for path in KEPT_OF_RUN}
    mounts |= {path: ["--bind", path, path] for path in sandbox.writable}
    mounts |= {path: ["--tmpfs", path] for path in sandbox.hidden}
    mounts |= {one.target: _bind(one) for one in sandbox.mounts}
    ordered = sorted(mounts, key=lambda path: (path.rstrip("/").count("/"), path))
    # Read-only at last: what is mounted inside of something hidden needs a place there.
    closed = [path for path in ordered if path in sandbox.hidden and mounts[path] == ["--tmpfs", path]]
    return [
        *(argument for path in ordered for argument in mounts[path]),
        *(argument for path in closed for argument in ("--remount-ro", path)),
    ]


def _bind(mount: Mount) -> list[str]:
    return ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]


def sandboxed_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for inside: temporary files and caches go where they can be written."""
    inside = {name: value for name, value in environment.items() if name not in _POINTS_OUTSIDE}
    cache = "/tmp/cache"  # noqa: S108 (the sandbox has its own)
    return {**inside, "XDG_CACHE_HOME": cache, "npm_config_cache": f"{cache}/npm"}


class Bubblewrap:
    """The bubblewrap of this machine. That it is installed does not mean that it may do its work here."""

    def __init__(self, find: Callable[[], str | None] = lambda: shutil.which(PROGRAM)) -> None:
        self._find = find
        self._proven: str | None = None

    async def problem(self, sandbox: Sandbox) -> str | None:
        """Why commands cannot run in this sandbox; nothing when they can."""
        path = self._find()
        if path is None:
            return f"{PROGRAM} is not installed"
        if path == self._proven:
            return None
        failure = await self._try(path, sandbox)
        self._proven = path if failure is None else None  # what fails may be mended while we run
        return failure

    async def _try(self, path: str, sandbox: Sandbox) -> str | None:
        command = _wrapped(path, ["true"], sandbox)
        environment = {"PATH": os.environ.get("PATH", os.defpath)}
        with anyio.move_on_after(PROBE_S):
            try:
                tried = await anyio.run_process(
                    command, check=False, stderr=subprocess.STDOUT, env=environment
                )
            except OSError as error:
                return f"{PROGRAM} cannot be started ({error.strerror})"
            said = tried.stdout.decode(errors="replace").strip().splitlines()
            if tried.returncode == 0:
                return None
            return f"{PROGRAM} does not work here" + (f" ({said[-1][:200]})" if said else "")
        return f"{PROGRAM} did not answer within {PROBE_S:g} s"

    def wrap(self, command: Sequence[str], sandbox: Sandbox) -> list[str]:
        """The command line for this machine."""
        return _wrapped(self._find() or PROGRAM, command, sandbox)


def _wrapped(path: str, command: Sequence[str], sandbox: Sandbox) -> list[str]:
    superuser = hasattr(os, "geteuid") and os.geteuid() == 0
    return bubblewrap_arguments(path, command, sandbox, superuser=superuser)
