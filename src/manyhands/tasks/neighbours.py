"""What tasks need of other domains, as Protocols: whoever puts the hub together hands it over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection

from manyhands.chat.types import Channel, Run, RunOptions, Speaker
from manyhands.durable.types import Function, Work
from manyhands.tools.types import CallContext, CallRecord, Listing


class Channels(Protocol):
    async def get(self, channel_id: str) -> Channel: ...

    async def thread_of(self, parent_id: str, name: str) -> Channel: ...

    async def add(self, fresh: Channel, also: Callable[[Connection], None] | None = None) -> Channel: ...


class Threads(Protocol):
    async def create_worktree(
        self,
        parent_id: str,
        branch: str | None,
        name: str | None = None,
        message: str | None = None,
        author_id: str = "owner",
        *,
        speaker: Speaker = "person",
        own_channel: str | None = None,
        also: Callable[[Connection, Channel], None] | None = None,
    ) -> Channel: ...

    async def delete(self, thread_id: str, force: bool = False) -> Any: ...


class Runs(Protocol):
    async def start(
        self,
        channel_id: str,
        prompt: str,
        options: RunOptions | None = None,
        *,
        author_id: str = "owner",
        also: Callable[[Connection, Run], None] | None = None,
    ) -> Run: ...

    async def get(self, run_id: str) -> Run: ...

    async def take_over(self, run_id: str) -> None: ...

    async def cancel(self, run_id: str) -> Run: ...


class Tools(Protocol):
    async def list(self, channel: Channel | None = None) -> Sequence[Listing]: ...

    async def call(self, name: str, arguments: object, context: CallContext) -> CallRecord: ...

    async def calls_of_run(self, run_id: str) -> Sequence[CallRecord]: ...


class Models(Protocol):
    async def get(self, reference: str) -> Any: ...


class WorkflowRun(Protocol):
    """A run of a workflow, as far as a task cares."""

    @property
    def id(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def error(self) -> str | None: ...


class Workflows(Protocol):
    async def check(
        self, workflow_name: str, inputs: Mapping[str, Any], dir_path: str | None = None
    ) -> Any: ...

    async def start(
        self,
        workflow_name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        channel_id: str | None = None,
        dir_path: str | None = None,
        run_id: str | None = None,
        authority: Any = "schedule",
        attended: bool = True,
    ) -> WorkflowRun: ...

    async def wait(self, run_id: str, *, until_paused: bool = False) -> WorkflowRun: ...

    async def wait_for_answer(self, run_id: str) -> WorkflowRun: ...

    async def conversations(self, run_id: str) -> Sequence[tuple[str, float | None]]: ...

    async def cancel(self, run_id: str) -> Any: ...


class Durable(Protocol):
    def register(self, kind: str, function: Function) -> None: ...

    def warm(self) -> None: ...

    async def start(self, kind: str, work_id: str, payload: Any = None) -> bool: ...

    async def find(self, work_id: str) -> Work | None: ...

    async def cancel(self, work_ids: Sequence[str]) -> None: ...

    async def stopped(self, work_id: str) -> None: ...


@dataclass
class Neighbours:
    """All of them. `tell`: say something in a channel in the hub's own name."""

    channels: Channels
    threads: Threads
    runs: Runs
    tools: Tools
    models: Models
    tell: Callable[[str, str], Awaitable[Any]]
    workflows: Workflows | None = None
