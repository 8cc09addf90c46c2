"""One prompt as a process, from its start to its exit: `manyhands run`, and other programs beside it.

Everybody asks the same model, which wants three calls of a second at once, and starts the same MCP server.
Each has a home of its own and goes once before it counts, then in turns with the others: a busy moment
meets all.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

from bench.loop import three_calls
from bench.peers.entrants import PROMPT, Entrant, Task, environment, peers
from bench.peers.model_server import CALLS, CLOSING, MODEL
from bench.peers.timing import Failed, Took, most_at_once, time_process
from bench.report import Report, p50, progress
from bench.startup import MANYHANDS, daemon

ROUNDS = 3
WITH_DAEMON, FROM_NOTHING = "manyhands run, with a daemon", "manyhands run, from nothing"
HERE = Path(__file__).parent
SERVER = HERE.parent / "peer.py"


def run(report: Report) -> None:
    asyncio.run(three_calls(report))
    with tempfile.TemporaryDirectory() as directory, _model() as url:
        place = Path(directory)
        task = Task(url, [sys.executable, str(SERVER), "stdio", str(place / "waits.log")])
        others, missing = peers(task)
        for name, why in missing.items():
            progress(f"{name} takes no part: {why}")
        with _ours(place, task) as ours:
            times = _race([*ours, *others], place, task, missing)
    _tell(report, times, others, missing)


@contextmanager
def _model() -> Iterator[str]:
    command = [sys.executable, str(HERE / "model_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


@contextmanager
def _ours(place: Path, task: Task) -> Iterator[Sequence[Entrant]]:
    """Two homes that know the model and the server; a daemon runs for one of them."""
    with ExitStack() as stack:
        found = []
        for name in (WITH_DAEMON, FROM_NOTHING):
            home = _home(place, name)
            if name == WITH_DAEMON:
                stack.enter_context(daemon(str(home / "hub")))
            env = {"MANYHANDS_HOME": str(home / "hub")}
            _configure(environment(home) | env, task)
            found.append(Entrant(name, [MANYHANDS, "run", PROMPT], env=env, is_python=True))
        yield found


def _configure(env: dict[str, str], task: Task) -> None:
    model = ["--provider", "openai-compatible", "--model", MODEL, "--base-url", task.versioned_url]
    for arguments in (
        ["models", "add", "bench", *model, "--default"],
        ["servers", "add", "peer", "--trust", "full", "--", *task.server],
    ):
        subprocess.run([MANYHANDS, *arguments], env=env, check=True, capture_output=True)


def _race(
    entrants: Sequence[Entrant], place: Path, task: Task, missing: dict[str, str]
) -> dict[str, list[Took]]:
    times: dict[str, list[Took]] = {entrant.name: [] for entrant in entrants}
    for number in range(ROUNDS + 1):
        progress(f"round {number} of {ROUNDS}" if number else "everybody once, which does not count")
        for entrant in entrants:
            if entrant.name in missing:
                continue
            try:
                took = _go(entrant, place, task)
            except Failed as failure:
                if entrant.name in (WITH_DAEMON, FROM_NOTHING):
                    raise
                missing[entrant.name] = str(failure)
                progress(f"{entrant.name} takes no part: {failure}")
                continue
            progress(f"{entrant.name} {entrant.version}: {took.wall_s:.2f} s, CPU {took.cpu_s:.2f} s")
            if number:
                times[entrant.name].append(took)
    return times


def _go(entrant: Entrant, place: Path, task: Task) -> Took:
    """Once, to the end, with a look at whether it did what it was asked to."""
    home, log = _home(place, entrant.name), place / "waits.log"
    for name, content in entrant.files.items():
        (home / name).write_text(content)
    log.write_text("")
    _seen(task)
    took = time_process(entrant.command, home / "work", environment(home) | dict(entrant.env))
    results = _seen(task)["results"]
    if CLOSING not in took.output or results != CALLS:
        raise Failed(f"{results} of {CALLS} results came back, and it ended with: {took.output[-300:]!r}")
    return replace(took, at_once=most_at_once(log.read_text().split()))


def _home(place: Path, name: str) -> Path:
    home = place / name.replace(" ", "-").replace(",", "")
    (home / "work").mkdir(parents=True, exist_ok=True)
    return home


def _seen(task: Task) -> dict[str, int]:
    with urlopen(f"{task.url}/seen", timeout=10) as answer:
        return dict(json.load(answer))


def _tell(
    report: Report, times: dict[str, list[Took]], others: Sequence[Entrant], missing: dict[str, str]
) -> None:
    walls = {
        name: p50([took.wall_s for took in taken])
        for name, taken in times.items()
        if taken and name not in missing
    }
    versions = {entrant.name: f"{entrant.name} {entrant.version}" for entrant in others}
    for name, wall in walls.items():
        cpu = p50([took.cpu_s for took in times[name]])
        at_once = min(took.at_once for took in times[name])
        limit = 1.25 if name == WITH_DAEMON else None
        against = f"CPU {cpu:.2f} s; calls at once: {at_once}"
        report.add("peers", versions.get(name, name), wall, "s", limit=limit, against=against)
    python = [entrant.name for entrant in others if entrant.is_python and entrant.name in walls]
    absent = f"; without {', '.join(missing)}" if missing else ""
    if python:
        fastest = min(python, key=walls.__getitem__)
        ratio = walls[FROM_NOTHING] / walls[fastest]
        against = f"{versions[fastest]} is the fastest{absent}"
        report.add("peers", "from nothing, of the fastest Python peer", ratio, "×", limit=1, against=against)
