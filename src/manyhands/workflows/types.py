"""What a workflow, a run of it and a node of a run are. Values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from manyhands.clock import rfc3339

Json = dict[str, Any]
NodeType = Literal["prompt", "bash", "tool", "approval", "loop", "foreach", "workflow", "quality"]
TriggerRule = Literal["all_success", "all_done", "one_success", "none_failed"]
OnInterrupt = Literal["rerun", "ask", "fail"]
Decision = Literal["approve", "reject"]
Scope = Literal["global", "project"]
Authority = Literal["owner", "agent", "schedule"]
"""On whose word a run was started. Only the owner's needs no further permission."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A mistake in a definition, and where: its path in the data, and its line when there is a text."""

    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    severity: Literal["error", "warning"] = "error"

    def wire(self) -> Json:
        return {
            "message": self.message,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "severity": self.severity,
        }

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.path + ': ' if self.path else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a node is tried in all, how long to wait between, and after which classes of error."""

    attempts: int = 1
    delay_s: float = 1.0
    backoff: float = 2.0
    max_delay_s: float = 300.0
    on: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One step. `values` holds what its type alone knows, as it was written."""

    id: str
    type: NodeType
    values: Mapping[str, Any] = field(default_factory=dict)
    depends_on: Sequence[str] = ()
    when: str | None = None
    trigger_rule: TriggerRule = "all_success"
    retry: Retry = Retry()
    timeout_s: float | None = None
    output: Mapping[str, Any] | None = None
    always_run: bool = False
    on_interrupt: OnInterrupt | None = None
    body: Sequence[Node] = ()
    place: str = ""
    """Its path in the definition, such as `nodes[2]`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A workflow as it was understood. `data` is the same as plain JSON."""

    name: str
    description: str
    version: str | None
    inputs: Mapping[str, Mapping[str, Any]]
    nodes: Sequence[Node]
    timeout_s: float | None
    parallel: int | None
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a text: the definition unless a problem is an error."""

    text: str
    data: Any
    definition: Definition | None
    problems: Sequence[Problem]
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line at which each node begins, by its path, such as `nodes[2].body[0]`."""

    @property
    def errors(self) -> list[Problem]:
        return [one for one in self.problems if one.severity == "error"]


class RunStatus(StrEnum):
    """How far a run got."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self not in (RunStatus.RUNNING, RunStatus.PAUSED)


class NodeStatus(StrEnum):
    """How far a node got."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self not in (NodeStatus.PENDING, NodeStatus.RUNNING, NodeStatus.WAITING)


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One attempt at a node of a run.

    `path` says which: the ids down to it, with iterations between, such as `fix/2/test`. `tries` counts the
    attempts since it was last begun anew. `superseded`: the work was sent back, and this counts no more.
    """

    run_id: str
    path: str
    attempt: int
    node_id: str
    type: str
    status: NodeStatus
    tries: int = 1
    superseded: bool = False
    inputs: Any = None
    output: Any = None
    error: str | None = None
    error_class: str | None = None
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    not_before: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def key(self) -> str:
        """Its id with the durable engine."""
        return f"{self.run_id}/{self.path}/{self.attempt}"

    def wire(self) -> Json:
        return {
            "path": self.path,
            "id": self.path,
            "node_id": self.node_id,
            "type": self.type,
            "status": self.status.value,
            "attempt": self.attempt,
            "tries": self.tries,
            "superseded": self.superseded,
            "inputs": self.inputs,
            "output": self.output,
            "error": self.error,
            "error_class": self.error_class,
            "reason": self.reason,
            "detail": dict(self.detail),
            "decision": self.detail.get("decision"),
            "log": self.detail.get("log"),
            "not_before": _time(self.not_before),
            "started_at": _time(self.started_at),
            "ended_at": _time(self.ended_at),
        }


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run, pinned to its definition and to those of the workflows below it."""

    id: str
    workflow_name: str
    status: RunStatus
    definition: Mapping[str, Any]
    inputs: Mapping[str, Any]
    created_at: datetime
    subs: Mapping[str, Any] = field(default_factory=dict)
    channel_id: str | None = None
    dir_path: str | None = None
    authority: Authority = "owner"
    attended: bool = True
    ending: Literal["cancelled", "timeout"] | None = None
    """Set while it is being stopped: nodes that always run still do."""
    retries: int = 0
    error: str | None = None
    deadline: datetime | None = None
    ended_at: datetime | None = None
    version: int = 0

    @property
    def ended(self) -> bool:
        return self.status.ended

    def wire(self) -> Json:
        return {
            "id": self.id,
            "workflow_name": self.workflow_name,
            "status": self.status.value,
            "inputs": dict(self.inputs),
            "channel_id": self.channel_id,
            "dir_path": self.dir_path,
            "authority": self.authority,
            "attended": self.attended,
            "ending": self.ending,
            "retries": self.retries,
            "error": self.error,
            "deadline": _time(self.deadline),
            "created_at": _time(self.created_at),
            "ended_at": _time(self.ended_at),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended: an output, or an error with its class. `detail` is kept with the attempt."""

    status: NodeStatus
    output: Any = None
    error: str | None = None
    error_class: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
