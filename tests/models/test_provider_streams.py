"""Streams that no well-behaved server sends: broken arguments, no end, no connection; and leaving early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from manyhands.models.clients import Clients
from manyhands.models.types import ModelError, Provider, TextDelta, Usage
from tests.models.asked import KEY, WEATHER, ask, model_at, reply_of, says
from tests.models.raw_server import Answer, answering, events, json_answer, raw_server

pytestmark = pytest.mark.anyio

PATIENCE = 10


def chunk(delta: Any = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a chat completion."""
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **fields,
    }


def call(arguments: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    """A part of a tool call."""
    function = {"name": "get_weather", "arguments": arguments}
    return {
        "tool_calls": [
            {"index": index, "id": f"id{index}", "type": "function", "function": function, **fields}
        ]
    }


def anthropic_events(*middle: dict[str, Any], end: bool = True) -> Sequence[bytes]:
    usage = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 100}
    start = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    last: list[dict[str, Any]] = [
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    found = [{"type": "message_start", "message": start}, *middle, *(last if end else [])]
    return [f"event: {event['type']}\n".encode() + events(event)[0] for event in found]


RESPONSES: Sequence[dict[str, Any]] = (
    {"type": "response.created", "sequence_number": 0, "response": {"id": "r", "model": "m", "output": []}},
    {
        "type": "response.output_text.delta",
        "sequence_number": 1,
        "item_id": "i",
        "output_index": 0,
        "content_index": 0,
        "delta": "Once",
        "logprobs": [],
    },
)
OPENING: dict[Provider, Sequence[bytes]] = {
    "openai-compatible": events(chunk({"content": "Once"})),
    "ollama": events(chunk({"content": "Once"})),
    "anthropic": anthropic_events(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Once"}},
        end=False,
    ),
    "google": events({"candidates": [{"content": {"role": "model", "parts": [{"text": "Once"}]}}]}),
    "openai": [f"event: {event['type']}\n".encode() + events(event)[0] for event in RESPONSES],
}
every_provider = pytest.mark.parametrize("provider", list(OPENING))


# --- calls


@pytest.mark.parametrize(
    "written", ['{"city": "Ro', "[1, 2]", '"Rome"', "city=Rome", '{"city": NaN}', "null"]
)
async def test_arguments_that_are_not_an_object_come_out_as_they_were_written(
    clients: Clients, written: str
) -> None:
    parts = events(
        chunk(call(written[:3])), chunk(call(written[3:], name=None)), chunk(finish="tool_calls"), "[DONE]"
    )
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("weather?", [WEATHER]))
    assert [call.arguments for call in reply.calls] == [written]


async def test_arguments_that_anthropic_cut_short_come_out_as_they_were_written(clients: Clients) -> None:
    block = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"city": "Ro'}
    parts = anthropic_events(
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    )
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients, "anthropic"), says("weather?", [WEATHER]))
    assert [call.arguments for call in reply.calls] == ['{"city": "Ro']


async def test_no_arguments_at_all_are_an_empty_object(clients: Clients) -> None:
    parts = events(chunk(call("")), chunk(finish="tool_calls"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("weather?", [WEATHER]))
    assert [call.arguments for call in reply.calls] == ["{}"]


async def test_arguments_that_the_limit_of_the_answer_swallowed_are_not_taken_for_none(
    clients: Clients,
) -> None:
    parts = events(chunk(call("")), chunk(finish="length"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("weather?", [WEATHER]))
    assert ([call.arguments for call in reply.calls], reply.finish_reason) == ([""], "length")


async def test_calls_without_ids_get_some(clients: Clients) -> None:
    parts = events(chunk(call("{}", 0, id="")), chunk(call("{}", 1, id="")), chunk(finish="stop"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("weather?", [WEATHER]))
    assert len({call.id for call in reply.calls} - {""}) == 2
    assert reply.finish_reason == "tool_calls"


# --- ends


@every_provider
async def test_a_stream_that_ends_without_an_end_is_broken(clients: Clients, provider: Provider) -> None:
    async with raw_server(answering(Answer(parts=OPENING[provider]))) as server:
        with pytest.raises(ModelError) as caught:
            await ask(model_at(server.url, clients, provider), says("hello"))
    assert caught.value.retry


@every_provider
async def test_a_connection_that_dies_in_the_middle_is_an_error_that_may_pass(
    clients: Clients, provider: Provider
) -> None:
    async with (
        raw_server(answering(Answer(parts=OPENING[provider], cut=True))) as server,
        model_at(server.url, clients, provider).stream(says("hello")) as pieces,
    ):
        assert await anext(pieces) == TextDelta("Once")
        with pytest.raises(ModelError) as caught:
            await anext(pieces)
    assert caught.value.retry


async def test_a_chunk_that_is_no_json_is_an_error_that_may_pass(clients: Clients) -> None:
    parts = events(chunk({"content": "Once"}), '{"choices": [{"del', chunk(finish="stop"))
    async with raw_server(answering(Answer(parts=parts))) as server:
        with pytest.raises(ModelError) as caught:
            await ask(model_at(server.url, clients), says("hello"))
    assert caught.value.retry


async def test_an_error_inside_the_stream_is_an_error(clients: Clients) -> None:
    parts = events(chunk({"content": "Once"}), {"error": {"message": "out of memory", "code": 500}})
    async with raw_server(answering(Answer(parts=parts))) as server:
        with pytest.raises(ModelError, match="out of memory") as caught:
            await ask(model_at(server.url, clients), says("hello"))
    assert caught.value.retry


async def test_an_answer_without_a_word_is_a_reply_without_a_word(clients: Clients) -> None:
    parts = events(chunk({"role": "assistant", "content": ""}), chunk(finish="stop"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("hello"))
    assert (reply.text, reply.calls, reply.finish_reason) == ("", (), "stop")


@pytest.mark.parametrize("status", [418, 451, 599])
async def test_a_status_that_nobody_expects_is_still_one_clear_error(clients: Clients, status: int) -> None:
    async with raw_server(answering(json_answer({"oops": 1}, status))) as server:
        with pytest.raises(ModelError, match=str(status)) as caught:
            await ask(model_at(server.url, clients), says("hello"))
    assert caught.value.retry is (status >= 500)


async def test_the_pause_that_a_provider_asks_for_is_read(clients: Clients) -> None:
    busy = json_answer({"error": {"message": "slow down"}}, 429, **{"Retry-After": "7"})
    async with raw_server(answering(busy)) as server:
        with pytest.raises(ModelError, match="slow down") as caught:
            await ask(model_at(server.url, clients), says("hello"))
        assert len(server.requests) == 1
    assert caught.value.after == 7


async def test_tokens_from_the_cache_are_counted(clients: Clients) -> None:
    usage = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    usage["prompt_tokens_details"] = {"cached_tokens": 40}  # type: ignore[assignment]
    parts = events(chunk({"content": "Hi"}), chunk(finish="stop"), chunk(usage=usage, choices=[]), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        reply = await reply_of(model_at(server.url, clients), says("hello"))
    assert reply.usage == Usage(input=50, output=5, cached=40)


async def test_what_anthropic_read_from_its_cache_is_part_of_the_input(clients: Clients) -> None:
    async with raw_server(answering(Answer(parts=anthropic_events()))) as server:
        reply = await reply_of(model_at(server.url, clients, "anthropic"), says("hello"))
        caching = str(server.requests[0].body).count("cache_control")
    assert reply.usage == Usage(input=103, output=9, cached=100)
    assert caching > 0


# --- leaving


@every_provider
async def test_leaving_early_ends_the_request_at_the_provider(clients: Clients, provider: Provider) -> None:
    async with raw_server(answering(Answer(parts=OPENING[provider], hang=True))) as server:
        async with model_at(server.url, clients, provider).stream(says("hello")) as pieces:
            assert await anext(pieces) == TextDelta("Once")
        with anyio.fail_after(PATIENCE):
            await server.gone.wait()


@every_provider
async def test_being_cancelled_ends_the_request_at_the_provider(clients: Clients, provider: Provider) -> None:
    async with raw_server(answering(Answer(parts=OPENING[provider], hang=True))) as server:
        with anyio.CancelScope() as scope:
            async with model_at(server.url, clients, provider).stream(says("hello")) as pieces:
                async for _ in pieces:
                    scope.cancel()
        with anyio.fail_after(PATIENCE):
            await server.gone.wait()


# --- what is sent


@pytest.mark.parametrize(
    ("provider", "header"),
    [
        ("openai-compatible", "authorization"),
        ("openai", "authorization"),
        ("anthropic", "authorization"),
        ("google", "x-goog-api-key"),
    ],
)
async def test_the_key_goes_where_the_provider_wants_it(
    clients: Clients, provider: Provider, header: str
) -> None:
    async with raw_server(answering(Answer(parts=OPENING[provider]))) as server:
        with pytest.raises(ModelError):
            await ask(model_at(server.url, clients, provider), says("hello"))
        assert server.requests[0].headers[header].endswith(KEY)


async def test_openai_is_told_to_keep_nothing(clients: Clients) -> None:
    async with raw_server(answering(Answer(parts=OPENING["openai"]))) as server:
        with pytest.raises(ModelError):
            await ask(model_at(server.url, clients, "openai"), says("hello"))
        assert server.requests[0].body["store"] is False
        assert server.requests[0].path == "/v1/responses"


async def test_a_server_on_this_machine_is_not_asked_through_a_proxy(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, unused_port: int
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    parts = events(chunk({"content": "Hi"}), chunk(finish="stop"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        assert (await reply_of(model_at(server.url, clients), says("hello"))).text == "Hi"
