"""What the nodes that do something do: run a script, ask an agent, call a tool, compare the quality.

Each answers with an outcome, never with an exception of its own. When a node runs is not known here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import anyio

from manyhands.chat.types import Channel, Run, RunOptions, Speaker
from manyhands.chat.types import RunStatus as ChatStatus
from manyhands.errors import ManyhandsError, NotFoundError, UnavailableError
from manyhands.guardian import Guardian
from manyhands.ids import new_id
from manyhands.secrets import Redactor
from manyhands.tools.types import CallContext, CallRecord, CallStatus
from manyhands.workflows.bash import run_script
from manyhands.workflows.shelter import Shelter
from manyhands.workflows.texts import storable
from manyhands.workflows.types import Json, Node, NodeRun, NodeStatus, Outcome, WorkflowRun

Note = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Writes something down with the attempt, for whoever goes on with it after a crash."""
LONGEST_NAME = 200
"""Of a thread."""
_SPEAKERS: Mapping[str, Speaker] = {"owner": "person", "agent": "agent", "schedule": "schedule"}


class Tools(Protocol):
    """What is needed of the tool service."""

    async def call(self, name: str, arguments: object, context: CallContext) -> CallRecord: ...

    async def asks(self, name: str, context: CallContext) -> bool: ...

    async def is_read_only(self, name: str, channel: Channel | None = None) -> bool: ...


class Runs(Protocol):
    """What is needed of the run service."""

    async def start(
        self, channel_id: str, prompt: str, options: RunOptions | None = None, *, run_id: str | None = None
    ) -> Run: ...

    async def get(self, run_id: str) -> Run: ...

    async def take_over(self, run_id: str) -> None: ...

    async def cancel(self, run_id: str) -> Run: ...


class Channels(Protocol):
    """What is needed of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...

    async def find_or_create(
        self, *, dir_path: str | None = None, platform: str = "local", name: str | None = None
    ) -> tuple[Channel, bool]: ...

    async def thread_of(self, parent_id: str, name: str) -> Channel: ...

    async def add(self, fresh: Channel) -> Channel: ...


Gate = Callable[[str, str | None, Mapping[str, Any] | None], Awaitable[Any]]
Finished = Callable[[str], Awaitable[None]]
"""Waits until a run of a conversation has ended."""


@dataclass(frozen=True, slots=True)
class Hands:
    """Everything that steps use."""

    tools: Tools
    runs: Runs
    channels: Channels
    finished: Finished
    gate: Gate | None
    guardian: Guardian | None
    results: Path
    shelter: Shelter
    redactor: Redactor


class Steps:
    """Does one attempt."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands

    async def do(
        self, run: WorkflowRun, node: Node, record: NodeRun, note: Note, session: str | None
    ) -> Outcome:
        """`session`: the conversation of the node that it goes on with."""
        try:
            match node.type:
                case "bash":
                    return await self._bash(run, record)
                case "tool":
                    return await self._tool(run, record)
                case "prompt":
                    return await self._prompt(run, record, note, session)
                case "quality":
                    return await self._quality(run, record)
        except ManyhandsError as error:
            return failed(str(error), _class_of(error))
        return failed(f"A {node.type} node does nothing by itself.")

    # --- before

    async def only_reads(self, record: NodeRun) -> bool:
        """Whether doing it again changes nothing."""
        return record.type == "tool" and await self._hands.tools.is_read_only(str(record.inputs["tool"]))

    async def needs_permission(self, run: WorkflowRun, record: NodeRun) -> bool:
        """Whether a person is asked first: a script that the owner did not start is a command like others."""
        if record.type != "bash" or run.authority == "owner":
            return False
        if await self._hands.shelter.wrap(run.dir_path) is not None:
            return False
        return await self._hands.tools.asks("run_command", replace(self._context(run), attended=True))

    def _context(self, run: WorkflowRun) -> CallContext:
        return CallContext(
            channel_id=run.channel_id,
            directory=run.dir_path,
            author_id="owner" if run.authority == "owner" else f"workflow {run.workflow_name}",
            attended=run.attended,
            direct=run.authority == "owner",
        )

    # --- each

    async def _bash(self, run: WorkflowRun, record: NodeRun) -> Outcome:
        inputs = record.inputs
        directory = inputs.get("cwd") or run.dir_path
        if directory is not None and run.dir_path is not None:
            directory = str(Path(run.dir_path) / directory)
        if directory is None:
            directory = str(self._hands.results)
        if not await anyio.Path(directory).is_dir():
            return failed(f"There is no directory {directory}.")
        variables = {str(key): _variable(value) for key, value in (inputs.get("env") or {}).items()}
        variables |= {"MANYHANDS_WORKFLOW_RUN": run.id, "MANYHANDS_WORKFLOW_NODE": record.path}
        owner = run.authority == "owner" or record.detail.get("allowed") == "permission"
        return await run_script(
            inputs["script"],
            directory=directory,
            variables=variables,
            spool=self._hands.results / f"workflow-{record.key.replace('/', '-')}.txt",
            guardian=self._hands.guardian,
            redactor=self._hands.redactor,
            wrap=None if owner else await self._hands.shelter.wrap(run.dir_path, directory),
        )

    async def _tool(self, run: WorkflowRun, record: NodeRun) -> Outcome:
        name, arguments = str(record.inputs["tool"]), record.inputs.get("arguments") or {}
        call = await self._hands.tools.call(name, arguments, self._context(run))
        detail: Json = {"call_id": call.id, "log": (call.result or "")[:20_000]}
        if call.status is CallStatus.SUCCESS and not call.is_error:
            output = call.structured_content if call.structured_content is not None else call.result or ""
            return Outcome(NodeStatus.SUCCESS, storable(output), detail=detail)
        kind = {CallStatus.TIMEOUT: "timeout", CallStatus.DENIED: "denied", CallStatus.CANCELLED: "cancelled"}
        said = call.error or call.result or f"{name} ended as {call.status.value}."
        return failed(storable(said[:4000]), kind.get(call.status, "error"), detail)

    async def _prompt(self, run: WorkflowRun, record: NodeRun, note: Note, session: str | None) -> Outcome:
        chat = await self._chat(run, record, note, session)
        try:
            await self._hands.finished(chat.id)
        except TimeoutError:
            await self._hands.runs.cancel(chat.id)
            raise
        chat = await self._hands.runs.get(chat.id)
        detail: Json = {"chat_run_id": chat.id, "thread_id": chat.channel_id, "cost": chat.cost}
        if chat.status is ChatStatus.COMPLETED:
            return Outcome(NodeStatus.SUCCESS, storable(chat.text), detail=detail)
        kind = "cancelled" if chat.status is ChatStatus.CANCELLED else "error"
        return failed(
            storable(chat.error or chat.text or f"The run ended as {chat.status.value}."), kind, detail
        )

    async def _chat(self, run: WorkflowRun, record: NodeRun, note: Note, session: str | None) -> Run:
        """The run that works on it: the one that an earlier activation started, or a new one.

        Its id and that of its thread are written down before they are made, so that a crash in between
        makes neither of them twice.
        """
        known = record.detail.get("chat_run_id")
        if known is not None:
            with suppress(NotFoundError):
                await self._hands.runs.take_over(known)
                return await self._hands.runs.get(known)
        chat_run_id = str(known or new_id("run"))
        thread = str(session or record.detail.get("thread_id") or new_id("ch"))
        await note({"chat_run_id": chat_run_id, "thread_id": thread})
        if session is None:
            await self._make_thread(thread, run, record)
        with anyio.CancelScope(shield=True):  # a conversation that has begun can be found and stopped
            await self._begin_chat(chat_run_id, thread, run, record)
        return await self._hands.runs.get(chat_run_id)

    async def _begin_chat(self, chat_run_id: str, thread: str, run: WorkflowRun, record: NodeRun) -> None:
        inputs = record.inputs
        await self._hands.runs.start(
            thread,
            inputs["prompt"],
            RunOptions(
                model=inputs.get("model"),
                max_iterations=inputs.get("max_iterations"),
                allow=_allowed(run, inputs.get("tools") or []),
                attended=run.attended,
                speaker=_SPEAKERS[run.authority],
            ),
            run_id=chat_run_id,
        )

    async def _make_thread(self, thread_id: str, run: WorkflowRun, record: NodeRun) -> None:
        """A conversation of its own, so that nodes side by side do not wait for each other."""
        parent = run.channel_id
        if parent is None:
            name = None if run.dir_path else f"workflow {run.workflow_name}"
            parent = (await self._hands.channels.find_or_create(dir_path=run.dir_path, name=name))[0].id
        name = f"{run.workflow_name}: {record.path}"[:LONGEST_NAME]
        thread = await self._hands.channels.thread_of(parent, name)
        await self._hands.channels.add(replace(thread, id=thread_id))

    async def _quality(self, run: WorkflowRun, record: NodeRun) -> Outcome:
        if self._hands.gate is None:
            raise UnavailableError("There is no quality engine here.")
        if run.dir_path is None:
            return failed("A quality node needs a directory: start the run with dir_path.")
        gate = await self._hands.gate(run.dir_path, record.inputs.get("base"), record.inputs.get("rules"))
        if gate.passed:
            return Outcome(NodeStatus.SUCCESS, storable(gate.wire()), detail={"log": gate.summary})
        return Outcome(
            NodeStatus.FAILED, storable(gate.wire()), storable(gate.summary), "error", {"log": gate.summary}
        )


def failed(message: str, error_class: str = "error", detail: Mapping[str, Any] | None = None) -> Outcome:
    return Outcome(NodeStatus.FAILED, error=message, error_class=error_class, detail=detail or {})


def _allowed(run: WorkflowRun, tools: Any) -> list[str]:
    """What needs no approval: nobody gives that to an agent but a person."""
    if run.authority == "agent":
        return []
    return [tools] if isinstance(tools, str) else [str(one) for one in tools]


def _class_of(error: ManyhandsError) -> str:
    return "unavailable" if isinstance(error, UnavailableError) else "error"


def _variable(value: Any) -> str:
    from manyhands.workflows.shell import as_text

    return "" if value is None else as_text(value)
