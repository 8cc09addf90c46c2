"""Our turns as the messages of pydantic-ai, and its answers as replies of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from manyhands.models.attached import shown
from manyhands.models.packing import pack, unpack
from manyhands.models.types import ModelRequest, Reply, TextDelta, ThinkingDelta, ToolRequest, Turn, Usage

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import ModelRequestParameters


def to_parameters(request: ModelRequest) -> ModelRequestParameters:
    """The system prompt and the tools of a request."""
    from pydantic_ai.messages import InstructionPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = [
        # Not strict: strict schemas forbid optional arguments, and arguments are checked before a call.
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.schema),
            strict=False,
        )
        for tool in request.tools
    ]
    brief = [InstructionPart(content=request.system)] if request.system.strip() else []
    return ModelRequestParameters(function_tools=tools, instruction_parts=brief)


def to_messages(request: ModelRequest, modalities: Sequence[str]) -> list[theirs.ModelMessage]:
    """The conversation; what a person said and tools answered in a row becomes one message."""
    from pydantic_ai.messages import ModelRequest as Asked

    found: list[theirs.ModelMessage] = []
    for is_answer, turns in groupby(request.turns, key=lambda turn: turn.role == "assistant"):
        if is_answer:
            found += [answer for answer in map(unpack, turns) if answer.parts]
        else:
            found.append(Asked(parts=[_question(turn, modalities) for turn in turns]))
    return found


def _question(turn: Turn, modalities: Sequence[str]) -> theirs.ModelRequestPart:
    from pydantic_ai.messages import ToolReturnPart, UserPromptPart

    files = [shown(attachment, modalities) for attachment in turn.attachments]
    if turn.role == "tool":
        text = turn.text or "(no output)"
        return ToolReturnPart(
            tool_name=turn.tool or "unknown",
            content=[text, *files] if files else text,
            tool_call_id=turn.call_id or "unknown",
            outcome="failed" if turn.is_error else "success",
        )
    if files:
        return UserPromptPart([*([turn.text] if turn.text else []), *files])
    return UserPromptPart(turn.text or "(empty message)")


def to_reply(response: theirs.ModelResponse, taken: Sequence[str] = ()) -> Reply:
    """The whole answer. Calls get ids that no other call of the conversation (`taken`) has."""
    from pydantic_ai.messages import TextPart

    calls = _distinct(_calls(response), taken)
    return Reply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        calls=calls,
        thinking=pack(response),
        usage=_usage(response),
        finish_reason=_finish_reason(response.finish_reason, bool(calls)),
        model=response.model_name or "",
    )


def to_delta(event: theirs.ModelResponseStreamEvent) -> TextDelta | ThinkingDelta | None:
    """What a person may see of an event; nothing of most."""
    from pydantic_ai import messages as theirs

    match event:
        case theirs.PartStartEvent(part=theirs.TextPart(content=text)) if text:
            return TextDelta(text)
        case theirs.PartDeltaEvent(delta=theirs.TextPartDelta(content_delta=text)) if text:
            return TextDelta(text)
        case theirs.PartStartEvent(part=theirs.ThinkingPart(content=text)) if text:
            return ThinkingDelta(text)
        case theirs.PartDeltaEvent(delta=theirs.ThinkingPartDelta(content_delta=thought)) if thought:
            return ThinkingDelta(thought)
    return None


def _finish_reason(reason: str | None, has_calls: bool) -> str:
    """Not every provider says that it stopped for its calls."""
    if reason in (None, "stop", "tool_call"):
        return "tool_calls" if has_calls else "stop"
    return reason


def _usage(response: theirs.ModelResponse) -> Usage:
    usage = response.usage
    return Usage(input=usage.input_tokens, output=usage.output_tokens, cached=usage.cache_read_tokens)


def _calls(response: theirs.ModelResponse) -> Iterator[ToolRequest]:
    from pydantic_ai.messages import ToolCallPart

    cut_short = response.finish_reason == "length"
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            yield ToolRequest(part.tool_call_id, part.tool_name, _written(part.args, cut_short))


def _written(arguments: Any, cut_short: bool) -> str:
    """What the model wrote. Nothing at all means no arguments, unless it was cut off before that."""
    if not arguments and not cut_short:
        return "{}"
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


def _distinct(calls: Iterator[ToolRequest], taken: Sequence[str]) -> tuple[ToolRequest, ...]:
    seen = {*taken, ""}
    distinct = []
    for call in calls:
        name, number = call.id, 2
        while name in seen:
            name, number = f"{call.id or 'call'}_{number}", number + 1
        seen.add(name)
        distinct.append(ToolRequest(name, call.name, call.arguments))
    return tuple(distinct)
