"""One attempt of a task's run: the prompt, the workflow or the script, from its beginning to its outcome.

An attempt may be begun again after a crash. A prompt and a workflow go on where they were; a script that was
cut off may have done half of its work, so it is not run twice without being told to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio
from sqlalchemy import Connection

from manyhands.chat.types import Channel, Run, RunOptions, RunStatus
from manyhands.clock import Clock
from manyhands.errors import ManyhandsError, NotConfiguredError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.store.engine import Store
from manyhands.tasks import store as rows
from manyhands.tasks.neighbours import Neighbours, WorkflowRun, Workflows
from manyhands.tasks.rules import NOTHING_TO_REPORT, add_costs
from manyhands.tasks.types import Task, TaskRun
from manyhands.tools.types import CallContext

LONGEST_TEXT = 20_000
LOOK_S = 5.0
SCRIPT_ENDS_S = 30
"""A script's time is the command's own, so that what it wrote is kept; this stands behind that."""
_QUIET = (
    "\n\nIf there is nothing that the person needs to know, let your last answer be exactly: "
    + NOTHING_TO_REPORT
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended."""

    state: Literal["completed", "failed", "cancelled"]
    text: str = ""
    error: str | None = None
    cost: float | None = None
    denied: Sequence[str] = ()


Paused = Callable[[Task, TaskRun, bool], Awaitable[None]]
"""Is told when a run begins to wait for a person, and when it goes on."""


class Performer:
    """Does what tasks say."""

    def __init__(
        self, store: Store, bus: EventBus, clock: Clock, neighbours: Neighbours, paused: Paused
    ) -> None:
        self._store = store
        self._paused = paused
        self._clock = clock
        self._near = neighbours
        self._ends: dict[str, anyio.Event] = {}
        bus.observe(self._follow_runs, "run.finished")

    async def perform(self, task: Task, run: TaskRun, again: bool) -> Outcome:
        """One attempt to its end. `again`: an earlier hub had begun it."""
        try:
            match task.does:
                case "prompt":
                    with anyio.fail_after(task.timeout_s):
                        return await self._prompt(task, run)
                case "workflow":
                    return await self._workflow(task, run)
                case "script":
                    with anyio.fail_after(task.timeout_s + SCRIPT_ENDS_S):
                        return await self._script(task, run, again)
        except TimeoutError:
            await self.stop(run)
            return Outcome("failed", error=_too_long(task))
        except ManyhandsError as error:
            return Outcome("failed", error=str(error))

    async def stop(self, known: TaskRun) -> None:
        """End what a run has started, by now."""
        run = await self._store.read(lambda conn: rows.select_run(conn, known.id)) or known
        with anyio.CancelScope(shield=True), anyio.move_on_after(LOOK_S):
            try:
                if run.run_id is not None:
                    await self._near.runs.cancel(run.run_id)
                if run.workflow_run_id is not None and self._near.workflows is not None:
                    await self._near.workflows.cancel(run.workflow_run_id)
            except NotFoundError:
                pass

    # --- prompts

    async def _prompt(self, task: Task, run: TaskRun) -> Outcome:
        if task.model is not None:
            await self._near.models.get(task.model)
        run_id = run.run_id
        if run_id is None:
            run_id = (await self._begin(task, await self._thread(task, run), run)).id
        else:
            await self._near.runs.take_over(run_id)
        ended = await self._ended(run_id)
        denied = [
            call.tool for call in await self._near.tools.calls_of_run(run_id) if call.status == "denied"
        ]
        state: Literal["completed", "failed", "cancelled"] = "failed"
        if ended.status in (RunStatus.COMPLETED, RunStatus.CANCELLED):
            state = "completed" if ended.status is RunStatus.COMPLETED else "cancelled"
        error = None
        if state == "failed":
            error = ended.error or ended.text or f"The run ended as {ended.status.value}."
        return Outcome(state, _cut(ended.text), error, ended.cost, list(dict.fromkeys(denied)))

    async def _begin(self, task: Task, thread_id: str, run: TaskRun) -> Run:
        options = RunOptions(
            model=task.model,
            max_iterations=task.max_iterations,
            allow=tuple(task.allow),
            attended=False,
            cost_cap=None if task.budget is None else task.budget - (run.cost or 0.0),
            speaker="schedule",
        )
        prompt = (task.prompt or "") + (_QUIET if task.keep_reports else "")
        return await self._near.runs.start(
            thread_id,
            prompt,
            options,
            author_id=task.id,
            also=lambda conn, made: rows.update_run(conn, run.id, {"run_id": made.id}),
        )

    async def _thread(self, task: Task, run: TaskRun) -> str:
        """Where it is worked on; made once, and known from then on."""
        known = run.thread_id or (task.thread_id if task.conversation == "same" else None)
        if known is not None and await self._exists(known):
            await self._store.write(lambda conn: rows.update_run(conn, run.id, {"thread_id": known}))
            return known
        name = task.name if task.conversation == "same" else f"{task.name} {run.due_at:%Y-%m-%d %H:%M}"

        def note(conn: Connection, made: Channel) -> None:
            rows.update_run(conn, run.id, {"thread_id": made.id})
            if task.conversation == "same":
                rows.update_task(conn, task.id, {"thread_id": made.id})

        if task.worktree:
            thread = await self._near.threads.create_worktree(
                task.channel_id, None, name[:80], author_id=task.id, speaker="schedule", also=note
            )
            return thread.id
        fresh = await self._near.channels.thread_of(task.channel_id, name[:200])
        await self._near.channels.add(fresh, lambda conn: note(conn, fresh))
        return fresh.id

    async def _exists(self, channel_id: str) -> bool:
        try:
            await self._near.channels.get(channel_id)
        except NotFoundError:
            return False
        return True

    async def _ended(self, run_id: str) -> Run:
        """Wait for it: told by its event, or seen when another hub works on it."""
        event = self._ends.setdefault(run_id, anyio.Event())
        try:
            while not (run := await self._near.runs.get(run_id)).status.ended:
                with anyio.move_on_after(LOOK_S):
                    await event.wait()
            return run
        finally:
            self._ends.pop(run_id, None)

    def _follow_runs(self, event: Event) -> None:
        if event.type == "run.finished" and (waiter := self._ends.get(str(event.data["id"]))):
            waiter.set()

    # --- workflows and scripts

    async def threads_of(self, run: TaskRun) -> Sequence[str]:
        """Where agents worked for a run: its own thread, or those of its workflow, in all attempts."""
        workflows = self._near.workflows
        if run.workflow_run_id is None or workflows is None:
            return [] if run.thread_id is None else [run.thread_id]
        attempts = [f"{run.id}.{number + 1}" for number in range(run.attempt)]
        return list({thread: None for one in attempts for thread, _ in await workflows.conversations(one)})

    async def _workflow(self, task: Task, run: TaskRun) -> Outcome:
        workflows = self._near.workflows
        if workflows is None:
            raise NotConfiguredError("This hub runs no workflows.", hint="Use a prompt.")
        wanted = f"{run.id}.{run.attempt}"
        await self._store.write(lambda conn: rows.update_run(conn, run.id, {"workflow_run_id": wanted}))
        channel = await self._near.channels.get(task.channel_id)
        begun = await workflows.start(
            task.workflow_name or "",
            task.workflow_inputs,
            channel_id=task.channel_id,
            dir_path=channel.dir_path,
            run_id=wanted,
            authority="schedule",
            attended=False,
        )
        ended = await ended_workflow(workflows, begun.id, task.timeout_s, partial(self._paused, task, run))
        cost = add_costs(*(cost for _, cost in await workflows.conversations(begun.id)))
        if ended.status == "completed":
            return Outcome("completed", cost=cost)
        if ended.status == "cancelled":
            return Outcome("cancelled", cost=cost)
        return Outcome("failed", error=ended.error or f"The workflow ended as {ended.status}.", cost=cost)

    async def _script(self, task: Task, run: TaskRun, again: bool) -> Outcome:
        if again:
            return Outcome("failed", error="The hub ended while the script ran; it was not run again.")
        context = CallContext(
            channel_id=task.channel_id,
            author_id=task.id,
            attended=False,
            direct=True,
            granted_ms=task.timeout_s * 1000,
        )
        record = await self._near.tools.call("run_command", {"command": task.script}, context)
        text = _cut(record.result or "")
        if record.status == "timeout":
            return Outcome("failed", text, error=_too_long(task))
        if record.status == "success":
            return Outcome("completed", text)
        if record.status == "cancelled":
            return Outcome("cancelled", text)
        return Outcome(
            "failed", text, error=record.error or (text.splitlines() or ["The script failed."])[-1]
        )


async def ended_workflow(
    workflows: Workflows, run_id: str, timeout_s: float, paused: Callable[[bool], Awaitable[None]]
) -> WorkflowRun:
    """Wait for it. Its time does not run while it waits for a person, who may take days."""
    left = timeout_s
    while True:
        began = anyio.current_time()
        with anyio.fail_after(left):
            run = await workflows.wait(run_id, until_paused=True)
        left -= anyio.current_time() - began
        if run.status != "paused":
            return run
        await paused(True)
        await workflows.wait_for_answer(run_id)
        await paused(False)


def _too_long(task: Task) -> str:
    return f"It took longer than its {task.timeout_s} seconds and was stopped."


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n… ({len(text):,} characters in all)"
