"""Messages and runs as the API and events show them."""

from __future__ import annotations

from typing import Any

from manyhands.chat.types import Message, Run
from manyhands.clock import rfc3339


def message_json(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "channel_id": message.channel_id,
        "role": message.role,
        "content": message.content,
        "state": message.state,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "call_id": call.call_id}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id,
        "is_error": message.is_error,
        "attachments": [dict(reference) for reference in message.attachments],
        "thinking": thinking_text(message),
        "author_id": message.author_id,
        "speaker": message.speaker,
        "mentions": [
            {"kind": one.kind, "id": one.id, "name": one.name, "start": one.start, "end": one.end}
            for one in message.mentions
        ],
        "run_id": message.run_id,
        "iteration": message.iteration,
        "usage": message.usage,
        "model": message.model,
        "finish_reason": message.finish_reason,
        "covers": message.covers,
        "at": rfc3339(message.at),
    }


def thinking_text(message: Message) -> str:
    """What the model thought before it spoke, where its provider shows that."""
    parts = (str(part.get("content") or "") for part in message.thinking if part.get("part") == "thinking")
    return "\n\n".join(part for part in parts if part)


def run_json(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "channel_id": run.channel_id,
        "status": run.status.value,
        "model": run.model,
        "iterations": run.iterations,
        "text": run.text,
        "usage": dict(run.usage),
        "cost": run.cost,
        "error": run.error,
        "author_id": run.author_id,
        "speaker": run.options.speaker,
        "attended": run.options.attended,
        "created_at": rfc3339(run.created_at),
        "started_at": None if run.started_at is None else rfc3339(run.started_at),
        "ended_at": None if run.ended_at is None else rfc3339(run.ended_at),
    }
