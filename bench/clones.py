"""Copies: what `jscpd` finds in the corpus of `quality`, and how long both take. It is installed when named.

The two look for different things (docs/quality.md says which), so there is no limit on what they find.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import anyio

from bench.quality import copy_corpus, timed_scan
from bench.report import Report, progress
from manyhands import Hub

PLACE = Path(__file__).parent.parent / ".bench" / "jscpd"
WANTED = "jscpd@5"


def run(report: Report) -> None:
    install()
    with tempfile.TemporaryDirectory() as place:
        corpus = Path(place) / "corpus"
        lines = copy_corpus(corpus)
        report.add("clones", "corpus", lines, "lines")
        took, copies, copied = jscpd(corpus, Path(place) / "report")
        report.add("clones", "jscpd", took, "s", against=f"{copies:,} pairs, {copied:,} lines")
        took, groups, copied = anyio.run(ours, corpus)
        report.add("clones", "full scan of ours", took, "s", against=f"{groups:,} groups, {copied:,} lines")


def install() -> None:
    if (PLACE / "node_modules").exists():
        return
    progress(f"installing {WANTED}")
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / "package.json").write_text('{"private": true}\n')
    subprocess.run(["npm", "install", "--silent", WANTED], cwd=PLACE, check=True)


def jscpd(corpus: Path, output: Path) -> tuple[float, int, int]:
    command = [str(PLACE / "node_modules" / ".bin" / "jscpd"), "--silent", "--reporters", "json"]
    began = time.perf_counter()
    subprocess.run(
        [*command, "--output", str(output), str(corpus)],
        stdout=subprocess.DEVNULL,
        env=os.environ,
        check=False,
    )
    took = time.perf_counter() - began
    total = json.loads((output / "jscpd-report.json").read_text())["statistics"]["total"]
    return took, total["clones"], total["duplicatedLines"]


async def ours(corpus: Path) -> tuple[float, int, int]:
    with tempfile.TemporaryDirectory() as home:
        async with Hub(home, resume=False) as hub:
            took = await timed_scan(hub, corpus)
            channel, _ = await hub.channels.find_or_create(dir_path=str(corpus))
            summary = (await hub.quality.snapshot(channel.id)).snapshot.summary
            return took, summary["clones"], summary["duplicated_lines"]
