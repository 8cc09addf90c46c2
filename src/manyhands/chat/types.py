"""Channels, messages and runs: where a conversation lives, what was said, and what was done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation, usually of one project directory. `trusted`: its `.mcp.json` may start servers."""

    id: str
    name: str
    dir_path: str | None
    platform: str
    parent_id: str | None
    branch: str | None
    worktree: str | None
    active: bool
    trusted: bool
    created_at: datetime
    system_prompt: str | None = None
    model: str | None = None
    runner: Mapping[str, Any] | None = None
    """The command that works here in place of the built-in loop (`runners.py`)."""


class RunStatus(StrEnum):
    """How far a run got."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MAX_ITERATIONS = "max_iterations"

    @property
    def ended(self) -> bool:
        return self not in (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)


Role = Literal["user", "assistant", "tool", "system"]
MessageState = Literal["sent", "queued", "withdrawn", "set_aside"]
"""`set_aside`: a message that was edited later, and all that came of it; only runs still read it."""


Speaker = Literal["person", "agent", "schedule"]
"""Who stands behind a message. Only a person's words carry a person's authority."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, `@Name`, that stands for somebody. `start` and `end` are places in the text."""

    kind: Literal["hub", "agent"]
    id: str
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call as the model asked for it. `id` is the model's, `call_id` ours: the one in the call log."""

    id: str
    name: str
    arguments: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. `queued`: sent during a run, taken in at its next iteration."""

    id: str
    channel_id: str
    role: Role
    content: str
    at: datetime
    author_id: str = "owner"
    run_id: str | None = None
    iteration: int | None = None
    state: MessageState = "sent"
    tool_calls: Sequence[AskedCall] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    attachments: Sequence[Mapping[str, Any]] = ()
    thinking: Sequence[Mapping[str, Any]] = ()
    usage: Mapping[str, int] | None = None
    model: str | None = None
    finish_reason: str | None = None
    covers: str | None = None
    """Of a summary: the last message that it stands for, with all before it."""
    speaker: Speaker = "person"
    mentions: Sequence[Mention] = ()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run was asked to do differently."""

    model: str | None = None
    max_iterations: int | None = None
    allow: Sequence[str] = ()
    attended: bool = True
    cost_cap: float | None = None
    speaker: Speaker = "person"
    """On whose word it was started."""
    depth: int = 0
    """How many agents stand between it and a person: agents that start agents come to an end."""


@dataclass(frozen=True, slots=True)
class Run:
    """One prompt worked on to its end."""

    id: str
    channel_id: str
    status: RunStatus
    options: RunOptions
    created_at: datetime
    author_id: str = "owner"
    model: str | None = None
    iterations: int = 0
    text: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    error: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    first_seq: int = 0
    """The last event before its first one: who follows it from the start begins after this."""
    holder: str | None = None
    """The home whose hub works on it: others on the same database leave it alone."""
