"""Workflows of Prefect beside ours: the same no-op nodes, each on its own database. Installed if named."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio

from bench.report import Report, progress
from bench.workflows import NODES, nodes

PLACE = Path(__file__).parent.parent / ".bench" / "prefect"
WANTED = ("prefect>=3.4,<4", "fastapi<0.116")  # a later FastAPI has dropped a word that it uses
UV = (sys.executable, "-m", "uv")
# Tasks as Prefect wants them: each one is sent, stored and waited for.
SCRIPT = """
import sys, time
from prefect import flow, task

@task
def nothing(before=None):
    return 1

@flow(log_prints=False)
def wide(count):
    for one in [nothing.submit() for _ in range(count)]:
        one.result()

@flow(log_prints=False)
def chain(count):
    before = None
    for _ in range(count):
        before = nothing(before)

wide(5)
for which in (wide, chain):
    count = int(sys.argv[1])
    began = time.perf_counter()
    which(count)
    print(which.name, (time.perf_counter() - began) * 1000 / count, flush=True)
"""


def run(report: Report) -> None:
    python = install()
    progress(f"{NODES} tasks of Prefect")
    theirs = measure(python)
    _, wide, chain = anyio.run(nodes, None)
    for name, ours in (("wide", wide), ("chain", chain)):
        how = "in parallel" if name == "wide" else "in a chain"
        report.add(
            "prefect",
            f"{NODES} no-op nodes {how}, SQLite",
            ours,
            "ms a node",
            limit=theirs[name],
            against=f"Prefect {theirs[name]:.1f} ms a task",
        )


def install() -> Path:
    python = PLACE / "bin" / "python"
    if not (PLACE / "bin" / "prefect").exists():
        progress(f"installing {WANTED[0]}")
        subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True)
        subprocess.run([*UV, "pip", "install", "--quiet", "--python", str(python), *WANTED], check=True)
    return python


def measure(python: Path) -> dict[str, float]:
    """Milliseconds of a task, by the flow."""
    with tempfile.TemporaryDirectory() as home:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "PREFECT_HOME": home,
            "PREFECT_LOGGING_LEVEL": "ERROR",
            "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        }
        script = Path(home) / "flows.py"  # it reads the source of its flows
        script.write_text(SCRIPT)
        done = subprocess.run(
            [str(python), str(script), str(NODES)],
            env=env,
            capture_output=True,
            text=True,
            check=True,
            cwd=home,
        )
    lines = (line.split() for line in done.stdout.splitlines() if len(line.split()) == 2)
    return {name: float(value) for name, value in lines}
