"""The guardian: a small process that ends the daemon's children when the daemon is gone, however it went.

It is this file run as a script (`python -I -S guardian.py MARKER`): standard library alone, and little of it
at the top. `Guardian`, the daemon's end, holds the only write end of its standard input and writes `+PID` and
`-PID` lines (a PID leads its own process group). When that pipe ends, the guardian kills what is left: the
groups, their descendants and, on Linux, every process whose environment carries the marker, wherever it went.

`processes_of` answers "what belongs to this child" and is what a polite stop finishes with, too. Starting and
stopping children is not done here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import asyncio
    import subprocess
    from collections.abc import AsyncIterator

MARKER_VARIABLE = "MANYHANDS_GUARD"
_ROUNDS = 100
_PAUSE = 0.02
_RESTARTS_PER_MINUTE = 5
_CLOSE_TIMEOUT = 5.0


class Process(NamedTuple):
    """A live process, as far as kinship goes. `started` tells it from a later one with the same id."""

    parent: int
    group: int
    session: int
    started: str


def process_table() -> dict[int, Process]:
    """Every live process by id; zombies are dead already. Empty on Windows: `taskkill` walks the tree."""
    if sys.platform == "win32":
        return {}
    elif sys.platform == "linux":  # noqa: RET505 - else type checkers call the rest unreachable
        found = {pid: read_process(pid) for pid in _linux_pids()}
        return {pid: process for pid, process in found.items() if process}
    else:
        return _ps_table()


def _linux_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read_process(pid: int) -> Process | None:
    """One process of Linux, or nothing when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The second field is the program's name in brackets, with any character in it.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Process(int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode())


def _ps_table() -> dict[int, Process]:
    import subprocess

    command = ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,sess=,stat=,lstart="]
    listing = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    rows = [line.split(maxsplit=5) for line in listing.splitlines()]
    return {
        int(row[0]): Process(int(row[1]), int(row[2]), 0, row[5])
        for row in rows
        if len(row) == 6 and not row[4].startswith("Z")
    }


def processes_of(leaders: set[int], marker: str) -> set[int]:
    """What belongs to these children: their groups and sessions, what is marked, and all descendants."""
    table = process_table()
    mine = {pid for pid, process in table.items() if process.group in leaders or process.session in leaders}
    mine |= marked_processes(marker) & table.keys()
    mine |= leaders & table.keys()
    while young := {pid for pid, process in table.items() if process.parent in mine and pid not in mine}:
        mine |= young
    return mine - {os.getpid(), 0, 1}


def marked_processes(marker: str) -> set[int]:
    """Linux: processes whose environment carries the marker, or one that continues it after a dot."""
    if sys.platform != "linux" or not marker:
        return set()
    wanted = f"{MARKER_VARIABLE}={marker}".encode()
    return {pid for pid in _linux_pids() if _carries(pid, wanted)}


def _carries(pid: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = b"\0" + file.read() + b"\0"
    except OSError:
        return False
    return b"\0" + wanted + b"\0" in environment or b"\0" + wanted + b"." in environment


def kill_processes(pids: set[int]) -> None:
    """Kill them without asking."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        except OSError:
            continue


def _kill_windows_trees(leaders: set[int]) -> None:
    import subprocess

    for pid in leaders:
        subprocess.run(
            ["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, timeout=10, check=False
        )


class _Watch:
    """The children that are alive, each with the start time that it had when it was announced."""

    def __init__(self) -> None:
        self._started: dict[int, str | None] = {}

    def obey(self, line: bytes) -> None:
        try:
            pid = int(line[1:])
        except ValueError:
            return
        if line[:1] == b"+":
            self._started[pid] = _started(pid)
        elif line[:1] == b"-":
            self._started.pop(pid, None)

    def leaders(self) -> set[int]:
        """Those whose id has not been given to somebody else since."""
        return {pid for pid, started in self._started.items() if _started(pid) in (started, None)}


def _started(pid: int) -> str | None:
    process = read_process(pid) if sys.platform == "linux" else None
    return process.started if process else None


def _end_all(leaders: set[int], marker: str) -> None:
    if sys.platform == "win32":
        _kill_windows_trees(leaders)
        return
    for _ in range(_ROUNDS):  # a process may fork while it is being killed
        remaining = processes_of(leaders, marker)
        if not remaining:
            return
        kill_processes(remaining)
        time.sleep(_PAUSE)


def main(marker: str) -> None:
    """Watch until the daemon's end of the pipe closes, then end what it left."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    watch = _Watch()
    with contextlib.suppress(
        OSError
    ):  # the daemon may be gone already; what it announced is still in the pipe
        print("watching", flush=True)
    for line in sys.stdin.buffer:
        watch.obey(line)
    _end_all(watch.leaders(), marker)


def session_options() -> dict[str, Any]:
    """Arguments that start a child as the leader of its own session and group."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


class Guardian:
    """The daemon's end of the pipe. Whoever starts a child calls `watch` before anything else."""

    def __init__(self, marker: str, loop: asyncio.AbstractEventLoop) -> None:
        self.marker = marker
        self._loop = loop
        self._watched: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._restarts: list[float] = []
        self._children = 0

    @property
    def pid(self) -> int | None:
        """The guardian's process."""
        return self._process.pid if self._process else None

    def child_marker(self) -> str:
        """A value of the marker variable for one child: the guardian's own, continued."""
        self._children += 1
        return f"{self.marker}.{self._children}"

    def watch(self, pid: int) -> None:
        """The child and its group end when this process does."""
        self._watched.add(pid)
        self._tell(f"+{pid}\n")

    def release(self, pid: int) -> None:
        """The child has ended."""
        self._watched.discard(pid)
        self._tell(f"-{pid}\n")

    def start(self) -> None:
        """Start the guardian's process and tell it all that is watched."""
        import subprocess

        self._process = process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, self.marker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=os.path.abspath(os.sep),
            # Nothing of ours, so that no marker of an outer hub makes it a victim.
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            **session_options(),
        )
        assert process.stdin
        assert process.stdout
        if sys.platform != "win32":
            os.set_blocking(process.stdin.fileno(), False)
            self._loop.add_reader(process.stdout.fileno(), self._listen, process.stdout.fileno())
        for pid in sorted(self._watched):
            self._tell(f"+{pid}\n")

    def _listen(self, descriptor: int) -> None:
        if not os.read(descriptor, 64):
            self._restart()

    def _tell(self, line: str) -> None:
        if self._process is None:
            return
        assert self._process.stdin
        try:
            os.write(self._process.stdin.fileno(), line.encode())  # so short that it goes as a whole
        except OSError:  # it died, or it has not read for so long that the pipe is full
            self._restart()

    def _restart(self) -> None:
        import logging

        now = time.monotonic()
        self._restarts = [moment for moment in self._restarts if now - moment < 60.0] + [now]
        self.close(patience=0.0)
        log = logging.getLogger(__name__)
        if len(self._restarts) > _RESTARTS_PER_MINUTE:
            log.error("The guardian keeps dying: children will outlive this process if it is killed.")
            return
        log.warning("The guardian died; starting another.")
        self.start()

    def close(self, patience: float = _CLOSE_TIMEOUT) -> None:
        """End the guardian: it kills whatever is still watched or marked, and goes."""
        import subprocess

        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin
        assert process.stdout
        if sys.platform != "win32":
            self._loop.remove_reader(process.stdout.fileno())
        process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_CLOSE_TIMEOUT)
        process.stdout.close()


@contextlib.asynccontextmanager
async def guardian(marker: str | None = None) -> AsyncIterator[Guardian]:
    """A guardian for as long as the block lasts, replaced when it dies.

    A marker that is the same at every start lets `system.kill_marked` find what a lost guardian missed.
    """
    import asyncio

    guard = Guardian(marker or os.urandom(8).hex(), asyncio.get_running_loop())
    guard.start()
    try:
        yield guard
    finally:
        guard.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
