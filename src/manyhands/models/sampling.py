"""Answers a server's sampling request with the default model. The person has agreed before it comes here."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from manyhands.errors import UnavailableError
from manyhands.models.types import Attachment, Model, ModelError, ModelRequest, Reply, Turn


async def sample(resolve: Callable[[], Awaitable[Model]], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of `sampling/createMessage` to its result, both as wire JSON."""
    model = await resolve()
    turns = [_turn(message) for message in wanted.get("messages", ())]
    request = ModelRequest(str(wanted.get("systemPrompt") or ""), turns, max_output=wanted.get("maxTokens"))
    reply = await _ask(model, request)
    return {
        "role": "assistant",
        "content": {"type": "text", "text": reply.text},
        "model": reply.model or model.info.model,
        "stopReason": "maxTokens" if reply.finish_reason == "length" else "endTurn",
    }


async def _ask(model: Model, request: ModelRequest) -> Reply:
    try:
        async with model.stream(request) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    return piece
    except ModelError as error:
        raise UnavailableError(f"The model {model.info.name} failed: {error.message}") from error
    raise UnavailableError(f"The model {model.info.name} ended its answer in the middle.", hint="Try again.")


def _turn(message: Mapping[str, Any]) -> Turn:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [content or {}]
    text = "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")
    images = tuple(
        Attachment("image", str(block.get("mimeType", "image/png")), base64.b64decode(block["data"]))
        for block in blocks
        if block.get("type") == "image"
    )
    return Turn("assistant" if message.get("role") == "assistant" else "user", text, attachments=images)
