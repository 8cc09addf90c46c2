"""The tools of one run: what is offered now, and calls taken to their end.

Above a budget the definitions are not sent; three tools find, describe and call them instead. Native tools
always go out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from manyhands.chat import tracing
from manyhands.chat.context import weight
from manyhands.chat.prompt import Skill
from manyhands.chat.types import Channel
from manyhands.errors import ManyhandsError
from manyhands.models.types import Attachment, ToolRequest, ToolSpec, Turn
from manyhands.tools.types import NATIVE, CallContext, CallRecord, Listing, ToolMatch

DESCRIPTION_LIMIT = 4_000
FOUND_LIMIT = 8
NAMED = 30
FRESH_S = 0.5
"""How long an iteration waits for lists of tools that have changed and are being read."""

SEARCH_TOOLS = ToolSpec(
    "search_tools",
    "Find tools by what they do. Many more tools are connected than are listed here: search before you "
    "say that something "
    "cannot be done. Then read one with describe_tool and use it with call_tool.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do, in a few words."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
DESCRIBE_TOOL = ToolSpec(
    "describe_tool",
    "The whole description of a tool that search_tools found, with the schema of its arguments.",
    {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The full name of the tool."}},
        "required": ["name"],
        "additionalProperties": False,
    },
)
CALL_TOOL = ToolSpec(
    "call_tool",
    "Use a tool that search_tools found.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The full name of the tool."},
            "arguments": {"type": "object", "description": "Its arguments, as describe_tool shows them."},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
)
FINDERS = (SEARCH_TOOLS, DESCRIBE_TOOL, CALL_TOOL)
READ_SKILL = ToolSpec(
    "read_skill",
    "Read one of the skills that connected servers offer, before you do what it is about.",
    {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The skill's name, as it is listed."}},
        "required": ["name"],
        "additionalProperties": False,
    },
)


class Toolbox(Protocol):
    """What a run needs of the tool service."""

    async def list(self, channel: Channel | None = None) -> Sequence[Listing]: ...

    async def call(self, name: str, arguments: object, context: CallContext) -> CallRecord: ...

    async def search(
        self, query: str, limit: int = 10, channel: Channel | None = None, *, offered_only: bool = False
    ) -> Sequence[ToolMatch]: ...

    async def asks(self, name: str, context: CallContext) -> bool:
        """Whether a person would be asked before it runs."""
        ...


class Skills(Protocol):
    """What a run needs to know of skills."""

    async def all_skills(self, channel: Channel | None) -> Sequence[Skill]: ...

    async def read_skill(self, name: str, channel: Channel | None) -> str: ...

    async def up_to_date(self, timeout_s: float) -> None: ...


@dataclass
class RunHands:
    """`Hands` of one run."""

    toolbox: Toolbox
    channel: Channel
    context: CallContext
    budget_tokens: int | None
    """What definitions may take; nothing means no limit."""
    call_ids: Mapping[str, str]
    skills: Skills
    deferred: bool = False
    news: list[str] = field(default_factory=list)
    """What the model is told of tools that came or went during the run."""
    _known: frozenset[str] | None = None

    async def offer(self) -> Sequence[ToolSpec]:
        await self.skills.up_to_date(FRESH_S)
        listings = [listing for listing in await self.toolbox.list(self.channel) if listing.offered]
        self._compare(frozenset(listing.definition.full_name for listing in listings))
        specs = [to_spec(listing) for listing in listings]
        self.deferred = self.budget_tokens is not None and weight(specs) > self.budget_tokens
        if self.deferred:
            native = [to_spec(listing) for listing in listings if listing.definition.server == NATIVE]
            specs = [*native, *FINDERS]
        return [*specs, READ_SKILL] if await self.skills.all_skills(self.channel) else specs

    def _compare(self, names: frozenset[str]) -> None:
        known, self._known = self._known, names
        if known is not None:
            if added := sorted(names - known):
                self.news.append(f"New tools since this run began: {_some(added)}.")
            if gone := sorted(known - names):
                self.news.append(f"Tools that are gone since this run began: {_some(gone)}.")

    async def call(self, call: ToolRequest, iteration: int) -> Turn:
        if self.deferred and call.name in (SEARCH_TOOLS.name, DESCRIBE_TOOL.name, CALL_TOOL.name):
            return await self._find(call, iteration)
        if call.name == READ_SKILL.name:
            return await self._read_skill(call)
        return await self._use(call, call.name, call.arguments, iteration)

    async def _use(self, call: ToolRequest, name: str, arguments: object, iteration: int) -> Turn:
        context = replace(self.context, iteration=iteration, call_id=self.call_ids.get(call.id))
        about = {"gen_ai.tool.name": name, "gen_ai.tool.call.id": call.id, "gen_ai.tool.type": "function"}
        with tracing.span("execute_tool", name, about) as span:
            record = await self.toolbox.call(name, arguments, context)
            if record.is_error:
                tracing.tell_failure(span, record.code or record.status.value)
        return turn_of(call, record)

    async def _find(self, call: ToolRequest, iteration: int) -> Turn:
        arguments = _object(call.arguments)
        if arguments is None:
            return _said(call, "The arguments must be one JSON object.", is_error=True)
        match call.name:
            case SEARCH_TOOLS.name:
                return _said(call, await self._search(str(arguments.get("query", ""))))
            case DESCRIBE_TOOL.name:
                return await self._describe(call, str(arguments.get("name", "")))
        return await self._use(
            call, str(arguments.get("name", "")), arguments.get("arguments") or {}, iteration
        )

    async def _read_skill(self, call: ToolRequest) -> Turn:
        name = str((_object(call.arguments) or {}).get("name", ""))
        try:
            return _said(call, await self.skills.read_skill(name, self.channel))
        except ManyhandsError as error:
            return _said(call, str(error), is_error=True)

    async def _search(self, query: str) -> str:
        found = await self.toolbox.search(query, FOUND_LIMIT, self.channel, offered_only=True)
        lines = [await self._line(match.listing) for match in found]
        return "\n".join(lines) or "No tool fits. Try other words."

    async def _line(self, listing: Listing) -> str:
        asks = (
            " (asks the person first)"
            if await self.toolbox.asks(listing.definition.full_name, self.context)
            else ""
        )
        first = listing.definition.description.strip().partition("\n")[0][:200]
        return f"- {listing.definition.full_name}{asks}: {first}"

    async def _describe(self, call: ToolRequest, name: str) -> Turn:
        for listing in await self.toolbox.list(self.channel):
            if listing.definition.full_name == name and listing.offered:
                spec = to_spec(listing)
                return _said(
                    call, f"{spec.name}\n{spec.description}\n\nArguments:\n{json.dumps(dict(spec.schema))}"
                )
        return _said(call, f"There is no tool {name!r}. Use search_tools.", is_error=True)


def to_spec(listing: Listing) -> ToolSpec:
    """A tool as it goes to a model."""
    definition = listing.definition
    return ToolSpec(definition.full_name, definition.description[:DESCRIPTION_LIMIT], definition.input_schema)


def turn_of(call: ToolRequest, record: CallRecord) -> Turn:
    """A finished call as the model observes it."""
    return Turn(
        "tool",
        record.result or record.error or "",
        call_id=call.id,
        tool=call.name,
        is_error=record.is_error,
        attachments=pictures(record),
    )


def pictures(record: CallRecord) -> tuple[Attachment, ...]:
    """Images of a result, for models that can see them."""
    found = []
    for number, block in enumerate(record.content or ()):
        data = block.get("data")
        if block.get("type") == "image" and isinstance(data, str):
            mime = str(block.get("mimeType", "image/png"))
            found.append(Attachment(f"{record.tool}-{number}", mime, base64.b64decode(data)))
    return tuple(found)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _said(call: ToolRequest, text: str, *, is_error: bool = False) -> Turn:
    return Turn("tool", text, call_id=call.id, tool=call.name, is_error=is_error)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
