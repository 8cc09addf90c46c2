"""Quality: a full scan against `lizard` in one run, the scan after a change, memory, growth with size.

The corpus are installed Python packages, by name. Ours is the whole way that a person waits for: a hub's scan
from its start to the stored snapshot, processes and all; `lizard` is its own command in one process.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
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
        corpus = Path(place) / "corpus"
        lines = copy_corpus(corpus)
        large = Path(place) / "large"
        for number in range(TIMES):
            copy_corpus(large / f"copy{number}", mark=f"\n# copy {number}\n")
        what = f"{lines:,} lines of Python ({', '.join(PACKAGES)})"
        progress(f"lizard on {what}")
        alone = p50([lizard(corpus) for _ in range(ROUNDS)])
        both = p50([lizard(corpus, "-Eduplicate") for _ in range(ROUNDS)])
        report.add("quality", "lizard, complexity alone", alone, "s", against=what)
        report.add("quality", "lizard, complexity and duplicates", both, "s")
        ours = anyio.run(measure, corpus, large)
        _add(report, ours, alone, both)


def _add(report: Report, ours: dict[str, float], alone: float, both: float) -> None:
    full = ours["full"]
    report.add("quality", "full scan, all metrics and copies", full, "s")
    report.add("quality", "full scan", full / alone, "x", limit=1.0, against="lizard, complexity alone")
    report.add("quality", "full scan", full / both, "x", limit=0.25, against="lizard with duplicates")
    report.add(
        "quality", "scan after one file changed", ours["rescan"] / full, "x", limit=0.1, against="full"
    )
    report.add("quality", "the same in a new process", ours["from_disk"] / full, "x", against="a full scan")
    report.add("quality", "memory of all its processes", ours["memory"] / 1e6, "MB", limit=500)
    growth = ours["large"] / full / TIMES
    report.add("quality", "time for a line, a million lines", growth, "x", limit=1.3, against="200,000 lines")
    report.add("quality", "memory, a million lines", ours["large_memory"] / 1e6, "MB")


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


def lizard(corpus: Path, *options: str) -> float:
    command = [sys.executable, "-m", "lizard", "-l", "python", *options, str(corpus)]
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


async def measure(corpus: Path, large: Path) -> dict[str, float]:
    """Everything about ours, each figure the median of some rounds."""
    found: dict[str, list[float]] = {"full": [], "rescan": [], "from_disk": [], "memory": []}
    for number in range(ROUNDS):
        progress(f"our scans, round {number + 1} of {ROUNDS}")
        with tempfile.TemporaryDirectory() as home:
            async with Hub(home, resume=False) as hub:
                with peak_memory() as peak:
                    found["full"].append(await timed_scan(hub, corpus))
                found["memory"].append(peak[0])
                change(corpus, number)
                found["rescan"].append(await timed_scan(hub, corpus))
                await hub._scanners.close()
                found["from_disk"].append(await timed_scan(hub, corpus))
    answer = {name: p50(values) for name, values in found.items()}
    progress("a million lines")
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, resume=False) as hub:
            with peak_memory() as peak:
                answer["large"] = await timed_scan(hub, large)
            answer["large_memory"] = peak[0]
    shutil.rmtree(large)
    return answer


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
