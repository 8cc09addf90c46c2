"""What a native tool is made of: a definition, a function, and what it needs to be of use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.chat.types import Channel
from manyhands.tools.types import Annotations, Effect, Invocation, ToolDefinition, ToolResult

Work = Callable[[Mapping[str, Any], Invocation], Awaitable[ToolResult]]

READS = Annotations(read_only=True, destructive=False, idempotent=True, open_world=False)
WRITES = Annotations(
    read_only=False, destructive=True, idempotent=True, open_world=False, says_destructive=True
)
ADDS = Annotations(read_only=False, destructive=False, idempotent=True, open_world=False)
FETCHES = Annotations(
    read_only=True, destructive=False, idempotent=True, open_world=True, says_open_world=True
)

DEFAULT_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A tool that runs in this process. `missing` says what it lacks to be of any use in a channel."""

    definition: ToolDefinition
    work: Work
    default: Effect
    missing: Callable[[Channel | None], str | None]
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    async def call(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        return await self.work(arguments, invocation)

    def problem(self, channel: Channel | None) -> str | None:
        return self.missing(channel)


def define(
    name: str,
    description: str,
    parameters: Mapping[str, Mapping[str, Any]],
    *,
    required: tuple[str, ...] = (),
    annotations: Annotations,
) -> ToolDefinition:
    """The definition of a native tool; unknown parameters are refused."""
    schema = {
        "type": "object",
        "properties": dict(parameters),
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolDefinition(name, name, description, schema, annotations=annotations)


def needs_nothing(channel: Channel | None) -> str | None:
    return None


def needs_directory(channel: Channel | None) -> str | None:
    if channel is None or channel.dir_path is None:
        return "it works in a channel's directory, and there is none here"
    return None
