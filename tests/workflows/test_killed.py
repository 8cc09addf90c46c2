"""A daemon that is killed outright in the middle of runs goes on with them, and does nothing twice."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from manyhands.cli.client import Address, HttpApi
from manyhands.store.urls import psycopg_url
from tests.cli.conftest import CommandLine, until

SOON_S = 60
STEP = "echo begin {name} >> log; sleep 0.05; echo end {name} >> log"


def step(name: str, more: str = "", rule: str = "rerun") -> str:
    return f"{{id: {name}, type: bash, on_interrupt: {rule}, script: '{STEP.format(name=name)}'{more}}}"


EACH = "echo begin each{{ item }} >> log; sleep 0.05; echo end each{{ item }} >> log"
STEPS = 17


def whole(scale: int) -> str:
    """Nodes side by side, in a chain, in a list and in a loop: `STEPS` of them, so many times over."""
    chain, items = range(1, 5 * scale), [*range(1, 4 * scale + 1)]
    return "\n".join(
        [
            "name: whole",
            "nodes:",
            *(f"  - {step(f'wide{n}')}" for n in range(4 * scale)),
            f"  - {step('chain0')}",
            *(f"  - {step(f'chain{n}', f', depends_on: [chain{n - 1}]')}" for n in chain),
            f"  - {{id: each, type: foreach, items: {items}, parallel: 2, depends_on: [chain2], body: [",
            f"      {{id: one, type: bash, on_interrupt: rerun, script: '{EACH}'}}]}}",
            f"  - {{id: twice, type: loop, max_iterations: {4 * scale - 1}, depends_on: [each], body: [",
            (
                "      {id: round, type: bash, on_interrupt: rerun,"
                " script: 'echo begin round{{ iteration }} >> log; echo end round{{ iteration }} >> log'}]}"
            ),
            f"  - {step('last', f', depends_on: [twice, chain{chain[-1]}, wide1, wide2, wide3]')}",
        ]
    )


@contextmanager
def daemon(cli: CommandLine, database: str = "") -> Iterator[tuple[HttpApi, subprocess.Popen[str]]]:
    """A daemon that may be killed."""
    with subprocess.Popen(
        cli.argv("up", "--port", "0"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**cli.environment, "MANYHANDS_DATABASE_URL": database},
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("ready: "), f"{line}{process.communicate(timeout=SOON_S)[1]}"
            url, _, token = line.removeprefix("ready: ").strip().partition("/?token=")
            yield HttpApi(Address(url, token)), process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=SOON_S)


def begin(api: HttpApi, text: str, directory: Path) -> str:
    stored = api.request("POST", "/workflows", {"action": "add", "workflow": text})
    body = {"workflow_name": stored["name"], "dir_path": str(directory)}
    return str(api.request("POST", "/workflows/runs", body)["run_id"])


def status(api: HttpApi, run_id: str) -> str:
    return str(api.request("GET", f"/workflows/runs/{run_id}")["run"]["status"])


def lines(directory: Path) -> list[str]:
    log = directory / "log"
    return log.read_text().splitlines() if log.exists() else []


def moved(directory: Path, count: int) -> bool:
    """Without a question to the daemon: the run goes on while that is answered."""
    log = lines(directory)
    return len(log) >= count or "end last" in log


def done_steps(url: str) -> set[str]:
    """What is on record as done, read from the database of a hub that is dead."""
    with create_engine(url, poolclass=NullPool).connect() as conn:
        query = "SELECT path FROM workflow_nodes WHERE status = 'success' AND type = 'bash'"
        return {_told(path) for (path,) in conn.execute(text(query))}


def _told(path: str) -> str:
    """The name under which a step writes to the log."""
    parts = path.split("/")
    if parts[0] == "each":
        return f"each{int(parts[1]) + 1}"
    return f"round{parts[1]}" if parts[0] == "twice" else path


def begun_steps(directory: Path) -> Counter[str]:
    return Counter(line.removeprefix("begin ") for line in lines(directory) if line.startswith("begin"))


@pytest.mark.parametrize(
    ("kills", "scale", "database"),
    [
        (3, 1, "sqlite"),
        pytest.param(20, 10, "sqlite", marks=pytest.mark.slow),
        pytest.param(20, 10, "postgresql", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_again_and_again_does_every_finished_step_once(
    kills: int, scale: int, database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cli, work, chance = CommandLine(tmp_path / "home"), tmp_path / "work", random.Random(7)
    work.mkdir()
    url = f"sqlite:///{cli.home}/manyhands.db"
    if database == "postgresql":
        url = request.getfixturevalue("postgres_url")
    finished: dict[str, int] = {}
    run_id = ""
    for _ in range(kills):
        with daemon(cli, url) as (api, process):
            run_id = run_id or begin(api, whole(scale), work)
            target = len(lines(work)) + chance.randint(1, 9)
            until(partial(moved, work, target))
            process.kill()
        begun = begun_steps(work)
        for name in done_steps(psycopg_url(url) if database == "postgresql" else url):
            assert finished.setdefault(name, begun[name]) == begun[name], name
    with daemon(cli, url) as (api, _):
        until(lambda: status(api, run_id) != "running")
        shown = api.request("GET", f"/workflows/runs/{run_id}")
        assert shown["run"]["status"] == "completed", shown
    begun = begun_steps(work)
    assert {name: begun[name] for name in finished} == finished
    ended = {line.removeprefix("end ") for line in lines(work) if line.startswith("end")}
    assert len(ended) == STEPS * scale
    assert finished, "nothing had ended before the daemon was killed"


def test_a_script_that_was_cut_is_reported_and_not_run_again_by_itself(tmp_path: Path) -> None:
    cli, work = CommandLine(tmp_path / "home"), tmp_path / "work"
    work.mkdir()
    slow = "echo {name} >> log; test -e go || sleep 600"
    text = "name: cut\nnodes:\n" + "".join(
        f"  - {{id: {name}, type: bash, script: '{slow.format(name=name)}'{more}}}\n"
        for name, more in (("asks", ""), ("fails", ", on_interrupt: fail"))
    )
    with daemon(cli) as (api, process):
        run_id = begin(api, text, work)
        until(lambda: len(lines(work)) == 2)
        process.kill()
    (work / "go").touch()
    with daemon(cli) as (api, _):
        until(lambda: status(api, run_id) == "paused")
        shown = api.request("GET", f"/workflows/runs/{run_id}")["nodes"]
        nodes: dict[str, Any] = {one["id"]: one for one in shown}
        assert (nodes["fails"]["status"], nodes["fails"]["error_class"]) == ("failed", "interrupted")
        assert (nodes["asks"]["status"], nodes["asks"]["detail"]["asked"]) == ("waiting", "interrupted")
        assert sorted(lines(work)) == ["asks", "fails"]
        api.request("POST", f"/workflows/runs/{run_id}/resume", {"node_id": "asks"})
        until(lambda: status(api, run_id) == "failed")
    assert sorted(lines(work)) == ["asks", "asks", "fails"]
