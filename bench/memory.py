"""Memory: how long a question takes at 10,000 and 200,000 chunks, how fast files are read, what it needs.

The notes are made from the words of our own documentation, by how often they occur there, with names that are
rare. Questions are asked in a process that did not index, with the background work of a daemon, so that its
memory is that of a daemon in use. `python -m bench.memory HOME DIRECTORY SMALL URL` is that process.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import psutil

from bench.report import Report, p50, progress
from manyhands import Hub
from manyhands.memory.types import Query

SIZES = (10_000, 200_000)
CHUNKS_OF_A_FILE = 10
QUESTIONS = 300
DIMENSIONS = 256
LONGEST_S = 600
DOCS = Path(__file__).parent.parent / "docs"


def run(report: Report) -> None:
    from tests.postgres import running_postgres

    with running_postgres() as server:
        for size in SIZES:
            with tempfile.TemporaryDirectory() as directory:
                root = Path(directory)
                progress(f"writing {size:,} chunks")
                write_notes(root / "notes", size)
                write_notes(root / "small", CHUNKS_OF_A_FILE)
                _measure(report, root, size, "")
                with server.database() as url:
                    _measure(report, root, size, url)


def _measure(report: Report, root: Path, size: int, url: str) -> None:
    where = " on PostgreSQL" if url else ""
    home = root / f"home{where}"
    progress(f"indexing {size:,} chunks{where}")
    took, chunks = anyio.run(_index, home, root / "notes", url)
    name = f"{chunks:,} chunks{where}"
    rate = chunks / took
    report.add("memory", f"{name}, indexing with vectors", rate, "chunks/s", limit=2000, at_least=True)
    progress("asking")
    found = _asked(home, root, url)
    times = sorted(found["times"])
    most = (5, 20) if size == SIZES[0] else (50, 50)
    report.add("memory", f"{name}, a question, p50", p50(times) * 1e3, "ms", limit=most[0])
    report.add("memory", f"{name}, a question, p99", times[int(len(times) * 0.99)] * 1e3, "ms", limit=most[1])
    report.add(
        "memory", f"{name}, a question while the index is still being read", found["first"] * 1e3, "ms"
    )
    if size == SIZES[-1]:
        matrix = chunks * DIMENSIONS * 4
        grown = found["rss_after"] - found["rss_before"]
        against = f"matrix {matrix / 1e6:.0f} MB, grown by {grown / 1e6:.0f} MB"
        what = f"{name}, growth of memory beside the matrix"
        report.add("memory", what, grown / matrix, "x", limit=1.5, against=against)


async def _index(home: Path, notes: Path, url: str) -> tuple[float, int]:
    async with Hub(home, url or None, resume=False) as hub:
        scope = await hub.memory.scope(dir_path=str(notes))
        await hub.memory.status()
        start = time.perf_counter()
        done = await hub.memory.index(scope)
        return time.perf_counter() - start, done.chunks_added


def _asked(home: Path, root: Path, url: str) -> dict[str, Any]:
    paths = [str(path) for path in (home, root / "notes", root / "small")]
    command = [sys.executable, "-m", "bench.memory", *paths, url]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LONGEST_S)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


# --- the process that is asked


async def _ask(home: str, notes: str, small: str, url: str) -> None:
    async with Hub(home, url or None, resume=False) as hub:
        warm = await hub.memory.scope(dir_path=small)
        scope = await hub.memory.scope(dir_path=notes)
        questions = made_questions(Path(notes))
        for question in questions[:20]:
            await hub.memory.search(warm, Query(question))
        before = psutil.Process().memory_info().rss
        await hub.keep(hub.memory.run)
        start = time.perf_counter()
        await hub.memory.search(scope, Query(questions[0]))
        first = time.perf_counter() - start
        await hub.memory.warm(scope)
        times = []
        for question in questions:
            start = time.perf_counter()
            answer = await hub.memory.search(scope, Query(question))
            times.append(time.perf_counter() - start)
            assert answer.mode == "hybrid"
        after = psutil.Process().memory_info().rss
        found = {"times": times, "first": first, "rss_before": before, "rss_after": after}
        print(json.dumps(found))


# --- notes and questions


def words() -> tuple[Sequence[str], Sequence[int]]:
    """The words of the documentation, and how often each is used there."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))]
    counts = Counter(re.findall(r"[a-z]{2,}", " ".join(texts).lower()))
    return list(counts), list(counts.values())


def write_notes(root: Path, chunks: int) -> None:
    """Files of ten passages under two headings each, in directories of a hundred."""
    known, often = words()
    chance = random.Random(7)
    for number in range(chunks // CHUNKS_OF_A_FILE):
        paragraphs = [f"# {' '.join(chance.choices(known, often, k=3))}"]
        for at in range(CHUNKS_OF_A_FILE):
            if at == CHUNKS_OF_A_FILE // 2:
                paragraphs.append(f"## {' '.join(chance.choices(known, k=2))}")
            names = f"Project {chance.randrange(chunks)} and {chance.choice(known)}"
            paragraphs.append(f"{names}: {' '.join(chance.choices(known, often, k=25))}.")
        path = root / f"{number // 100:04}" / f"note-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(paragraphs), encoding="utf-8")


def made_questions(root: Path) -> list[str]:
    """A few words of some passage, in a sentence of the usual words around them."""
    chance = random.Random(11)
    files = sorted(root.rglob("*.md"))
    questions = []
    for _ in range(QUESTIONS):
        passages = chance.choice(files).read_text(encoding="utf-8").split("\n\n")[1:]
        said = chance.choice(passages).split()
        questions.append(f"What did we say about {' '.join(chance.sample(said, min(4, len(said))))}?")
    return questions


if __name__ == "__main__":
    anyio.run(_ask, sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4])
