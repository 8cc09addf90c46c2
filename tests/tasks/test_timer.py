from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
import pytest

from manyhands.chat.service import ChannelService
from manyhands.errors import UnavailableError
from manyhands.events import EventBus
from manyhands.store.engine import Store
from manyhands.tasks import store as rows
from manyhands.tasks.drafting import build_task, read_draft
from manyhands.tasks.timer import Timer, fire_due
from manyhands.tasks.types import Task, TaskRun
from manyhands.testing.clock import START, FakeClock

pytestmark = pytest.mark.anyio
SOON_S = 60


@pytest.fixture
async def channel_id(store: Store, bus: EventBus) -> str:
    return (await ChannelService(store, bus, FakeClock()).create("work")).id


async def add(store: Store, channel_id: str, task_id: str = "task_1", **values: Any) -> Task:
    blank = Task(task_id, channel_id, task_id, "cron", None, "UTC", "prompt", START, START, START)
    task, _ = build_task(blank, read_draft({"schedule": "0 * * * *", "prompt": "look", **values}), START)
    await store.write(lambda conn: rows.insert_task(conn, task))
    return task


class Watched:
    """A timer and what it did."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.clock = clock
        self.begun: list[str] = []
        self.told: list[TaskRun] = []
        self.trouble = 0
        self.timer = Timer(
            store, clock, begin=self.begin, told=self.hear, clean=self.clean, warm=lambda: None
        )
        self._news = anyio.Event()

    async def begin(self, run_id: str) -> None:
        self.begun.append(run_id)
        self._news.set()

    def hear(self, task: Task, run: TaskRun) -> None:
        self.told.append(run)
        self._news.set()

    async def clean(self, now: datetime) -> None:
        if self.trouble:
            self.trouble -= 1
            raise UnavailableError("The database is away.")

    async def until_begun(self, count: int) -> list[str]:
        with anyio.fail_after(SOON_S):
            while len(self.begun) < count:
                self._news = anyio.Event()
                await self._news.wait()
        return self.begun


@asynccontextmanager
async def running(store: Store) -> AsyncIterator[Watched]:
    watched = Watched(store, FakeClock())
    async with anyio.create_task_group() as group:
        await group.start(watched.timer.run)
        yield watched
        group.cancel_scope.cancel()


async def test_it_fires_what_is_due_and_moves_it_on(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id)
    fired = await store.write(lambda conn: fire_due(conn, START + timedelta(hours=1)))
    assert [run.id for _, run in fired] == ["task_1.20300101T010000"]
    moved = await store.read(lambda conn: rows.select_task(conn, task.id))
    assert moved is not None
    assert moved.next_run_at == START + timedelta(hours=2)
    assert await store.write(lambda conn: fire_due(conn, START + timedelta(hours=1))) == []


async def test_of_two_hubs_that_see_the_same_task_due_one_fires_it(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id)
    following = START + timedelta(hours=2)
    first = await store.write(lambda conn: rows.move_on(conn, task, following, following, True))
    second = await store.write(lambda conn: rows.move_on(conn, task, following, following, True))
    assert (first, second) == (True, False)


async def test_a_run_that_is_there_already_is_not_made_again(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id)
    run = TaskRun("task_1.x", task.id, START, "due", "schedule", START)
    assert await store.write(lambda conn: rows.insert_run(conn, run)) is True
    assert await store.write(lambda conn: rows.insert_run(conn, replace(run, state="missed"))) is False


async def test_paused_and_manual_tasks_are_never_due(store: Store, channel_id: str) -> None:
    await add(store, channel_id, "task_1", enabled=False)
    await add(store, channel_id, "task_2", schedule=None, type="manual")
    assert await store.read(rows.next_moment) is None
    assert await store.write(lambda conn: fire_due(conn, START + timedelta(days=3660))) == []


async def test_it_wakes_at_the_time_and_not_before(store: Store, channel_id: str) -> None:
    await add(store, channel_id, schedule="90s")
    async with running(store) as watched:
        watched.clock.advance(89)
        await watched.clock.someone_sleeps()
        assert watched.begun == []
        watched.clock.advance(1)
        assert await watched.until_begun(1) == ["task_1.20300101T000130"]


async def test_a_task_that_is_made_while_it_sleeps_is_seen_at_once(store: Store, channel_id: str) -> None:
    async with running(store) as watched:
        await watched.clock.someone_sleeps()
        await add(store, channel_id, schedule="2s")
        watched.timer.look_again()
        watched.clock.advance(2)
        assert await watched.until_begun(1) == ["task_1.20300101T000002"]


@pytest.mark.requirement("L32")
async def test_a_run_that_nobody_began_is_begun_later(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id)
    left = TaskRun("task_1.left", task.id, START, "due", "schedule", START)
    await store.write(lambda conn: rows.insert_run(conn, left))
    async with running(store) as watched:
        await watched.clock.someone_sleeps()
        watched.clock.advance(61)
        assert await watched.until_begun(1) == ["task_1.left"]


@pytest.mark.requirement("L32")
async def test_trouble_does_not_end_the_timer(store: Store, channel_id: str) -> None:
    await add(store, channel_id, schedule="10s", overlap="parallel")
    async with running(store) as watched:
        watched.trouble = 1
        await watched.clock.someone_sleeps()
        watched.clock.advance(10)
        await watched.until_begun(1)
        await watched.clock.someone_sleeps()
        watched.clock.advance(10)
        await watched.until_begun(2)


async def test_many_that_are_due_at_once_are_fired_together(store: Store, channel_id: str) -> None:
    for number in range(20):
        await add(store, channel_id, f"task_{number}")
    async with running(store) as watched:
        watched.clock.advance(3600)
        assert len(set(await watched.until_begun(20))) == 20


@pytest.mark.requirement("L30")
async def test_what_was_missed_is_told_and_in_the_history(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id, missed="skip")
    await store.write(lambda conn: fire_due(conn, START + timedelta(hours=30, minutes=30)))
    history = await store.read(lambda conn: rows.select_runs(conn, task.id, None, 10, None))
    assert [(run.state, run.due_at) for run in history] == [("missed", START + timedelta(hours=1))]


@pytest.mark.requirement("L32")
async def test_what_was_going_on_is_begun_once_more_at_the_start(store: Store, channel_id: str) -> None:
    task = await add(store, channel_id)
    going = TaskRun("task_1.going", task.id, START, "running", "schedule", START, attempt=1)
    ended = replace(going, id="task_1.ended", state="completed")
    await store.write(lambda conn: [rows.insert_run(conn, run) for run in (going, ended)])
    async with running(store) as watched:
        assert await watched.until_begun(1) == ["task_1.going"]
