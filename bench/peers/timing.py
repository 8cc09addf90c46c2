"""Runs a program and takes its time, with what it cost the processor and what it printed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 120.0
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Failed(Exception):
    """It did not do what it was asked to, and why."""


@dataclass(frozen=True)
class Took:
    """`cpu_s` counts the children that it waited for, such as its MCP server."""

    wall_s: float
    cpu_s: float
    output: str
    at_once: int = 0


def time_process(command: Sequence[str], directory: Path, env: Mapping[str, str]) -> Took:
    """From its start to its exit; what it leaves running is killed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        impatience = threading.Timer(PATIENCE_S, _kill, [process.pid])
        impatience.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        impatience.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        _kill(process.pid)
        output.seek(0)
        said = _COLOURS.sub("", output.read())
    if process.returncode:
        raise Failed(f"exit code {process.returncode} after {wall:.0f} s: {said[-300:]!r}")
    return Took(wall, usage.ru_utime + usage.ru_stime, said)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def most_at_once(notes: Sequence[str]) -> int:
    """How many waits were under way at the same time."""
    now = most = 0
    for note in notes:
        now += 1 if note == "begins" else -1
        most = max(most, now)
    return most
