"""Everything that depends on the operating system: environments of children, private files, the lock of a
home, process trees: what they are, what they weigh, how they end.

It does not know what the children are: their pipes belong to `servers.transports.child`, what happens to them
when this process is killed to `guardian`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, BinaryIO, Literal, Self

from manyhands.errors import ConflictError, UnavailableError
from manyhands.guardian import kill_processes, marked_processes, processes_of, read_process

if sys.platform == "linux":
    from fcntl import F_SETPIPE_SZ, fcntl

# What a child may inherit: enough to find programs, certificates, proxies and package registries, and nothing
# else, because the daemon's own environment holds secrets.
_INHERITED = """
    HOME PATH LANG LANGUAGE TERM TMPDIR TMP TEMP USER LOGNAME SHELL TZ
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
    APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
    PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT USERNAME USERPROFILE WINDIR
"""
_INHERITED_NAMES = frozenset(_INHERITED.split())
_INHERITED_PREFIXES = ("LC_", "XDG_", "UV_", "PIP_", "NPM_CONFIG_")
# As much as asyncio reads at once; a user has 64 MB for all pipes.
_WIDE_PIPE = 256 * 1024
WATCHES_ONE_DIRECTORY: bool = sys.platform == "linux"
"""Whether to watch a tree of directories is to watch each of them; elsewhere the system does it."""


def is_readable(socket: int) -> bool:
    """Whether something lies there to be read, or it is closed. Nothing is waited for."""
    if sys.platform == "win32":
        return bool(select.select([socket], [], [], 0)[0])
    found = select.poll()  # which, unlike `select`, knows descriptors above 1024
    found.register(socket, select.POLLIN)
    return bool(found.poll(0))


def widen_pipe(pipe: int) -> None:
    """Let more wait in a pipe than the system's 64 KB, where it can: a long message needs fewer turns."""
    if sys.platform == "linux":
        with suppress(OSError):  # this user's pipes together may not grow without end
            fcntl(pipe, F_SETPIPE_SZ, _WIDE_PIPE)


def child_environment(
    extra: Mapping[str, str] | None = None, *, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment of a server: what it may inherit, then what its config says.

    Our own directories come last on the PATH: `uvx`, `npx` and `node` are there for whoever has none, and
    nobody's own `python` or `node` is replaced. The interpreter below our environment is among them, because
    `uvx` looks for one outside of any environment and else downloads it.
    """
    environment = {name: value for name, value in base.items() if _may_inherit(name, value)}
    environment |= extra or {}
    path = environment.get("PATH", os.defpath).split(os.pathsep)
    environment["PATH"] = os.pathsep.join(dict.fromkeys([*path, *_our_directories()]))
    return environment


def _our_directories() -> list[str]:
    base = Path(sys.base_prefix)
    return [str(Path(sys.executable).parent), str(base if sys.platform == "win32" else base / "bin")]


def _may_inherit(name: str, value: str) -> bool:
    upper = name.upper()
    if value.startswith("()"):  # a shell function that an old bash exported
        return False
    return upper in _INHERITED_NAMES or upper.startswith(_INHERITED_PREFIXES)


def open_private(path: Path) -> BinaryIO:
    """Open a file for writing, emptied, that its owner alone can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole, readable by its owner alone: a crash leaves the old one or the new one."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Exposure = Literal["belongs to another user", "can be written by others", "can be read by others"]


def exposure(path: Path) -> Exposure | None:
    """How others get at what should be ours alone, the worst first."""
    if sys.platform == "win32":
        return None
    facts = path.stat()
    if facts.st_uid != os.geteuid():
        return "belongs to another user"
    if facts.st_mode & 0o022:
        return "can be written by others"
    return "can be read by others" if facts.st_mode & 0o077 else None


def is_private(path: Path) -> bool:
    """Whether only its owner can read or change it, and the owner is us."""
    return exposure(path) is None


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who holds a lock. `identity` tells the process from a later one with the same id."""

    pid: int
    identity: str | None
    started: float
    url: str | None = None


class HomeLock:
    """One daemon per home. The system drops the lock when its holder dies, so a stale file does not block."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def acquire(self, url: str | None = None) -> None:
        """Take it, or say who has it."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        file = os.fdopen(descriptor, "r+b", buffering=0)
        try:
            _lock_file(file)
        except BlockingIOError:
            file.close()
            raise _lock_conflict(self._path) from None
        except OSError as error:
            file.close()
            hint = "Choose a home on a disk of this machine."
            raise UnavailableError(f"{self._path} cannot be locked: {error.strerror}.", hint=hint) from error
        self._file = file
        self.announce(url)

    def announce(self, url: str | None) -> None:
        """Write down who holds it and where it serves."""
        assert self._file is not None, "the lock is not held"
        pid = os.getpid()
        holder = LockHolder(pid, process_identity(pid), time.time(), url)
        note = json.dumps(asdict(holder)).encode()
        self._file.seek(0)
        self._file.write(note.ljust(512))  # one write: a reader sees the old note or the new one
        self._file.truncate(max(512, len(note)))

    def release(self) -> None:
        """Let it go; harmless when it is not held."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with file:
            file.truncate(0)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def read_lock(path: Path) -> LockHolder | None:
    """Who holds the lock, without touching it; nothing when nobody does or its holder has died."""
    try:
        holder = LockHolder(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    identity = process_identity(holder.pid)
    return holder if identity is not None and identity == holder.identity else None


def _lock_conflict(path: Path) -> ConflictError:
    holder = read_lock(path)
    who = f"process {holder.pid}" if holder else "another process"
    where = f" at {holder.url}" if holder and holder.url else ""
    return ConflictError(
        f"{path.parent} is in use by {who}{where}.",
        hint="Use that one, end it with `manyhands down`, or choose another home.",
        data={"pid": holder.pid if holder else None, "url": holder.url if holder else None},
    )


def _lock_file(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        file.seek(1 << 30)  # a locked region cannot be read by others, so lock one that holds nothing
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def process_identity(pid: int) -> str | None:
    """A text that no later process with the same id has; nothing when there is no such process."""
    if sys.platform == "linux":
        process = read_process(pid)
        return process.started if process else None
    else:  # noqa: RET505 - else type checkers call the rest unreachable
        started = process_started(pid)
        return None if started is None else str(started)


def process_started(pid: int) -> float | None:
    """When a process began, in seconds since 1970; nothing when it is gone."""
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def memory_of(pid: int) -> int:
    """Resident bytes of one process; none when it is gone."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def memory_of_trees(pids: Iterable[int]) -> dict[int, int]:
    """Resident bytes of each process with its descendants, from one look at the process table."""
    import psutil

    children: dict[int, list[int]] = {}
    resident: dict[int, int] = {}
    for process in psutil.process_iter(["ppid", "memory_info"]):
        memory = process.info["memory_info"]
        resident[process.pid] = memory.rss if memory else 0
        children.setdefault(process.info["ppid"], []).append(process.pid)

    def family(pid: int) -> set[int]:
        found = {pid}
        while young := {child for parent in found for child in children.get(parent, ())} - found:
            found |= young
        return found

    return {pid: sum(resident[member] for member in family(pid)) for pid in pids if pid in resident}


def terminate_group(pid: int) -> bool:
    """Ask the group that this process leads to end; whether anybody was there to be asked."""
    return _signal_group(pid, signal.SIGTERM)


def _signal_group(pid: int, number: int) -> bool:
    try:
        if sys.platform == "win32":
            os.kill(pid, signal.CTRL_BREAK_EVENT)
        else:
            os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_tree(pid: int, marker: str) -> int:
    """Kill a child's whole tree, those included that left its group; how many there were."""
    if sys.platform == "win32":
        import subprocess

        subprocess.run(
            ["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, timeout=10, check=False
        )
        return 1
    _signal_group(pid, signal.SIGKILL)
    remaining = processes_of({pid}, marker)
    kill_processes(remaining)
    return len(remaining)


def kill_marked(marker: str) -> int:
    """Kill what an earlier daemon with this marker left behind (Linux); how many there were."""
    left = marked_processes(marker) - {os.getpid()}
    kill_processes(left)
    return len(left)


def return_memory() -> None:
    """Give back to the system what was freed: the C library of Linux keeps much of it for later."""
    if sys.platform != "linux":
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
