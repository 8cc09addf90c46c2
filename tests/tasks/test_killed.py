"""Hubs that are killed outright, and several of them on one database: what is due happens once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from manyhands import Hub

pytestmark = pytest.mark.anyio

SOON_S = 60


class Process:
    """A hub in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        """The next event of that kind with these data."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            data: dict[str, Any] = event["data"]
            if event["type"] == kind and wanted.items() <= data.items():
                return data
        raise AssertionError(self._process.stderr.read() if self._process.stderr else "it ended")

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(SOON_S)


@contextmanager
def running(home: Path, action: str = "work", url: str = "") -> Iterator[Process]:
    command = [sys.executable, "-m", "tests.tasks.working_hub", str(home), url, action]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            hub = Process(process)
            hub.until("ready")
            yield hub
        finally:
            try:
                process.communicate("", timeout=SOON_S)
            finally:
                process.kill()


async def add(home: Path, directory: Path, url: str = "", **values: Any) -> str:
    async with Hub(home, url or None, resume=False) as hub:
        channel, _ = await hub.channels.find_or_create(dir_path=str(directory))
        return (await hub.tasks.create(channel.id, {"schedule": "1s", **values}))[0].task.id


async def history(home: Path, task_id: str, url: str = "") -> list[Any]:
    async with Hub(home, url or None, resume=False) as hub:
        return list((await hub.tasks.runs(task_id, limit=500)).items)


@pytest.mark.requirement("L32")
async def test_a_prompt_that_was_cut_goes_on_and_is_not_started_twice(tmp_path: Path) -> None:
    home = tmp_path / "home"
    task_id = await add(home, tmp_path, prompt="look")
    with running(home, "wait") as hub:
        started = hub.until("run.started")
        hub.kill()
    with running(home) as hub:
        finished = hub.until("task.run_finished", run_id=started["id"])
    assert (finished["state"], finished["text"], finished["attempt"]) == ("completed", "went on", 1)
    runs = await history(home, task_id)
    assert Counter(run.run_id for run in runs)[started["id"]] == 1
    async with Hub(home, resume=False) as hub_again:
        assert len((await hub_again.runs.list(finished["thread_id"])).items) == 1


async def test_a_script_that_was_cut_is_not_run_again_by_itself(tmp_path: Path) -> None:
    home, tally = tmp_path / "home", tmp_path / "tally"
    task_id = await add(home, tmp_path, script="echo begun >> tally; sleep 600", schedule="1s")
    with running(home) as hub:
        hub.until("task.run_started")
        while not tally.exists() or not tally.read_text():
            hub.until("task.run_skipped")
        hub.kill()
    async with Hub(home, resume=False) as hub_again:
        await hub_again.tasks.toggle(task_id, False)
    with running(home) as hub:
        finished = hub.until("task.run_finished")
    assert (finished["state"], "not run again" in finished["error"]) == ("failed", True)
    assert tally.read_text().split() == ["begun"]


async def test_two_hubs_on_one_database_fire_each_time_once_and_take_over_from_each_other(
    tmp_path: Path, postgres_url: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    tally = tmp_path / "tally"
    cut = await add(first, tmp_path, postgres_url, prompt="look")
    with running(first, "wait", postgres_url) as one:
        started = one.until("run.started")
        ids = [await add(second, tmp_path, postgres_url, script="echo x >> tally") for _ in range(3)]
        with running(second, "work", postgres_url) as other:
            await until(lambda: tally.exists() and len(tally.read_text().split()) >= 9)
            async with Hub(tmp_path / "third", postgres_url, resume=False) as third:
                for task_id in ids:
                    await third.tasks.toggle(task_id, False)
                for task_id in ids:
                    while (await third.tasks.get(task_id)).running:
                        await anyio.lowlevel.checkpoint()
            one.kill()
            finished = other.until("task.run_finished", run_id=started["id"])
    assert (finished["state"], finished["text"], finished["task_id"]) == ("completed", "went on", cut)
    runs = [run for task_id in ids for run in await history(second, task_id, postgres_url)]
    completed = [(run.task_id, run.due_at) for run in runs if run.state == "completed"]
    assert len(set(completed)) == len(completed) == len(tally.read_text().split())
    async with Hub(tmp_path / "third", postgres_url, resume=False) as third:
        assert len((await third.runs.list(finished["thread_id"])).items) == 1


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(SOON_S):
        while not holds():
            await anyio.to_thread.run_sync(time.sleep, 0.02)
