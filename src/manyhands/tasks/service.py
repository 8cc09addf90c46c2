"""Tasks: made, changed, started, paused, looked at. Each run is durable work whose id is the run's own.

Firing is the business of `timer.py`, what becomes of a run that of `life.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskStatus
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError
from manyhands.events import EventBus
from manyhands.git import Checkout
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.tasks import store as rows
from manyhands.tasks.drafting import build_task, check_authority, guess_type, name_of, read_draft
from manyhands.tasks.life import KIND, RunLife
from manyhands.tasks.neighbours import Durable, Neighbours, Workflows
from manyhands.tasks.places import at_field
from manyhands.tasks.rules import decide_overlap
from manyhands.tasks.schedules import check_coming, preview, read_schedule
from manyhands.tasks.timer import Timer
from manyhands.tasks.types import Preview, Task, TaskRun, TaskView, Trigger
from manyhands.tasks.views import task_json

FORGET_AT_ONCE = 500
FORGET_EVERY = timedelta(hours=6)


class TaskService:
    """The use cases of tasks."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        durable: Durable,
        neighbours: Neighbours,
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._durable = durable
        self._near = neighbours
        self._life = RunLife(
            store,
            bus,
            clock,
            durable,
            neighbours,
            stopped=lambda task: self._announce("task.updated", task),
            look_again=self._look_again,
        )
        self._timer = Timer(
            store,
            clock,
            begin=self._life.begin,
            told=self._life.announce_fired,
            clean=self._clean,
            warm=durable.warm,
        )
        self._forgot_at = clock.now()

    def use_workflows(self, workflows: Workflows) -> None:
        """Let tasks start these."""
        self._near.workflows = workflows

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Fire what is due until cancelled."""
        await self._timer.run(task_status=task_status)

    def _look_again(self) -> None:
        self._timer.look_again()

    # --- making and changing

    async def create(
        self, channel_id: str, values: Mapping[str, Any], *, author_id: str = "owner", agent: bool = False
    ) -> tuple[TaskView, bool]:
        """A new task; one with the same `template_name` here is changed instead. The flag: it is new."""
        channel = await self._near.channels.get(channel_id)
        given = read_draft(values)
        template = given.get("template_name")
        old = await self._by_template(channel_id, template) if template else None
        if old is not None:
            return await self._edit(old, {"enabled": True, **given}, agent=agent), False
        if agent:
            check_authority(None, given)
        now = self._clock.now()
        blank = Task(
            id=new_id("task"),
            channel_id=channel_id,
            name=str(given.get("name") or ""),
            type=given.get("type") or guess_type(given.get("schedule")),
            schedule=None,
            timezone="UTC",
            does="prompt",
            created_at=now,
            updated_at=now,
            anchor=now,
            author_id=author_id,
        )
        task, _ = build_task(blank, given, now)
        task = replace(task, name=task.name or name_of(task))
        await self._check(task, channel)
        try:
            await self._store.write(lambda conn: rows.insert_task(conn, task))
        except IntegrityError:
            # The template was made in between: then it is an edit after all.
            if template and (old := await self._by_template(channel_id, template)) is not None:
                return await self._edit(old, given, agent=agent), False
            raise
        return await self._announce("task.created", task), True

    async def edit(self, task_id: str, values: Mapping[str, Any], *, agent: bool = False) -> TaskView:
        """Change some fields; its next time is computed anew where they touch it."""
        return await self._edit(await self._task(task_id), read_draft(values), agent=agent)

    async def _edit(self, old: Task, given: Mapping[str, Any], *, agent: bool) -> TaskView:
        if agent:
            check_authority(old, given)
        task, _ = build_task(old, given, self._clock.now())
        await self._check(task, await self._near.channels.get(task.channel_id))
        values = {
            name: getattr(task, name)
            for name in Task.__dataclass_fields__
            if getattr(task, name) != getattr(old, name)
        }
        values = {name: list(one) if isinstance(one, tuple) else one for name, one in values.items()}
        await self._store.write(lambda conn: rows.update_task(conn, old.id, values))
        return await self._announce("task.updated", task)

    async def toggle(self, task_id: str, enabled: bool) -> TaskView:
        """Pause it or let it go on; its next time is computed anew."""
        task = await self._task(task_id)
        if task.enabled == enabled:
            return await self._view(task)
        return await self._edit(task, {"enabled": enabled}, agent=False)

    async def clone(self, task_id: str, name: str | None = None) -> TaskView:
        """The same once more, paused, so that it can be changed first."""
        old, now = await self._task(task_id), self._clock.now()
        task = replace(
            old,
            id=new_id("task"),
            name=name or f"{old.name} (copy)"[:200],
            template_name=None,
            thread_id=None,
            enabled=False,
            failures=0,
            stopped_because=None,
            due_at=None,
            next_run_at=None,
            created_at=now,
            updated_at=now,
            anchor=now,
        )
        await self._store.write(lambda conn: rows.insert_task(conn, task))
        return await self._announce("task.created", task)

    async def delete(self, task_id: str) -> None:
        """Remove it with its history; what goes on is stopped. Threads stay."""
        task = await self._task(task_id)
        for run in await self._store.read(lambda conn: rows.select_open_of(conn, task_id)):
            await self.cancel_run(run.id)
        await self._store.write(lambda conn: rows.delete_task(conn, task_id))
        self._bus.publish("task.deleted", {"id": task.id}, channel_id=task.channel_id)

    async def _check(self, task: Task, channel: Channel) -> None:
        """That what it needs exists: found out now, and not when it is due."""
        if task.model is not None:
            with at_field("model"):
                await self._near.models.get(task.model)
        if task.does != "prompt" and channel.dir_path is None and task.does == "script":
            raise InvalidError(
                "A script needs a channel with a directory.",
                hint="Use another channel.",
                data={"field": "channel_id"},
            )
        if task.worktree:
            with at_field("worktree"):
                await _check_repository(channel)
        if task.does == "workflow":
            if self._near.workflows is None:
                raise InvalidError("This hub runs no workflows.", hint="Give a prompt instead.")
            await self._check_workflow(task, channel)
        if task.allow:
            with at_field("allow"):
                await self._check_tools(task, channel)

    async def _check_workflow(self, task: Task, channel: Channel) -> None:
        assert self._near.workflows is not None
        try:
            await self._near.workflows.check(task.workflow_name or "", task.workflow_inputs, channel.dir_path)
        except ManyhandsError as error:
            problems = error.data.get("problems") or [None]
            about_inputs = isinstance(problems[0], str)  # those of a definition have a place
            error.data.setdefault("field", "workflow_inputs" if about_inputs else "workflow_name")
            raise

    async def _check_tools(self, task: Task, channel: Channel) -> None:
        from fnmatch import fnmatchcase

        known = [listing.definition for listing in await self._near.tools.list(channel)]
        for pattern in task.allow:
            if not any(fnmatchcase(tool.full_name, pattern) for tool in known):
                meant = next((tool.full_name for tool in known if fnmatchcase(tool.name, pattern)), None)
                hint = "`manyhands tools list` shows their names; `*` stands for anything."
                raise InvalidError(
                    f"No tool is called {pattern!r}.", hint=f"Did you mean {meant}?" if meant else hint
                )

    # --- looking

    async def get(self, task_id: str) -> TaskView:
        return await self._view(await self._task(task_id))

    async def list(
        self,
        channel_ids: Sequence[str] | None = None,
        query: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[TaskView]:
        """Newest first; of some channels, or all."""

        def work(conn: Connection) -> tuple[Sequence[Task], dict[str, Any], dict[str, Any]]:
            found = rows.select_tasks(conn, channel_ids, query, limit + 1, cursor)
            ids = [task.id for task in found]
            return found, rows.count_open(conn, ids) if ids else {}, rows.last_runs(conn, ids)

        found, counts, last = await self._store.read(work)
        items, more = cut_page(found, limit)
        views = [
            TaskView(task, self._preview_of(task), sum(counts.get(task.id, ())), last.get(task.id))
            for task in items
        ]
        return Page(views, items[-1].id if more else None)

    async def runs(
        self, task_id: str, state: str | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[TaskRun]:
        """Its history, newest first."""
        await self._task(task_id)
        try:
            found = await self._store.read(
                lambda conn: rows.select_runs(conn, task_id, state, limit + 1, cursor)
            )
        except ValueError as error:
            raise InvalidError("The cursor is wrong.", hint="Send one that a page gave.") from error
        items, more = cut_page(found, limit)
        return Page(items, rows.cursor_of(items[-1]) if more else None)

    def preview(self, type: str | None, schedule: str | None, timezone: str, jitter_s: int = 0) -> Preview:
        """What a schedule would mean, without a task."""
        read = read_schedule(type or guess_type(schedule), schedule, timezone)  # type: ignore[arg-type]
        check_coming(read, self._clock.now(), jitter_s)
        return preview(read, self._clock.now())

    def _preview_of(self, task: Task) -> Preview:
        try:
            read = read_schedule(task.type, task.schedule, task.timezone)
        except ManyhandsError as error:
            return Preview(str(error), (), ())
        found = preview(read, self._clock.now(), task.anchor)
        return found if task.enabled else replace(found, times=())

    async def _task(self, task_id: str) -> Task:
        task = await self._store.read(lambda conn: rows.select_task(conn, task_id))
        if task is None:
            raise NotFoundError(f"There is no task {task_id!r}.", hint="`manyhands tasks list` shows them.")
        return task

    async def _by_template(self, channel_id: str, template: str) -> Task | None:
        return await self._store.read(lambda conn: rows.select_by_template(conn, channel_id, template))

    async def _view(self, task: Task) -> TaskView:
        def work(conn: Connection) -> tuple[dict[str, tuple[int, int]], dict[str, TaskRun]]:
            return rows.count_open(conn, [task.id]), rows.last_runs(conn, [task.id])

        counts, last = await self._store.read(work)
        return TaskView(task, self._preview_of(task), sum(counts.get(task.id, ())), last.get(task.id))

    async def _announce(self, event: str, task: Task) -> TaskView:
        view = await self._view(task)
        self._bus.publish(event, task_json(view), channel_id=task.channel_id)
        self._timer.look_again()
        return view

    # --- running

    async def start(self, task_id: str, trigger: Trigger = "person") -> TaskRun:
        """Run it now, whatever its schedule says; also when it is paused."""
        task, now = await self._task(task_id), self._clock.now()

        def work(conn: Connection) -> TaskRun:
            state, note = decide_overlap(task, *rows.count_open(conn, [task_id]).get(task_id, (0, 0)))
            if state == "skipped":
                raise ConflictError(note or "It goes on.", hint="Wait for it, or stop it first.")
            run_id = f"{task_id}.{new_id('now').removeprefix('now_')}"
            run = TaskRun(run_id, task_id, now, state, trigger, created_at=now, note=note)
            rows.insert_run(conn, run)
            return run

        run = await self._store.write(work)
        if run.state == "due":
            await self._durable.start(KIND, run.id)
        return run

    async def cancel_run(self, run_id: str, task_id: str | None = None) -> TaskRun:
        """Stop one run; what has ended stays as it is."""
        run = await self._store.read(lambda conn: rows.select_run(conn, run_id))
        if run is None or task_id not in (None, run.task_id):
            raise NotFoundError(f"There is no run {run_id!r} of a task.", hint="Look at the task's history.")
        return await self._life.cancel(run)

    async def _clean(self, now: datetime) -> None:
        """Threads whose time is over, and now and then what is old."""
        await self._life.remove_threads(now)
        if now - self._forgot_at >= FORGET_EVERY:
            self._forgot_at = now
            before = now - timedelta(days=self._settings.current.retention_calls_days)
            while await self._store.write(lambda conn: rows.forget_runs(conn, before, FORGET_AT_ONCE)):
                pass


async def _check_repository(channel: Channel) -> None:
    if channel.dir_path is None:
        raise InvalidError("A worktree needs a channel with a directory.", hint="Use another channel.")
    try:
        await Checkout(channel.dir_path).run("rev-parse", "--verify", "HEAD")
    except ManyhandsError as error:
        raise InvalidError(
            f"{channel.dir_path} is no git repository with a commit, so a run can have no worktree in it.",
            hint="Run `git init` there and commit something, or leave worktree out.",
        ) from error
