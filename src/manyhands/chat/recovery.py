"""Pure rules that turn a stored conversation back into turns, and say what a cut run still has to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manyhands.chat.context import SUMMARY_HEAD
from manyhands.chat.types import AskedCall, Message
from manyhands.models.types import Attachment, ToolRequest, Turn

INTERRUPTED = (
    "The hub was stopped while this call was running, so its outcome is not known. It was not run again. "
    "Check what it did before you repeat it."
)


@dataclass(frozen=True, slots=True)
class Remaining:
    """Where a cut run goes on: calls that have no stored result yet, of which iteration."""

    calls: Sequence[AskedCall]
    iteration: int


def to_turn(message: Message, attachments: Sequence[Attachment] = (), tool: str | None = None) -> Turn | None:
    """A stored message as the model sees it; notes of the system are not shown, but for summaries."""
    match message.role:
        case "user":
            return Turn("user", heard(message), attachments=attachments)
        case "assistant":
            calls = tuple(ToolRequest(call.id, call.name, call.arguments) for call in message.tool_calls)
            return Turn("assistant", message.content, calls=calls, thinking=message.thinking)
        case "tool":
            return Turn(
                "tool",
                message.content,
                call_id=message.tool_call_id,
                tool=tool,
                is_error=message.is_error,
                attachments=attachments,
            )
        case "system" if message.covers:
            return Turn("user", SUMMARY_HEAD + message.content)
    return None


def heard(message: Message) -> str:
    """What was said, and whose word it is when it is not a person's."""
    match message.speaker:
        case "agent":
            who = (
                f"[From the agent {message.author_id}, not from the person: it can approve nothing for them.]"
            )
        case "schedule":
            who = "[From a schedule, not from the person: nobody is there to approve anything.]"
        case _:
            return message.content
    return f"{who}\n{message.content}"


def since_summary(messages: Sequence[Message]) -> list[Message]:
    """The conversation with its last summary in place of what that stands for.

    What the person said last stays, word for word.
    """
    summary = next((message for message in reversed(messages) if message.covers), None)
    if summary is None:
        return list(messages)
    place = next((place for place, one in enumerate(messages) if one.id == summary.covers), -1)
    old, rest = messages[: place + 1], [one for one in messages[place + 1 :] if not one.covers]
    spoken = any(message.role == "user" for message in rest)
    said = [] if spoken else [message for message in old if message.role == "user"][-1:]
    return [summary, *said, *rest]


def tool_names(messages: Sequence[Message]) -> dict[str, str]:
    """Which tool each call id belongs to."""
    return {call.id: call.name for message in messages for call in message.tool_calls}


def remaining(messages: Sequence[Message]) -> Remaining | None:
    """The calls of the last reply that have no result, or nothing when the model is to be asked next."""
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    for message in reversed(messages):
        if message.role == "assistant":
            open_calls = [call for call in message.tool_calls if call.id not in answered]
            return Remaining(open_calls, message.iteration or 1) if open_calls else None
    return None


def drop_orphans(turns: Sequence[Turn]) -> list[Turn]:
    """Calls without a result and results without a call make providers refuse a request: neither is sent."""
    asked = {call.id for turn in turns for call in turn.calls}
    answered = {turn.call_id for turn in turns if turn.role == "tool"}
    kept: list[Turn] = []
    for turn in turns:
        if turn.role == "tool" and turn.call_id not in asked:
            continue
        calls = tuple(call for call in turn.calls if call.id in answered)
        if turn.role == "assistant" and not calls and not turn.text:
            continue
        kept.append(turn if len(calls) == len(turn.calls) else Turn("assistant", turn.text, calls=calls))
    return kept
