"""Hubs that are killed outright, and several of them on one database: what is due happens once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from manyhands import Hub
from manyhands.chat.types import Run, RunStatus
from manyhands.tasks.types import TaskRun
from tests.hub_process import SOON_S, HubProcess, hub_process

pytestmark = pytest.mark.anyio

ASK = "name: ask\nnodes:\n  - {id: ask, type: prompt, prompt: look}\n"


def running(home: Path, action: str = "work", url: str = "") -> AbstractContextManager[HubProcess]:
    return hub_process("tests.tasks.working_hub", str(home), url, action)


async def add(home: Path, directory: Path, **values: Any) -> str:
    async with Hub(home, resume=False) as hub:
        return await add_to(hub, directory, **values)


async def add_to(hub: Hub, directory: Path, **values: Any) -> str:
    channel, _ = await hub.channels.find_or_create(dir_path=str(directory))
    return (await hub.tasks.create(channel.id, {"schedule": "1s", **values}))[0].task.id


async def history(home: Path, task_id: str) -> list[Any]:
    async with Hub(home, resume=False) as hub:
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


async def test_of_two_hubs_on_one_database_one_is_killed_and_the_other_ends_what_both_began(
    tmp_path: Path, postgres_url: str
) -> None:
    first, second, tally = tmp_path / "first", tmp_path / "second", tmp_path / "tally"
    async with Hub(tmp_path / "third", postgres_url, resume=False) as watching:
        asks = await add_to(watching, tmp_path, prompt="look", overlap="parallel")
        await watching.workflows.save("add", ASK, "project", str(tmp_path))
        flows = await add_to(watching, tmp_path, workflow_name="ask", overlap="parallel")
        counts = [await add_to(watching, tmp_path, script="echo x >> tally") for _ in range(3)]
        with running(first, "wait", postgres_url) as one, running(second, "wait", postgres_url) as other:

            async def both_work() -> bool:
                found = {(run.holder, run.author_id) for run in await open_runs(watching)}
                return len(found) == 4  # of each hub one that a task began, and one that a workflow did

            async def nothing_goes_on() -> bool:
                return not any(
                    [(await watching.tasks.get(task_id)).running for task_id in (asks, flows, *counts)]
                )

            await until(both_work)
            for task_id in (asks, flows, *counts):
                await watching.tasks.toggle(task_id, False)
            held = await open_runs(watching)
            one.kill()
            other.go_on()
            await until(nothing_goes_on)
        history = await begun(watching, asks)
        assert {(run.state, run.text, run.attempt) for run in history} == {("completed", "went on", 1)}
        assert len({run.due_at for run in history}) == len(history)
        assert {run.id for run in held if run.author_id == asks} <= {run.run_id for run in history}
        for run in history:
            assert [chat.id for chat in (await watching.runs.list(run.thread_id)).items] == [run.run_id]
        assert {run.state for run in await begun(watching, flows)} == {"completed"}
        for run in await begun(watching, flows):
            (node,) = (await watching.workflows.show(str(run.workflow_run_id)))["nodes"]
            assert (node["output"], node["attempts"]) == ("went on", 1)
            assert len((await watching.runs.list(node["detail"]["thread_id"])).items) == 1
        ended = [run for task_id in counts for run in (await watching.tasks.runs(task_id, limit=500)).items]
    done = [(run.task_id, run.due_at) for run in ended if run.state == "completed"]
    # A script that was cut off has written its line or not, and is not run again.
    cut = sum(run.state == "failed" for run in ended)
    assert len(set(done)) == len(done)
    assert len(done) <= len(tally.read_text().split()) <= len(done) + cut


async def begun(hub: Hub, task_id: str) -> list[TaskRun]:
    """Its runs, without the times that passed before a hub was there."""
    return [run for run in (await hub.tasks.runs(task_id, limit=500)).items if run.state != "missed"]


async def open_runs(hub: Hub) -> list[Run]:
    return [run for run in (await hub.runs.list(limit=500)).items if run.status is RunStatus.RUNNING]


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    with anyio.fail_after(SOON_S):
        while not await holds():
            await anyio.to_thread.run_sync(time.sleep, 0.02)
