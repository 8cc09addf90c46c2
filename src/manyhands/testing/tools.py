"""Tools in memory: a source of tools that are plain async functions, for tests of whatever calls tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.chat.types import Channel
from manyhands.errors import ManyhandsError
from manyhands.servers.types import Parallel, Trust
from manyhands.tools.types import (
    Annotations,
    CallContext,
    Effect,
    Invocation,
    Listing,
    ServerPolicy,
    ToolDefinition,
    ToolResult,
    text_result,
)

Function = Callable[[Mapping[str, Any], Invocation], Awaitable[ToolResult]]

ANYTHING: Mapping[str, Any] = {"type": "object"}


async def echo(arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
    """Answers with the text that it was given."""
    return text_result(str(arguments.get("text", "ok")))


@dataclass
class QuietInvocation:
    """`Invocation` for calling a tool by hand: it keeps what was reported and refuses every question."""

    context: CallContext = field(default_factory=CallContext)
    call_id: str = "call_by_hand"
    reports: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.reports.append((progress, total, message))

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(ApprovalState.REJECTED, reason="nobody is there")

    def pause(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """`Tool` around a function."""

    definition: ToolDefinition
    function: Function
    timeout_ms: int = 30_000

    async def call(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        return await self.function(arguments, invocation)


@dataclass
class MemoryTools:
    """`ToolSource` in memory. Servers are made by the first tool that names them."""

    tools: dict[str, FunctionTool] = field(default_factory=dict)
    facts: dict[str, Listing] = field(default_factory=dict)
    policies: dict[int, ServerPolicy] = field(default_factory=dict)
    servers: dict[str, int] = field(default_factory=dict)
    obstacles: dict[int, ManyhandsError] = field(default_factory=dict)
    accepted: list[tuple[int, str]] = field(default_factory=list)

    def add(
        self,
        name: str,
        function: Function = echo,
        *,
        server: str = "memory",
        schema: Mapping[str, Any] = ANYTHING,
        annotations: Annotations | None = None,
        description: str = "",
        timeout_ms: int = 30_000,
        project: str | None = None,
    ) -> str:
        """Add a tool; the answer is its full name."""
        server_id = self.servers.setdefault(server, len(self.servers) + 1)
        definition = ToolDefinition(
            f"mcp__{server}__{name}",
            name,
            description,
            schema,
            server=server,
            server_id=server_id,
            annotations=annotations or Annotations(),
            project=project,
        )
        self.tools[definition.full_name] = FunctionTool(definition, function, timeout_ms)
        self.facts[definition.full_name] = Listing(definition, True, "connected", status="connected")
        return definition.full_name

    def version(self) -> object:
        """Always another one: a test may change anything at any time."""
        return object()

    def trust(self, server: str, trust: Trust, parallel: Parallel = "all") -> None:
        self.policies[self.servers[server]] = ServerPolicy(trust, parallel)

    def change(self, full_name: str, **facts: Any) -> None:
        """Say something else of a tool: `enabled`, `policy`, `changed`, `offered`…"""
        self.facts[full_name] = replace(self.facts[full_name], **facts)

    def set_policy(self, full_name: str, policy: Effect | None) -> None:
        self.change(full_name, policy=policy)

    async def listings(self, channel: Channel | None) -> Sequence[Listing]:
        return list(self.facts.values())

    async def listing(self, full_name: str, channel: Channel | None) -> Listing | None:
        return self.facts.get(full_name)

    def tool(self, listing: Listing, channel: Channel | None) -> FunctionTool | None:
        return self.tools.get(listing.definition.full_name)

    async def meet(self, full_name: str, channel: Channel | None) -> None:
        """Everything is known already."""

    def server_policy(self, server_id: int) -> ServerPolicy:
        return self.policies.get(server_id, ServerPolicy())

    def obstacle(self, server_id: int) -> ManyhandsError | None:
        return self.obstacles.get(server_id)

    async def accept_definition(self, server_id: int, tool: str) -> None:
        self.accepted.append((server_id, tool))
        for full_name, listing in self.facts.items():
            if (listing.definition.server_id, listing.definition.name) == (server_id, tool):
                self.change(full_name, changed=False, diff=None)
