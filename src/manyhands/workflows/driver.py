"""Moves runs on: reads a run, lets its machine of states decide, writes what follows, and has it done.

One process at a time moves a run: who wrote last is told by a version, and whoever was late reads it anew.
The durable engine does attempts, and calls an attempt again after a crash; questions lie in the inbox.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar

import anyio
from anyio.abc import TaskStatus
from sqlalchemy import Connection

from manyhands.approvals.types import Approval, Question
from manyhands.clock import Clock
from manyhands.durable.types import Activation, Function, Order, Work
from manyhands.errors import NotFoundError, UnavailableError
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.workflows import rules
from manyhands.workflows import store as rows
from manyhands.workflows.flow import Flow
from manyhands.workflows.flow_record import Deeds
from manyhands.workflows.frames import CONTAINERS
from manyhands.workflows.questions import question_of
from manyhands.workflows.steps import Steps, failed
from manyhands.workflows.telling import node_data, node_news, run_news
from manyhands.workflows.types import Decision, NodeRun, NodeStatus, Outcome, RunStatus, WorkflowRun

log = logging.getLogger(__name__)

KIND = "workflow_node"
TRIES = 20
WRITE_S = 60.0
FEW_ROWS = 3
STOP_S = 20.0
AGAIN_S = 5.0
SETTLE_S = 0.005
LONGEST_STEP_S = 86_400.0
RECOVER = "/recover"
"""In place of a node's path: the whole run is looked at."""
T = TypeVar("T")


class Engine(Protocol):
    """What is needed of the durable engine."""

    def register(self, kind: str, function: Function) -> None: ...

    async def start_all(self, orders: Sequence[Order]) -> set[str]: ...

    async def cancel(self, work_ids: Sequence[str]) -> None: ...

    def is_going(self, work_id: str) -> bool: ...

    async def find_all(self, work_ids: Sequence[str]) -> Mapping[str, Work]: ...

    async def forget(self, work_ids: Sequence[str]) -> None: ...


class Inbox(Protocol):
    """What is needed of the approval service."""

    async def leave(self, question: Question, approval_id: str | None = None) -> Approval: ...

    async def withdraw(self, approval_id: str, reason: str) -> None: ...


Begin = Callable[[Sequence[Order]], None]
"""Takes attempts that are to begin soon, in whatever commit comes first."""


@dataclass(slots=True)
class _End:
    """An attempt that is over, on its way to the record."""

    path: str
    attempt: int
    outcome: Outcome
    error: BaseException | None = None


@dataclass(slots=True)
class _Held:
    """A run that is being moved on here. `ends`: those that nobody has taken to the record yet."""

    flow: Flow | None = None
    stored: set[str] = field(default_factory=set)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0
    ends: list[_End] = field(default_factory=list)


class Driver:
    """All runs of a hub that move."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        engine: Engine,
        inbox: Inbox,
        steps: Steps,
        stop_chat: Callable[[str], Awaitable[object]],
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._engine = engine
        self._inbox = inbox
        self._steps = steps
        self._stop_chat = stop_chat
        self._held: dict[str, _Held] = {}
        self._bodies: dict[str, anyio.Event] = {}
        self._due: list[tuple[datetime, str, str, int]] = []
        self._sooner = anyio.Event()
        engine.register(KIND, self._attempt)

    # --- moving a run on

    async def apply(self, run_id: str, change: Callable[[Flow], T], begin: Begin | None = None) -> T:
        """Tell a run what happened. When this returns, what follows is stored, and begun or given on."""
        with self._holding(run_id) as held:
            # A node that is being stopped must not leave its run between two states.
            with anyio.move_on_after(WRITE_S, shield=True):
                async with held.lock:
                    result, before, run, deeds, new = await self._change(run_id, held, change)
                with self._seen_to_later(run_id):
                    for record in deeds.questions:  # before anybody hears that it waits
                        if self._still(record):
                            await self.ask(run, record)
                    self._tell(before, run, deeds, new)
                    await self._do(deeds, begin)
                return result
            raise UnavailableError(f"The run {run_id} could not be written in time.", hint="Try again.")

    async def settled(self, run_id: str) -> None:
        """Until what was written of a run is done as well: its questions asked, its attempts begun."""
        while (held := self._held.get(run_id)) is not None and held.users:  # noqa: ASYNC110 - a moment
            await anyio.sleep(SETTLE_S)

    @contextmanager
    def _holding(self, run_id: str) -> Iterator[_Held]:
        held = self._held.setdefault(run_id, _Held())
        held.users += 1
        try:
            yield held
        finally:
            held.users -= 1
            if not held.users and held.flow is None:
                self._held.pop(run_id, None)

    @contextmanager
    def _seen_to_later(self, run_id: str) -> Iterator[None]:
        """What is on record and could not be begun or asked now: a database was away."""
        try:
            yield
        except UnavailableError:
            if not any(one[1:3] == (run_id, RECOVER) for one in self._due):
                self._push((self._clock.now() + timedelta(seconds=AGAIN_S), run_id, RECOVER, 0))
            raise

    async def _finish(self, record: NodeRun, outcome: Outcome, begin: Begin) -> None:
        """The end of an attempt; those that end at the same time share what is written."""
        mine, taken = _End(record.path, record.attempt, outcome), list[_End]()

        def finish_all(flow: Flow) -> None:
            taken.extend(held.ends)
            held.ends.clear()
            for one in taken:
                flow.finish(one.path, one.attempt, one.outcome)

        with self._holding(record.run_id) as held:
            held.ends.append(mine)
            try:
                await self.apply(record.run_id, finish_all, begin)
            except BaseException as error:
                for one in taken:
                    one.error = error
                raise
        if mine.error is not None:
            raise mine.error

    async def _change(
        self, run_id: str, held: _Held, change: Callable[[Flow], T]
    ) -> tuple[T, WorkflowRun, WorkflowRun, Deeds, set[str]]:
        for _ in range(TRIES):
            try:
                flow = held.flow or await self._load(run_id, held)
                before, flow.now = flow.run, self._clock.now()
                result = change(flow)
                deeds = flow.take_deeds()
                new = {one.key for one in deeds.rows.values()} - held.stored
                if deeds.rows or flow.run != before:
                    await self._save(flow, held, deeds)
            except rows.Stale:
                held.flow = None
                continue
            except BaseException:
                held.flow = None
                raise
            # A run that waits for people costs nothing.
            held.flow = flow if flow.run.status is RunStatus.RUNNING else None
            self._watch(flow, deeds)
            return result, before, flow.run, deeds, new
        raise UnavailableError(f"The run {run_id} is being changed from elsewhere.", hint="Try again.")

    async def _load(self, run_id: str, held: _Held) -> Flow:
        def work(conn: Connection) -> tuple[WorkflowRun | None, Sequence[NodeRun]]:
            return rows.select_run(conn, run_id), rows.select_nodes(conn, run_id)

        run, nodes = await self._store.read(work)
        if run is None:
            raise no_run(run_id)
        held.stored = {one.key for one in nodes}
        return Flow(run, nodes, self._settings.current.workflow_parallel, self._clock.now())

    async def _save(self, flow: Flow, held: _Held, deeds: Deeds) -> None:
        self._name_questions(flow, deeds)
        run = flow.run = replace(flow.run, version=flow.run.version + 1)
        new = [one for one in deeds.rows.values() if one.key not in held.stored]
        changed = [one for one in deeds.rows.values() if one.key in held.stored]
        write = self._store.write_now if len(deeds.rows) <= FEW_ROWS else self._store.write
        await write(lambda conn: rows.save(conn, run, new, changed))
        held.stored |= {one.key for one in new}

    def _name_questions(self, flow: Flow, deeds: Deeds) -> None:
        """A question has its id before it is asked, so that a crash does not ask it twice."""
        asked = [
            replace(one, detail={**one.detail, "approval_id": new_id("approval")}) for one in deeds.questions
        ]
        for record in asked:
            deeds.rows[record.path, record.attempt] = record
            flow.current[record.path] = flow.shown[record.path] = record
        deeds.questions[:] = asked

    async def _do(self, deeds: Deeds, begin: Begin | None) -> None:
        if deeds.stops:
            await self._stop(deeds.stops)
        for record in deeds.withdrawn:
            if approval := record.detail.get("approval_id"):
                await self._inbox.withdraw(approval, "The run does not wait for this any more.")
        orders = [_order(record) for record in deeds.starts]
        if begin is not None:
            begin(orders)
        else:
            await self._engine.start_all(orders)

    def _still(self, record: NodeRun) -> bool:
        """Whether it still waits, as far as is known here."""
        held = self._held.get(record.run_id)
        known = held.flow.current.get(record.path) if held and held.flow else None
        return known is None or (known.attempt, known.status) == (record.attempt, record.status)

    async def ask(self, run: WorkflowRun, record: NodeRun) -> Approval:
        """Put the question of a node into the inbox; the same one is there once."""
        return await self._inbox.leave(question_of(run, record), record.detail["approval_id"])

    async def _stop(self, records: Sequence[NodeRun]) -> None:
        """End attempts, and wait until nothing of them runs on."""
        await self._engine.cancel([one.key for one in records])
        with anyio.move_on_after(STOP_S):
            for record in records:
                if body := self._bodies.get(record.key):
                    await body.wait()
        for record in records:  # only now: until its body has ended, a conversation may still begin
            if chat := record.detail.get("chat_run_id"):
                await self._stop_chat(chat)

    # --- after a restart

    async def recover(self, run_id: str) -> None:
        """Whatever a crash, or a database that was away, left undone of what follows is done now."""

        def look(flow: Flow) -> tuple[WorkflowRun, list[NodeRun]]:
            if not flow.run.ended:
                flow.begin()
            return flow.run, [one for one in flow.current.values() if not one.status.ended]

        with self._seen_to_later(run_id):
            await self._see_to(*await self.apply(run_id, look))

    async def _see_to(self, run: WorkflowRun, records: Sequence[NodeRun]) -> None:
        going = [one for one in records if one.status is NodeStatus.RUNNING and one.type not in CONTAINERS]
        begun = await self._engine.start_all([_order(record) for record in going])
        await self._begin_again([one for one in going if one.key not in begun])
        for record in records:
            if record.status is NodeStatus.WAITING and "approval_id" in record.detail:
                await self.take_answer(await self.ask(run, record))

    async def _begin_again(self, records: Sequence[NodeRun]) -> None:
        """Attempts that the engine has as ended and we do not: a power cut took our last moments alone."""
        elsewhere = [one for one in records if not self._engine.is_going(one.key)]
        known = await self._engine.find_all([one.key for one in elsewhere])
        lost = [one for one in elsewhere if one.key in known and known[one.key].state != "running"]
        for record in lost:
            await self._note(record, {"begun": True})
        if lost:
            await self._engine.forget([one.key for one in lost])
            await self._engine.start_all([_order(one) for one in lost])

    async def take_answer(self, approval: Approval) -> bool:
        """What a person, or time, has said to a question of a run."""
        detail, answer = approval.question.detail, approval.answer
        if answer is None or approval.question.run_id is None or approval.state == "cancelled":
            return False
        decision: Decision | None = None
        if approval.state in ("approved", "rejected"):
            decision = "approve" if approval.state == "approved" else "reject"
        path, attempt = str(detail.get("node_id")), int(detail.get("attempt", 0))
        said = answer.response if answer.response is not None else answer.reason
        response = None if decision is None else said
        run_id = approval.question.run_id
        try:
            with self._seen_to_later(run_id):
                return await self.apply(run_id, lambda flow: flow.answer(path, attempt, decision, response))
        except NotFoundError:  # the run was deleted meanwhile
            return False

    # --- attempts

    async def _attempt(self, activation: Activation) -> None:
        """One activation of an attempt. After a crash it is called again from the top."""
        payload = activation.payload
        run_id, path, attempt = payload["run_id"], payload["path"], payload["attempt"]
        body = self._bodies[activation.id] = anyio.Event()
        try:
            found = await self._record(run_id, path, attempt)
            if found is None or found[2].status is not NodeStatus.RUNNING:
                # It is on record already; what follows from it may have been lost with the process.
                await self._recover_if_there(run_id)
                return
            run, flow, record = found
            outcome = await self._work(run, flow, record)
            if outcome is not None:
                await self._keep(record, outcome, activation.follow_with)
        finally:
            self._bodies.pop(activation.id, None)
            body.set()

    async def _keep(self, record: NodeRun, outcome: Outcome, begin: Begin) -> None:
        """What an attempt came to is not lost because the database is away for a while."""
        while True:
            try:
                await self._finish(record, outcome, begin)
            except UnavailableError as error:
                log.warning("the end of %s is not written yet, it is tried again: %s", record.key, error)
                await self._clock.sleep(AGAIN_S)
            else:
                return

    async def _recover_if_there(self, run_id: str) -> None:
        with suppress(NotFoundError):
            await self.recover(run_id)

    async def _record(self, run_id: str, path: str, attempt: int) -> tuple[WorkflowRun, Flow, NodeRun] | None:
        def look(flow: Flow) -> tuple[WorkflowRun, Flow, NodeRun] | None:
            record = flow.current.get(path)
            return (flow.run, flow, record) if record is not None and record.attempt == attempt else None

        held = self._held.get(run_id)
        if held and held.flow and (found := look(held.flow)) and found[2].status is NodeStatus.RUNNING:
            return found
        try:
            return await self.apply(run_id, look)
        except NotFoundError:
            return None

    async def _work(self, run: WorkflowRun, flow: Flow, record: NodeRun) -> Outcome | None:
        """Do it; nothing when it must wait for a person first."""
        node = flow.node_of(record.path)
        policy = rules.on_interrupt(node, only_reads=await self._steps.only_reads(record))
        if policy != "rerun" and self._may_have_begun(record):
            if policy == "fail":
                return failed("A crash cut it, and on_interrupt says fail.", "interrupted")
            await self._ask_first(record, "interrupted")
            return None
        if record.detail.get("allowed") != "permission" and await self._steps.needs_permission(run, record):
            if not run.attended:
                return failed(
                    "Nobody can be asked whether this script may run: the run is unattended.", "denied"
                )
            await self._ask_first(record, "permission")
            return None
        if record.not_before is not None:
            wait = (record.not_before - self._clock.now()).total_seconds()
            await self._clock.sleep(max(0.0, wait))
        if policy != "rerun":
            await self._note(record, {"begun": True})
        session = self._session(flow, record, str(node.values.get("session", "")))
        limit = node.timeout_s or LONGEST_STEP_S
        try:
            with anyio.fail_after(limit):
                return await self._steps.do(
                    run, node, record, lambda detail: self._note(record, detail), session
                )
        except TimeoutError:
            await self._stop_late(record)
            return failed(f"It took longer than {limit:g} s.", "timeout")

    def _may_have_begun(self, record: NodeRun) -> bool:
        """Whether an earlier activation may have. What that noted shortly before a power cut may be lost."""
        due = [moment for moment in (record.started_at, record.not_before) if moment is not None]
        machine_began = self._clock.now() - timedelta(seconds=self._clock.monotonic())
        return bool(record.detail.get("begun")) or (bool(due) and max(due) < machine_began)

    async def _stop_late(self, record: NodeRun) -> None:
        """A conversation goes on by itself when its node does not wait any more."""
        flow = (await self._record(record.run_id, record.path, record.attempt) or (None, None, record))[2]
        if chat := flow.detail.get("chat_run_id"):
            await self._stop_chat(chat)

    def _session(self, flow: Flow, record: NodeRun, name: str) -> str | None:
        """The conversation of an earlier node of the same body."""
        prefix = record.path.rpartition("/")[0]
        earlier = flow.shown.get(f"{prefix}/{name}" if prefix else name)
        return None if earlier is None else earlier.detail.get("thread_id")

    async def _ask_first(self, record: NodeRun, why: str) -> None:
        path, attempt = record.path, record.attempt
        await self.apply(record.run_id, lambda flow: flow.ask_again(path, attempt, {"asked": why}))

    async def _note(self, record: NodeRun, detail: Any) -> None:
        path, attempt = record.path, record.attempt
        await self.apply(record.run_id, lambda flow: flow.note(path, attempt, detail))

    # --- telling

    def _tell(self, before: WorkflowRun, run: WorkflowRun, deeds: Deeds, new: set[str]) -> None:
        for record in deeds.rows.values():
            news = node_news(record, is_new=record.key in new)
            if news == "started":
                self._bus.publish("workflow.node_started", node_data(run, record), channel_id=run.channel_id)
            elif news == "finished":
                self._bus.publish("workflow.node_finished", node_data(run, record), channel_id=run.channel_id)
        match run_news(before, run):
            case "started":
                self._bus.publish("workflow.run_started", run.wire(), channel_id=run.channel_id)
            case "paused":
                self._bus.publish("workflow.run_paused", run.wire(), channel_id=run.channel_id)
            case "finished":
                self._bus.publish("workflow.run_finished", run.wire(), channel_id=run.channel_id)

    # --- time

    def _watch(self, flow: Flow, deeds: Deeds) -> None:
        """What has to end in time, and is not an attempt, which has its own clock."""
        for record in deeds.rows.values():
            if record.type in CONTAINERS and record.status is NodeStatus.RUNNING and record.started_at:
                limit = flow.node_of(record.path).timeout_s
                if limit is not None:
                    due = record.started_at + timedelta(seconds=limit)
                    self._push((due, record.run_id, record.path, record.attempt))

    def watch_deadline(self, run_id: str, deadline: datetime | None) -> None:
        if deadline is not None:
            self._push((deadline, run_id, "", 0))

    def _push(self, due: tuple[datetime, str, str, int]) -> None:
        if due not in self._due:
            heapq.heappush(self._due, due)
            self._sooner.set()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Let times run out; as long as the hub runs."""
        task_status.started()
        while True:
            await self._wait_for_due()
            while self._due and self._due[0][0] <= self._clock.now():
                _, run_id, path, attempt = heapq.heappop(self._due)
                try:
                    if path == RECOVER:
                        await self.recover(run_id)
                    else:
                        await self._expire(run_id, path, attempt)
                except NotFoundError:
                    continue
                except UnavailableError as error:  # it comes again
                    log.warning("the run %s is looked at later: %s", run_id, error)
                except Exception:  # border: the time of one run is not that of others
                    log.exception("the time of %s could not be ended", run_id)

    async def _expire(self, run_id: str, path: str, attempt: int) -> None:
        try:
            await self.apply(run_id, partial(_expire, path=path, attempt=attempt))
        except UnavailableError:
            self._push((self._clock.now() + timedelta(seconds=AGAIN_S), run_id, path, attempt))
            raise

    async def _wait_for_due(self) -> None:
        self._sooner = anyio.Event()
        async with anyio.create_task_group() as race:
            if self._due:
                race.start_soon(self._wake_at, self._due[0][0])
            await self._sooner.wait()
            race.cancel_scope.cancel()

    async def _wake_at(self, due: datetime) -> None:
        await self._clock.sleep(max(0.0, (due - self._clock.now()).total_seconds()))
        self._sooner.set()


def _expire(flow: Flow, path: str, attempt: int) -> bool:
    if path:
        return flow.expire(path, attempt)
    if flow.run.ended or flow.run.ending or flow.run.deadline is None or flow.run.deadline > flow.now:
        return False
    flow.stop("timeout", f"The run took longer than {flow.definition.timeout_s:g} s.")
    return True


def _order(record: NodeRun) -> Order:
    payload = {"run_id": record.run_id, "path": record.path, "attempt": record.attempt}
    return Order(KIND, record.key, payload)


def no_run(run_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no workflow run {run_id!r}.", hint="`manyhands workflows runs` lists them."
    )
