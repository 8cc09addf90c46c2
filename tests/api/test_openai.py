"""The hub as a model that has tools, spoken to with OpenAI's own client."""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from manyhands import events as events_module
from manyhands.api.openai import _words
from manyhands.chat.types import RunOptions, RunStatus
from manyhands.home import Home
from manyhands.hub import Hub
from manyhands.models.types import ModelError, Reply, TextDelta, Usage
from manyhands.testing.scripted import Gate, ScriptedModel, calls
from tests.api.conftest import Served

pytestmark = pytest.mark.anyio

ASK: list[ChatCompletionMessageParam] = [{"role": "user", "content": "which tools are there?"}]
LOOK = calls(("list_directory", {"path": "."}), text="Let me see.")


class Script(list[Any]):
    """What the model says next; tests put it in."""


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def model(script: Script) -> ScriptedModel:
    return ScriptedModel([lambda request: script.pop(0)], repeat=True)


@pytest.fixture
async def hub(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[Hub]:
    async with Hub(Home(tmp_path / "home"), model=model) as hub:
        yield hub


@pytest.fixture
async def theirs(served: Served) -> AsyncIterator[openai.AsyncOpenAI]:
    url = f"{served.url}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key=served.token, max_retries=0) as client:
        yield client


async def test_an_answer_comes_whole_with_its_usage(theirs: openai.AsyncOpenAI, script: Script) -> None:
    script += [LOOK, Reply("Many.", usage=Usage(30, 5))]
    answer = await theirs.chat.completions.create(model="manyhands", messages=ASK)
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "Many.")
    assert choice.finish_reason == "stop"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (
        30,
        5,
        35,
    )


async def test_an_answer_is_streamed_with_its_usage_at_the_end(
    theirs: openai.AsyncOpenAI, script: Script
) -> None:
    script += [LOOK, [TextDelta("Ma"), TextDelta("ny."), Reply("Many.", usage=Usage(30, 5))]]
    stream = await theirs.chat.completions.create(
        model="manyhands", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    words = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert [word for word in words if word] == ["Let me see.", "\n\nMa", "ny."]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 35


async def test_the_whole_conversation_reaches_the_model(
    theirs: openai.AsyncOpenAI, script: Script, model: ScriptedModel
) -> None:
    script.append("blue")
    picture = base64.b64encode(b"picture").decode()
    said: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "Speak like a pirate."},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "ahoy"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what colour?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
            ],
        },
    ]
    await theirs.chat.completions.create(model="default", messages=said)
    [request] = model.requests
    assert "Speak like a pirate." in request.system
    assert [turn.text for turn in request.turns] == ["hello", "ahoy", "what colour?"]
    [image] = request.turns[-1].attachments
    assert (image.mime, image.data) == ("image/png", b"picture")


async def test_each_request_is_a_run_that_nobody_can_be_asked_about(
    theirs: openai.AsyncOpenAI, script: Script, hub: Hub, model: ScriptedModel
) -> None:
    channel, _ = await hub.channels.find_or_create(name="mine")
    script += [calls(("write_file", {"path": "x", "content": "y"})), "I may not."]
    await theirs.chat.completions.create(
        model="manyhands", messages=ASK, extra_headers={"X-Manyhands-Channel": channel.id}
    )
    [run] = (await hub.runs.list()).items
    assert (await hub.channels.get(run.channel_id)).parent_id == channel.id
    assert model.requests[1].turns[-1].is_error


async def test_a_run_that_fails_is_an_error_of_the_gateway(
    theirs: openai.AsyncOpenAI, script: Script
) -> None:
    script += [ModelError("The key is wrong. Check OPENAI_API_KEY.")] * 2
    with pytest.raises(openai.InternalServerError) as failed:
        await theirs.chat.completions.create(model="manyhands", messages=ASK)
    assert failed.value.status_code == 502
    assert failed.value.type == "server_error"
    assert "Check OPENAI_API_KEY" in failed.value.message
    with pytest.raises(openai.APIError, match="Check OPENAI_API_KEY"):
        async for _ in await theirs.chat.completions.create(model="manyhands", messages=ASK, stream=True):
            pass


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "messages"),
        ([{"role": "robot", "content": "x"}], "role"),
        ([{"role": "system", "content": "x"}], "no message of the user"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "last message"),
        ([{"role": "user", "content": "  "}], "empty"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}], "image"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused_in_openais_form(
    theirs: openai.AsyncOpenAI, messages: Any, why: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=why) as refused:
        await theirs.chat.completions.create(model="manyhands", messages=messages)
    assert refused.value.type == "invalid_request_error"


async def test_a_wrong_token_and_an_unknown_model_are_refused_in_openais_form(
    theirs: openai.AsyncOpenAI,
) -> None:
    with pytest.raises(openai.AuthenticationError, match="token") as refused:
        await theirs.with_options(api_key="wrong").chat.completions.create(model="manyhands", messages=ASK)
    assert refused.value.code == "unauthorized"
    with pytest.raises(openai.NotFoundError, match="gpt-17"):
        await theirs.chat.completions.create(model="gpt-17", messages=ASK)


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_hangs_up_stops_the_run(
    theirs: openai.AsyncOpenAI, script: Script, hub: Hub, stream: bool
) -> None:
    script.append([TextDelta("…"), Gate(anyio.Event())])

    async def ask() -> None:
        answer = await theirs.chat.completions.create(model="manyhands", messages=ASK, stream=stream)
        if isinstance(answer, openai.AsyncStream):
            async for _ in answer:
                pass

    async with anyio.create_task_group() as group, hub.bus.subscribe() as events:
        group.start_soon(ask)
        async for event in events:
            if event.type == "run.delta":
                group.cancel_scope.cancel()
                break
    [run] = (await hub.runs.list()).items
    with anyio.fail_after(30):
        async with hub.bus.subscribe(run.first_seq) as events:
            async for event in events:
                if event.type == "run.finished":
                    break
    assert (await hub.runs.get(run.id)).status is RunStatus.CANCELLED


async def test_the_models_of_the_hub_are_listed(theirs: openai.AsyncOpenAI) -> None:
    assert "demo" in [model.id async for model in theirs.models.list()]


async def test_a_client_that_reads_slowly_misses_no_word(
    hub: Hub, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "QUEUE_SIZE", 4)
    monkeypatch.setattr(hub.bus, "_ring", deque(maxlen=4))
    words = [f"word{number} " for number in range(300)]
    first = replace(LOOK, text="".join(words))
    script += [[*map(TextDelta, words), first], [*map(TextDelta, words), Reply("".join(words))]]
    channel, _ = await hub.channels.find_or_create(name="slow")
    run = await hub.runs.start(channel.id, "go", RunOptions(attended=False))
    heard = []
    with anyio.fail_after(60):
        async with aclosing(_words(hub, run)) as spoken:
            heard.append(await anext(spoken))
            while not (await hub.runs.get(run.id)).status.ended:  # noqa: ASYNC110 (nothing else is read)
                await anyio.sleep(0.01)
            heard += [text async for text in spoken]
    assert "".join(heard) == f"{''.join(words)}\n\n{''.join(words)}"
