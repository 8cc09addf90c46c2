"""Starts: the command line against an empty Python, the daemon until it serves, its memory when idle."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.report import Report, p50, progress

ROUNDS = 15
MANYHANDS = str(Path(sys.executable).with_name("manyhands"))


def run(report: Report) -> None:
    progress("starts of the command line")
    with tempfile.TemporaryDirectory() as home, daemon(home) as running:
        env = os.environ | {"MANYHANDS_HOME": home}
        empty: list[float] = []
        version: list[float] = []
        listing: list[float] = []
        for _ in range(ROUNDS):
            empty.append(_timed([sys.executable, "-c", "pass"], env))
            version.append(_timed([MANYHANDS, "--version"], env))
            listing.append(_timed([MANYHANDS, "servers", "list"], env))
        base = p50(empty)
        against = f"`python -c pass` {base * 1e3:.0f} ms"
        report.add(
            "startup",
            "manyhands --version",
            (p50(version) - base) * 1e3,
            "ms more",
            limit=100,
            against=against,
        )
        report.add(
            "startup",
            "manyhands servers list",
            (p50(listing) - base) * 1e3,
            "ms more",
            limit=250,
            against=against,
        )
        time.sleep(3)
        memory = psutil.Process(running.pid).memory_info().rss / 1e6
        report.add("startup", "daemon idle, resident", memory, "MB", limit=150)
    progress("second start of the daemon")
    with tempfile.TemporaryDirectory() as home:
        times = []
        for _ in range(4):
            start = time.perf_counter()
            with daemon(home):
                times.append(time.perf_counter() - start)
        report.add("startup", "second start until it serves", p50(times[1:]), "s", limit=3)


def _timed(command: list[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=env, check=True, capture_output=True)
    return time.perf_counter() - start


@contextmanager
def daemon(home: str) -> Iterator[subprocess.Popen[str]]:
    """A daemon of its own, ready; it ends with the block."""
    process = subprocess.Popen(
        [MANYHANDS, "up", "--home", home, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready:"):
                break
        else:
            raise AssertionError("the daemon ended before it was ready")
        yield process
    finally:
        process.terminate()
        process.wait(30)
