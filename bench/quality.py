"""Quality: a full scan against `lizard` in one run, the scan after a change, memory, growth with size.

The corpus are installed Python packages, by name. Ours is the whole way that a person waits for: a hub's scan
from its start to the stored snapshot, processes and all; `lizard` is its own command in one process.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import psutil

from bench.report import Report, p50, progress
from manyhands import Hub

PACKAGES = ("pydantic", "hypothesis", "alembic", "dbos", "mcp", "fastapi")
TIMES = 5
"""How many differing copies of the corpus the large one has: about a million lines."""
ROUNDS = 3
LOOK_S = 0.02


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as place:
        corpus, large = Path(place) / "corpus", Path(place) / "large"
        lines = copy_corpus(corpus)
        for number in range(TIMES):
            copy_corpus(large / f"copy{number}", mark=f"\n# copy {number}\n")
        found = anyio.run(measure, corpus, large)
    of = f"{lines:,} lines of Python ({', '.join(PACKAGES)})"
    report.add("quality", "lizard, complexity alone", found["lizard"], "s", against=of)
    report.add("quality", "lizard, complexity and duplicates", found["lizard_both"], "s")
    report.add("quality", "full scan, all metrics and copies", found["full"], "s")
    _add_ratios(report, found)


def _add_ratios(report: Report, found: dict[str, float]) -> None:
    full = found["full"]
    alone, both = full / found["lizard"], full / found["lizard_both"]
    report.add("quality", "full scan", alone, "x", limit=1.0, against="lizard, complexity alone")
    report.add("quality", "full scan", both, "x", limit=0.25, against="lizard with duplicates")
    processor = found["processor"] / found["lizard_processor"]
    report.add("quality", "full scan, processor time of all cores", processor, "x", against="lizard")
    again, cold = found["rescan"] / full, found["from_disk"] / full
    report.add("quality", "scan after one file changed", again, "x", limit=0.1, against="a full scan")
    report.add("quality", "the same in a new process", cold, "x", against="a full scan")
    report.add("quality", "memory of all its processes", found["memory"] / 1e6, "MB", limit=500)
    growth = found["large"] / full / TIMES
    report.add("quality", "time for a line, a million lines", growth, "x", limit=1.3, against="200,000 lines")
    report.add("quality", "memory, a million lines", found["large_memory"] / 1e6, "MB")


def copy_corpus(target: Path, mark: str = "") -> int:
    """The `.py` files of the packages; how many lines they have."""
    lines = 0
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        root = Path(spec.origin).parent
        for path in root.rglob("*.py"):
            text = path.read_text(encoding="utf-8") + mark
            place = target / name / path.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            lines += text.count("\n")
    return lines


def lizard(corpus: Path, *options: str) -> tuple[float, float]:
    """Its time, and the processor's."""
    command = [sys.executable, "-m", "lizard", "-l", "python", *options, str(corpus)]
    began, used = time.perf_counter(), _processor_of_ended()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began, _processor_of_ended() - used


def _processor_of_ended() -> float:
    times = psutil.Process().cpu_times()
    return float(times.children_user + times.children_system)


async def measure(corpus: Path, large: Path) -> dict[str, float]:
    """In turns, so that whatever else the machine does hits both; each figure is a median."""
    found: dict[str, list[float]] = defaultdict(list)
    for number in range(ROUNDS):
        progress(f"lizard, then ours: round {number + 1} of {ROUNDS}")
        took, used = await anyio.to_thread.run_sync(lizard, corpus)
        found["lizard"].append(took)
        found["lizard_processor"].append(used)
        with tempfile.TemporaryDirectory() as home:
            async with Hub(home, resume=False) as hub:
                await _round(hub, corpus, number, found)
    progress("lizard with duplicates, then a million lines of ours")
    found["lizard_both"].append((await anyio.to_thread.run_sync(lizard, corpus, "-Eduplicate"))[0])
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, resume=False) as hub:
            with peak_memory() as peak:
                found["large"].append(await timed_scan(hub, large))
            found["large_memory"].append(peak[0])
    return {name: p50(values) for name, values in found.items()}


async def _round(hub: Hub, corpus: Path, number: int, found: dict[str, list[float]]) -> None:
    with peak_memory() as peak:
        found["full"].append(await timed_scan(hub, corpus))
    found["memory"].append(peak[0])
    found["processor"].append(_processor_of_scans())
    change(corpus, number)
    found["rescan"].append(await timed_scan(hub, corpus))
    await hub._scanners.close()
    found["from_disk"].append(await timed_scan(hub, corpus))


def _processor_of_scans() -> float:
    """What the process that scans has used, its workers included, which have ended."""
    children = psutil.Process().children()
    scanning = [one for one in children if "manyhands.quality.scanner" in one.cmdline()]
    times = [one.cpu_times() for one in scanning]
    return float(sum(one.user + one.system + one.children_user + one.children_system for one in times))


async def timed_scan(hub: Hub, directory: Path) -> float:
    channel, _ = await hub.channels.find_or_create(dir_path=str(directory))
    began = time.perf_counter()
    await hub.quality.scan(channel.id)
    return time.perf_counter() - began


def change(corpus: Path, number: int) -> None:
    file = next(iter(sorted(corpus.rglob("*.py"))))
    file.write_text(file.read_text() + f"\n\ndef added_{number}(a):\n    return a\n")


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """The most that all processes below this one have held together, in bytes."""
    over = threading.Event()
    peak = [0.0]

    def look() -> None:
        while not over.wait(LOOK_S):
            peak[0] = max(peak[0], sum(map(_resident, psutil.Process().children(recursive=True))))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
