"""Workflows: kept, judged, run, answered, retried, removed.

Owns the use cases and what becomes of runs that a restart left open. How a run moves is the driver's.
"""

from __future__ import annotations

import builtins
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectSendStream
from sqlalchemy import Connection

from manyhands.approvals.service import ApprovalService
from manyhands.approvals.types import ApprovalState
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotAllowedError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.workflows import store as rows
from manyhands.workflows.driver import Driver, Engine, no_run
from manyhands.workflows.dry_run import dry_run
from manyhands.workflows.flow import Flow
from manyhands.workflows.flow_record import load
from manyhands.workflows.library import Library, Stored, refused
from manyhands.workflows.steps import Hands, Steps
from manyhands.workflows.telling import show_nodes
from manyhands.workflows.types import (
    Authority,
    Decision,
    Json,
    NodeRun,
    NodeStatus,
    Reading,
    RunStatus,
    Scope,
    WorkflowRun,
)
from manyhands.workflows.validation import check_inputs

log = logging.getLogger(__name__)

LOOK_S = 2.0
PAUSED_LOOK_S = 15.0
END_S = 60.0
ANSWERS = 1000
T = TypeVar("T")


class WorkflowService:
    """The use cases of workflows."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        home: Path,
        engine: Engine,
        approvals: ApprovalService,
        hands: Hands,
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._approvals = approvals
        self._channels = hands.channels
        self._library = Library(home)
        self._driver = Driver(
            store, bus, clock, settings, engine, approvals, Steps(hands), partial(_stop_chat, hands)
        )
        self._moved: dict[str, anyio.Event] = {}
        self._asked: dict[str | None, anyio.Event] = {}
        self._answers: MemoryObjectSendStream[str] | None = None
        bus.observe(self._follow, "workflow.run_", "workflow.node_", "approval.resolved")

    # --- its life

    async def run(
        self, *, resume: bool = True, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Take answers and let times run out, until cancelled; `resume`: go on with what was left open."""
        send, receive = anyio.create_memory_object_stream[str](ANSWERS)
        self._answers = send
        async with send, receive, anyio.create_task_group() as group:
            await group.start(self._driver.run)
            if resume:
                group.start_soon(self._recover)
            task_status.started()
            async for approval_id in receive:
                group.start_soon(self._hear, approval_id)

    async def _recover(self) -> None:
        for run_id in await self._store.read(rows.select_open):
            try:
                await self._driver.recover(run_id)
            except ManyhandsError:
                log.exception("the run %s cannot go on", run_id)
        for run_id, deadline in await self._store.read(rows.select_deadlines):
            self._driver.watch_deadline(run_id, deadline)

    def _follow(self, event: Event) -> None:
        if event.type in ("workflow.run_finished", "workflow.run_paused"):
            waiter = self._moved.pop(event.data["id"], None)
        else:
            waiter = self._asked.pop(event.data.get("run_id"), None)
        if waiter is not None:
            waiter.set()
        if event.type == "approval.resolved" and event.data.get("kind") == "workflow" and self._answers:
            with suppress(anyio.WouldBlock):  # what is lost here is found by whoever looks at the run
                self._answers.send_nowait(event.data["id"])

    async def _hear(self, approval_id: str) -> None:
        try:
            await self._driver.take_answer(await self._approvals.get(approval_id))
        except Exception:  # border: one answer is not another's trouble
            log.exception("the answer %s was not taken", approval_id)

    # --- definitions

    async def list(self, directory: str | None = None) -> builtins.list[Stored]:
        return await anyio.to_thread.run_sync(self._library.list, directory)

    async def examples(self) -> builtins.list[Stored]:
        """Definitions that ship with the hub; saved under their own or another name they can be run."""
        return await anyio.to_thread.run_sync(self._library.examples)

    async def find(self, name: str, directory: str | None = None, scope: Scope | None = None) -> Stored:
        return await anyio.to_thread.run_sync(self._library.find, name, directory, scope)

    async def validate(self, given: str | Mapping[str, Any], directory: str | None = None) -> Reading:
        """Everything that is wrong with a definition; nothing is kept."""
        return await anyio.to_thread.run_sync(self._library.judge, given, directory)

    async def save(
        self,
        action: str,
        given: str | Mapping[str, Any],
        scope: Scope = "global",
        directory: str | None = None,
        *,
        by_agent: bool = False,
    ) -> Stored:
        """Keep it if it holds together. An agent changes no global workflow that a person wrote."""
        stored = await anyio.to_thread.run_sync(self._library.save, action, given, scope, directory, by_agent)
        self._bus.publish("workflow.saved", _place(stored))
        return stored

    async def delete_definition(
        self,
        name: str,
        scope: Scope | None = None,
        directory: str | None = None,
        *,
        by_agent: bool = False,
    ) -> Stored:
        """Runs of it go on: they are pinned to what it was."""
        stored = await anyio.to_thread.run_sync(self._library.delete, name, scope, directory, by_agent)
        self._bus.publish("workflow.deleted", _place(stored))
        return stored

    async def dry_run(
        self, given: str | Mapping[str, Any], inputs: Mapping[str, Any], directory: str | None = None
    ) -> Json:
        """What a run would do. Inputs that are missing are told, and left open."""
        reading = await self.validate(given, directory)
        if reading.definition is None:
            raise refused(reading)
        made, wrong = check_inputs(reading.definition.inputs, inputs)
        about = {"id": "run_0", "workflow": reading.definition.name, "dir": directory, "channel_id": None}
        return {"nodes": dry_run(reading.definition, made, about), "inputs": made, "problems": wrong}

    # --- starting

    async def check(
        self, workflow_name: str, inputs: Mapping[str, Any] | None = None, dir_path: str | None = None
    ) -> None:
        """Raise what `start` would raise; start nothing."""
        await self._prepare(workflow_name, inputs or {}, None, dir_path)

    async def start(
        self,
        workflow_name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        channel_id: str | None = None,
        dir_path: str | None = None,
        run_id: str | None = None,
        authority: Authority = "owner",
        attended: bool = True,
    ) -> WorkflowRun:
        """Begin a run, pinned to the definition as it is now. The same `run_id` again is the same run."""
        if run_id is not None and (
            known := await self._store.read(lambda conn: rows.select_run(conn, run_id))
        ):
            return known
        run = await self._prepare(workflow_name, inputs or {}, channel_id, dir_path)
        if authority == "schedule" and await self._is_of_agent(run):
            authority = "agent"  # no person has seen what would run
        run = replace(run, id=run_id or run.id, authority=authority, attended=attended)
        flow = Flow(run, (), 1, run.created_at)
        run = replace(run, deadline=flow.deadline())
        if await self._store.write(lambda conn: rows.insert_run(conn, run)):
            self._bus.publish("workflow.run_started", run.wire(), channel_id=run.channel_id)
        self._driver.watch_deadline(run.id, run.deadline)
        await self._driver.recover(run.id)
        return await self.get(run.id)

    async def _is_of_agent(self, run: WorkflowRun) -> bool:
        stored = await self.find(run.workflow_name, run.dir_path)
        return await anyio.to_thread.run_sync(self._library.is_of_agent, stored)

    async def _prepare(
        self, name: str, inputs: Mapping[str, Any], channel_id: str | None, dir_path: str | None
    ) -> WorkflowRun:
        if channel_id is not None:
            channel = await self._channels.get(channel_id)
            dir_path = dir_path or channel.dir_path
        if dir_path is not None and not await anyio.Path(dir_path).is_dir():
            raise InvalidError(f"There is no directory {dir_path}.", hint="Give one that is there.")
        stored = await self.find(name, dir_path)
        definition = stored.reading.definition
        if definition is None:
            raise refused(stored.reading)
        made, wrong = check_inputs(definition.inputs, inputs)
        if wrong:
            wanted = ", ".join(definition.inputs) or "none"
            raise InvalidError(
                " ".join(wrong), hint=f"The inputs of {name!r}: {wanted}.", data={"problems": wrong}
            )
        subs = await anyio.to_thread.run_sync(self._library.subs, definition, dir_path)
        return WorkflowRun(
            id=new_id("wfr"),
            workflow_name=definition.name,
            status=RunStatus.RUNNING,
            definition=dict(definition.data),
            inputs=made,
            created_at=self._clock.now(),
            subs=subs,
            channel_id=channel_id,
            dir_path=dir_path,
        )

    # --- reading

    async def get(self, run_id: str) -> WorkflowRun:
        run = await self._store.read(lambda conn: rows.select_run(conn, run_id))
        if run is None:
            raise no_run(run_id)
        return run

    async def show(self, run_id: str) -> Json:
        """A run with the nodes that it has, each with its attempts, and what it is pinned to."""

        def work(conn: Connection) -> tuple[WorkflowRun | None, Sequence[NodeRun]]:
            return rows.select_run(conn, run_id), rows.select_nodes(conn, run_id)

        run, records = await self._store.read(work)
        if run is None:
            raise no_run(run_id)
        nodes = show_nodes(load(run.definition).nodes, records)
        pinned = {"workflow": dict(run.definition), "subs": dict(run.subs)}
        return {"run": run.wire(), "nodes": nodes} | pinned

    async def conversations(self, run_id: str) -> Sequence[tuple[str, float | None]]:
        """The threads in which its nodes asked an agent, each time with what that cost if it is known."""
        records = await self._store.read(lambda conn: rows.select_nodes(conn, run_id))
        details = [one.detail for one in records if "thread_id" in one.detail]
        return [(detail["thread_id"], detail.get("cost")) for detail in details]

    async def runs(
        self,
        channel_ids: Sequence[str] | None = None,
        workflow: str | None = None,
        status: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[Json]:
        """Newest first, with how many nodes stand how."""

        def work(conn: Connection) -> tuple[Sequence[WorkflowRun], dict[str, dict[str, int]]]:
            found = rows.select_runs(conn, channel_ids, workflow, status, limit + 1, cursor)
            return found, rows.count_by_status(conn, [one.id for one in found])

        found, counts = await self._store.read(work)
        items, more = cut_page(found, limit)
        shown = [one.wire() | {"nodes": counts.get(one.id, {})} for one in items]
        return Page(shown, items[-1].id if more else None)

    async def wait(self, run_id: str, *, until_paused: bool = False) -> WorkflowRun:
        """Until it has ended, here or elsewhere; with `until_paused` also when it waits for a person."""
        while True:
            waiter = self._moved.setdefault(run_id, anyio.Event())
            run = await self.get(run_id)
            if run.ended or (until_paused and run.status is RunStatus.PAUSED):
                await self._driver.settled(run_id)
                return run
            with anyio.move_on_after(LOOK_S):
                await waiter.wait()

    async def wait_for_answer(self, run_id: str) -> WorkflowRun:
        """Until a run that waits for a person does not any more: told by its nodes, or seen elsewhere."""
        while True:
            waiter = self._asked.setdefault(run_id, anyio.Event())
            run = await self.get(run_id)
            if run.status is not RunStatus.PAUSED:
                return run
            with anyio.move_on_after(PAUSED_LOOK_S):
                await waiter.wait()

    # --- steering

    async def resume(
        self,
        run_id: str,
        decision: Decision = "approve",
        response: Any = None,
        node_id: str | None = None,
        *,
        by_agent: bool = False,
    ) -> WorkflowRun:
        """Answer what a run waits for. An agent answers for the workflow; it gives no leave to run things."""
        waiting = await self._waiting(run_id)
        if node_id is not None:
            waiting = [one for one in waiting if node_id in (one.path, one.node_id)]
        if not waiting:
            run = await self.get(run_id)
            what = f"node {node_id!r} of it" if node_id else "it"
            raise ConflictError(
                f"The run is {run.status.value}, and {what} waits for no answer.", hint="Look at the run."
            )
        if len(waiting) > 1:
            names = ", ".join(one.path for one in waiting)
            raise InvalidError(f"Several nodes wait: {names}.", hint="Say which one with node_id.")
        if by_agent and waiting[0].detail.get("asked") != "approval":
            raise NotAllowedError(
                f"Whether {waiting[0].path!r} may run is for a person to say.", hint="It waits in the inbox."
            )
        approval_id = str(waiting[0].detail["approval_id"])
        await self._driver.ask(await self.get(run_id), waiting[0])
        approve = decision == "approve"
        approval = await self._approvals.answer(approval_id, approve, response=response)
        await self._driver.take_answer(approval)
        return await self.get(run_id)

    async def _waiting(self, run_id: str) -> builtins.list[NodeRun]:
        await self.get(run_id)
        records = await self._store.read(lambda conn: rows.select_nodes(conn, run_id))
        return [one for one in records if one.status is NodeStatus.WAITING and not one.superseded]

    async def cancel(self, run_id: str) -> WorkflowRun:
        """Stop it with everything that runs for it but what always runs. An ended run stays as it is."""

        def stop(flow: Flow) -> None:
            if not flow.run.ended:
                flow.stop("cancelled")

        await self._driver.apply(run_id, stop)
        with anyio.move_on_after(END_S):
            return await self.wait(run_id)
        return await self.get(run_id)

    async def retry(self, run_id: str, from_node: str | None = None, from_failed: bool = True) -> WorkflowRun:
        """Go on with a run that has ended: where it failed, at a node, or from the start."""
        await self._driver.apply(run_id, lambda flow: flow.retry(from_node, from_failed))
        run = await self.get(run_id)
        self._driver.watch_deadline(run_id, run.deadline)
        return run

    async def delete(self, run_id: str) -> None:
        """Remove a run with its records; one that goes on is stopped first."""
        run = await self.get(run_id)
        if not run.ended:
            run = await self.cancel(run_id)
        if not run.ended:  # what always runs takes its time: asked twice, that ends too
            run = await self.cancel(run_id)
        records = await self._store.read(lambda conn: rows.select_nodes(conn, run_id))
        await self._store.write(lambda conn: rows.delete_run(conn, run_id))
        for record in records:
            if path := record.detail.get("output_file"):
                await anyio.Path(path).unlink(missing_ok=True)
        news = {"id": run_id, "workflow_name": run.workflow_name}
        self._bus.publish("workflow.run_deleted", news, channel_id=run.channel_id)

    async def scope_of(self, run_id: str) -> str | None:
        """The channel that a run belongs to."""
        return (await self.get(run_id)).channel_id

    async def answerable(self, approval_id: str) -> bool:
        """Whether an entry of the inbox still waits."""
        with suppress(NotFoundError):
            return (await self._approvals.get(approval_id)).state is ApprovalState.PENDING
        return False


def _place(stored: Stored) -> Json:
    return {"name": stored.name, "scope": stored.scope, "path": str(stored.path)}


async def _stop_chat(hands: Hands, chat_run_id: str) -> None:
    with suppress(NotFoundError):
        await hands.runs.cancel(chat_run_id)
