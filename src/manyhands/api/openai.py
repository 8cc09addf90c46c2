"""The hub as an OpenAI-compatible model that has tools: `/v1/chat/completions`, streaming and not.

Each request is a run of its own in a thread of the channel that is named by `X-Manyhands-Channel` (else of
one called "API"), with the conversation that the client sent. Nobody can be asked: what would ask is denied.
Tools that a client brings along are passed over: the hub has its own.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response, StreamingResponse

from manyhands.api.access import HubOf, while_connected
from manyhands.api.problems import openai_error
from manyhands.api.spoken import Spoken
from manyhands.chat.types import Message, Run, RunOptions, RunStatus
from manyhands.clock import SystemClock
from manyhands.errors import InvalidError
from manyhands.hub import Hub
from manyhands.ids import new_id
from manyhands.models.types import Attachment

router = APIRouter(prefix="/v1", tags=["openai"])

ROUTED = ("", "manyhands", "default")
"""Model names that mean: the hub's default."""
UNANSWERED = (RunStatus.FAILED, RunStatus.CANCELLED)
BAD_GATEWAY = 502


class Wire(BaseModel):
    """Clients send more fields than we use; those are passed over."""

    model_config = ConfigDict(extra="ignore")


class ChatMessage(Wire):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None


class StreamOptions(Wire):
    include_usage: bool = False


class Completion(Wire):
    messages: list[ChatMessage] = Field(min_length=1)
    model: str = ""
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()


@router.get("/models")
async def list_models(hub: HubOf) -> dict[str, Any]:
    """The hub's models, as OpenAI lists them."""
    infos = await hub.models.list()
    data = [{"id": info.id, "object": "model", "created": 0, "owned_by": info.provider} for info in infos]
    return {"object": "list", "data": data}


@router.post("/chat/completions", response_class=Response)
async def complete(
    request: Request,
    hub: HubOf,
    body: Completion,
    x_manyhands_channel: Annotated[str | None, Header()] = None,
) -> Response:
    """Answer the last message, with the hub's tools."""
    *earlier, last = _spoken(body.messages)
    if last.role != "user":
        raise InvalidError("The last message is not the user's.", hint="End with a message of role `user`.")
    images = _images(last)
    model = None if body.model in ROUTED else (await hub.models.get(body.model)).id
    parent = await _parent(hub, x_manyhands_channel)
    thread = await hub.channels.create_thread(parent, "API request", system_prompt=_system(body.messages))
    run = await hub.runs.start(
        thread.id,
        _text(last),
        RunOptions(model=model, attended=False),
        images,
        "api",
        history=[_stored(item, thread.id) for item in earlier],
    )
    if body.stream:
        return StreamingResponse(_stream(hub, run, body), media_type="text/event-stream")
    return _answer(await while_connected(request, lambda: _finished(hub, run)))


async def _parent(hub: Hub, channel_id: str | None) -> str:
    if channel_id:
        return (await hub.channels.get(channel_id)).id
    channel, _ = await hub.channels.find_or_create(name="API", platform="api")
    return channel.id


async def _finished(hub: Hub, run: Run) -> Run:
    """Wait for its end; a client that hangs up stops it."""
    try:
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.finished" and event.data["id"] == run.id:
                    break
    except BaseException:
        await hub.runs.stop_soon(run.id)
        raise
    return await hub.runs.get(run.id)


async def _stream(hub: Hub, run: Run, body: Completion) -> AsyncIterator[bytes]:
    try:
        yield _chunk(run, {"role": "assistant", "content": ""})
        async for text in _words(hub, run):
            yield _chunk(run, {"content": text})
    except BaseException:
        await hub.runs.stop_soon(run.id)
        raise
    run = await hub.runs.get(run.id)
    if run.status in UNANSWERED:
        yield _event(_error(run))
    else:
        if run.status is not RunStatus.COMPLETED:
            yield _chunk(run, {"content": run.text})
        yield _chunk(run, {}, _finish_reason(run))
        if body.stream_options.include_usage:
            yield _event(_head(run, "chat.completion.chunk") | {"choices": [], "usage": _usage(run)})
    yield b"data: [DONE]\n\n"


async def _words(hub: Hub, run: Run) -> AsyncGenerator[str, None]:
    """What the model says, as it comes; a client that reads slowly gets what it missed from the record."""
    spoken = Spoken()
    async with hub.bus.subscribe(run.first_seq) as events:
        async for event in events:
            data = event.data
            if event.type == "gap" and (await hub.runs.get(run.id)).status.ended:
                break
            if event.type == "run.finished" and data["id"] == run.id:
                break
            if data.get("run_id") != run.id:
                continue
            text = ""
            if event.type == "run.delta":
                text = spoken.delta(data["iteration"], data["offset"], data["text"])
            elif event.type == "message.created" and data["role"] == "assistant":
                text = spoken.message(data["iteration"], data["content"])
            if text:
                yield text
    for message in await hub.runs.messages_of(run.id):
        if message.role == "assistant" and (text := spoken.message(message.iteration or 0, message.content)):
            yield text


def _answer(run: Run) -> Response:
    if run.status in UNANSWERED:
        return JSONResponse(_error(run), BAD_GATEWAY)
    message = {"role": "assistant", "content": run.text}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(run), "logprobs": None}
    return JSONResponse(_head(run, "chat.completion") | {"choices": [choice], "usage": _usage(run)})


def _error(run: Run) -> dict[str, Any]:
    stopped = run.status is RunStatus.CANCELLED
    message = "The run was stopped." if stopped else run.error or "The run failed."
    return openai_error(message, run.status.value, BAD_GATEWAY)


def _finish_reason(run: Run) -> str:
    return "length" if run.status is RunStatus.MAX_ITERATIONS else "stop"


def _usage(run: Run) -> dict[str, int]:
    read, written = run.usage.get("input", 0), run.usage.get("output", 0)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _head(run: Run, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{run.id}",
        "object": kind,
        "created": int(time.time()),
        "model": run.model or "manyhands",
    }


def _chunk(run: Run, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    return _event(_head(run, "chat.completion.chunk") | {"choices": [choice]})


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


# --- what the client sent


def _system(messages: list[ChatMessage]) -> str | None:
    return "\n\n".join(_text(item) for item in messages if item.role in ("system", "developer")) or None


def _spoken(messages: list[ChatMessage]) -> list[ChatMessage]:
    """What was said; tool results that a client kept to itself are not ours to repeat."""
    spoken = [item for item in messages if item.role in ("user", "assistant")]
    if not spoken:
        raise InvalidError("There is no message of the user.", hint="Send one with role `user`.")
    return spoken


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(
        str(part.get("text", "")) for part in message.content or () if part.get("type") == "text"
    )


def _images(message: ChatMessage) -> list[Attachment]:
    """Pictures that came inside the message; addresses are not followed."""
    parts = message.content if isinstance(message.content, list) else []
    return [_image(part) for part in parts if part.get("type") == "image_url"]


def _image(part: dict[str, Any]) -> Attachment:
    given = part.get("image_url")
    url = str(given.get("url", "") if isinstance(given, dict) else given)
    head, separator, data = url.partition(";base64,")
    if not separator or not head.startswith("data:image/"):
        raise InvalidError(
            "An image is not in the message itself.", hint="Send it as `data:image/png;base64,…`."
        )
    try:
        return Attachment("image", head.removeprefix("data:"), base64.b64decode(data, validate=True))
    except binascii.Error:
        raise InvalidError("An image is not valid base64.", hint="Encode its bytes.") from None


def _stored(message: ChatMessage, channel_id: str) -> Message:
    role: Literal["user", "assistant"] = "user" if message.role == "user" else "assistant"
    return Message(new_id("msg"), channel_id, role, _text(message), SystemClock().now(), author_id="api")
