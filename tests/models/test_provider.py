"""A model behind a provider's API, against a model server that nobody here wrote: all wire formats."""

from __future__ import annotations

import json

import pytest

from manyhands.models.clients import Clients
from manyhands.models.types import (
    Attachment,
    ContextTooLongError,
    ModelError,
    ModelRequest,
    Provider,
    TextDelta,
    ToolsMended,
    ToolSpec,
    Turn,
    Usage,
)
from manyhands.secrets import HIDDEN
from tests.models.aimock import Aimock
from tests.models.asked import KEY, WEATHER, ask, model_at, reply_of, says, text_of

pytestmark = pytest.mark.anyio

PROVIDERS: tuple[Provider, ...] = ("openai", "openai-compatible", "anthropic", "google", "ollama")
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


@every_provider
async def test_text_is_streamed_and_the_reply_is_all_of_it(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    aimock.answer({"content": "Hello, how are you today?", "usage": usage})
    *deltas, reply = await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert len([piece for piece in deltas if isinstance(piece, TextDelta)]) > 2
    assert text_of(deltas) == "Hello, how are you today?"
    assert (reply.text, reply.calls, reply.finish_reason) == ("Hello, how are you today?", (), "stop")  # type: ignore[union-attr]
    assert reply.usage == Usage(11, 7)  # type: ignore[union-attr]


@pytest.mark.requirement("L28")
async def test_a_key_that_comes_back_is_not_told(aimock: Aimock, clients: Clients) -> None:
    aimock.answer({"content": f"Your key is {KEY}, is it not?"})
    *deltas, reply = await ask(model_at(aimock.url, clients), says("hello"))
    assert text_of(deltas) == reply.text == f"Your key is {HIDDEN}, is it not?"  # type: ignore[union-attr]


@pytest.mark.requirement("L28")
async def test_a_key_that_comes_back_in_a_call_is_not_told(aimock: Aimock, clients: Clients) -> None:
    asked = {"name": "get_weather", "arguments": {"city": KEY}, "id": "one"}
    aimock.answer({"toolCalls": [asked], "finishReason": "stop"})
    reply = await reply_of(model_at(aimock.url, clients), says("hello", [WEATHER]))
    assert [json.loads(call.arguments) for call in reply.calls] == [{"city": HIDDEN}]


@every_provider
async def test_the_system_prompt_the_conversation_and_the_tools_arrive(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"content": "Fine."}, match={"toolName": "get_weather", "systemMessage": "Be brief."})
    turns = [Turn("user", "My name is Ada."), Turn("assistant", "Hello Ada."), Turn("user", "And yours?")]
    model = model_at(aimock.url, clients, provider)
    assert (await reply_of(model, ModelRequest("Be brief.", turns, [WEATHER]))).text == "Fine."
    sent = aimock.requests()[-1]["body"]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]


@every_provider
async def test_calls_go_out_and_their_results_come_back(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    asked = [
        {"name": "get_weather", "arguments": {"city": city}, "id": f"id{city}"} for city in ("Rome", "Oslo")
    ]
    aimock.answer({"toolCalls": asked, "finishReason": "stop"}, match={"hasToolResult": False})
    aimock.answer({"content": "Sunny in both."}, match={"toolResultContains": "rain"})
    model = model_at(aimock.url, clients, provider)
    first = await reply_of(model, says("weather?", [WEATHER]))
    assert first.finish_reason == "tool_calls"
    assert [call.name for call in first.calls] == ["get_weather", "get_weather"]
    assert [call.arguments.replace(" ", "") for call in first.calls] == ['{"city":"Rome"}', '{"city":"Oslo"}']
    results = [
        Turn("tool", text, call_id=call.id, tool=call.name, is_error=failed)
        for call, text, failed in zip(first.calls, ("sun", "rain"), (False, True), strict=True)
    ]
    answered = Turn("assistant", first.text, first.calls, thinking=first.thinking)
    request = ModelRequest("", [Turn("user", "weather?"), answered, *results], [WEATHER])
    assert (await reply_of(model, request)).text == "Sunny in both."


@every_provider
async def test_two_calls_with_the_same_id_get_ids_of_their_own(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Rome"}, "id": "same"}
    aimock.answer({"toolCalls": [call, call], "finishReason": "stop"})
    reply = await reply_of(model_at(aimock.url, clients, provider), says("weather?", [WEATHER]))
    assert len({call.id for call in reply.calls}) == 2


async def test_an_id_that_the_conversation_knows_already_is_not_used_again(
    aimock: Aimock, clients: Clients
) -> None:
    aimock.answer({"toolCalls": [{"name": "get_weather", "arguments": {"city": "Rome"}, "id": "one"}]})
    model = model_at(aimock.url, clients)
    first = await reply_of(model, says("weather?", [WEATHER]))
    turns = [Turn("user", "weather?"), Turn("assistant", calls=first.calls)]
    turns.append(Turn("tool", "sun", call_id=first.calls[0].id, tool="get_weather"))
    again = await reply_of(model, ModelRequest("", turns, [WEATHER]))
    assert again.calls[0].id != first.calls[0].id


@every_provider
async def test_thinking_is_streamed_apart_and_goes_back_with_the_next_request(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    if provider == "ollama":
        provider = "openai-compatible"
    aimock.answer({"content": "42.", "reasoning": "Six times seven."}, match={"turnIndex": 0})
    aimock.answer({"content": "Still 42."}, match={"turnIndex": 1})
    model = model_at(aimock.url, clients, provider)
    first = await reply_of(model, says("6*7?"))
    assert first.text == "42."
    turns = [
        Turn("user", "6*7?"),
        Turn("assistant", first.text, thinking=first.thinking),
        Turn("user", "sure?"),
    ]
    assert (await reply_of(model, ModelRequest("", turns))).text == "Still 42."


async def test_a_model_without_tool_calls_gets_no_tools(aimock: Aimock, clients: Clients) -> None:
    aimock.answer({"content": "Fine."})
    await reply_of(model_at(aimock.url, clients, tool_call=False), says("hello", [WEATHER]))
    assert "tools" not in aimock.requests()[-1]["body"]


async def test_a_tool_that_the_provider_would_refuse_is_left_out_with_a_report(
    aimock: Aimock, clients: Clients
) -> None:
    aimock.answer({"content": "Fine."})
    odd = ToolSpec("no spaces please", "", {"type": "object"})
    first, *_ = await ask(model_at(aimock.url, clients), says("hello", [odd, WEATHER]))
    assert isinstance(first, ToolsMended)
    assert [(repair.tool, repair.dropped) for repair in first.repairs] == [("no spaces please", True)]
    assert [tool["function"]["name"] for tool in aimock.requests()[-1]["body"]["tools"]] == ["get_weather"]


@every_provider
async def test_a_picture_is_sent_to_a_model_that_sees(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"content": "A cat."})
    picture = Attachment("cat.png", "image/png", b"\x89PNG\r\n\x1a\n cat")
    model = model_at(aimock.url, clients, provider, modalities=("text", "image"))
    turn = Turn("user", "What is this?", attachments=[picture])
    assert (await reply_of(model, ModelRequest("", [turn]))).text == "A cat."


async def test_the_longest_answer_that_is_wanted_is_sent_along(aimock: Aimock, clients: Clients) -> None:
    aimock.answer({"content": "Fine."})
    await reply_of(model_at(aimock.url, clients, "anthropic"), says("hello", max_output=77))
    assert aimock.requests()[-1]["body"]["max_tokens"] == 77


# --- what goes wrong


@every_provider
@pytest.mark.parametrize(
    ("status", "retry"), [(408, True), (409, True), (429, True), (500, True), (503, True)]
)
async def test_a_failure_that_may_pass_says_so(
    aimock: Aimock, clients: Clients, provider: Provider, status: int, retry: bool
) -> None:
    aimock.answer({"error": {"message": "not now"}, "status": status})
    with pytest.raises(ModelError, match="not now") as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert (caught.value.provider_status, caught.value.retry) == (status, retry)
    assert len(aimock.requests()) == 1  # nobody below us tries again


@every_provider
async def test_a_wrong_key_says_what_to_do(aimock: Aimock, clients: Clients, provider: Provider) -> None:
    aimock.answer({"error": {"message": f"Incorrect API key: {KEY}"}, "status": 401})
    with pytest.raises(ModelError, match=r"refused the key.*manyhands models add") as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert not caught.value.retry
    assert KEY not in caught.value.message


@every_provider
async def test_a_model_that_is_not_there_says_what_to_do(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"error": {"message": "no such model"}, "status": 404})
    with pytest.raises(ModelError, match=r"is not there: no such model.*manyhands models list") as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert not caught.value.retry


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("openai", "This model's maximum context length is 8192 tokens."),
        ("openai-compatible", "the request exceeds the available context size, try increasing it"),
        ("anthropic", "prompt is too long: 208310 tokens > 200000 maximum"),
        ("google", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        ("ollama", "prompt too long; exceeded max context length by 12 tokens"),
    ],
)
async def test_a_request_that_is_too_long_can_be_told_apart(
    aimock: Aimock, clients: Clients, provider: Provider, message: str
) -> None:
    error = {"message": message, "type": "invalid_request_error"}
    aimock.answer({"error": error, "status": 400})
    with pytest.raises(ContextTooLongError, match="choose a model with a larger context"):
        await ask(model_at(aimock.url, clients, provider), says("hello"))


@every_provider
async def test_an_account_without_credit_is_not_asked_again(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"error": {"message": "pay first"}, "status": 402})
    with pytest.raises(ModelError, match="pay first") as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert not caught.value.retry


@every_provider
async def test_malformed_json_is_an_error_that_may_pass(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"content": "Fine."})
    aimock.chaos(malformedRate=1)
    with pytest.raises(ModelError) as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert caught.value.retry


@every_provider
async def test_a_connection_that_is_dropped_is_an_error_that_may_pass(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"content": "Fine."})
    aimock.chaos(disconnectRate=1)
    with pytest.raises(ModelError, match="could not be reached") as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert caught.value.retry


@every_provider
async def test_a_limit_on_the_rate_carries_the_pause_that_was_asked_for(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer({"content": "Fine."})
    aimock.chaos(rateLimitRate=1)
    with pytest.raises(ModelError) as caught:
        await ask(model_at(aimock.url, clients, provider), says("hello"))
    assert caught.value.retry
    assert caught.value.provider_status == 429
    assert caught.value.after is not None


@every_provider
async def test_a_stream_that_is_cut_in_the_middle_is_never_taken_for_an_answer(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    aimock.answer(
        {"content": "This answer is long enough to be cut into many chunks."}, truncateAfterChunks=4
    )
    model = model_at(aimock.url, clients, provider)
    with pytest.raises(ModelError) as caught:
        await ask(model, says("hello"))
    assert caught.value.retry


@every_provider
async def test_a_stream_that_is_cut_in_the_middle_of_a_call_gives_no_call(
    aimock: Aimock, clients: Clients, provider: Provider
) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Llanfairpwllgwyngyllgogerychwyrndrobwll"}}
    aimock.answer(
        {"content": "Let me see what the weather is like.", "toolCalls": [call]}, truncateAfterChunks=5
    )
    with pytest.raises(ModelError) as caught:
        await ask(model_at(aimock.url, clients, provider), says("weather?", [WEATHER]))
    assert caught.value.retry


@every_provider
async def test_a_server_that_is_not_there_is_an_error_that_may_pass(
    clients: Clients, provider: Provider, unused_port: int
) -> None:
    with pytest.raises(ModelError, match="could not be reached") as caught:
        await ask(model_at(f"http://127.0.0.1:{unused_port}", clients, provider), says("hello"))
    assert caught.value.retry
