"""A server's request for an answer of a model."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from manyhands.errors import UnavailableError
from manyhands.models.sampling import sample
from manyhands.models.types import Attachment, ModelError, Reply, Turn
from manyhands.testing.scripted import ScriptedModel, Step

pytestmark = pytest.mark.anyio


async def sampled(step: Step, **wanted: Any) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel([step])

    async def resolve() -> ScriptedModel:
        return model

    return await sample(resolve, wanted), model


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def test_what_the_server_sent_is_what_the_model_is_asked() -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"png").decode()}
    answer, model = await sampled(
        "Fine.",
        systemPrompt="Be kind.",
        maxTokens=9,
        messages=[
            {"role": "user", "content": text("hello")},
            {"role": "assistant", "content": text("hi")},
            {"role": "user", "content": [text("what is"), text("this?"), picture]},
        ],
    )
    assert answer == {
        "role": "assistant",
        "content": {"type": "text", "text": "Fine."},
        "model": "scripted",
        "stopReason": "endTurn",
    }
    [request] = model.requests
    assert (request.system, request.max_output) == ("Be kind.", 9)
    assert request.turns == [
        Turn("user", "hello"),
        Turn("assistant", "hi"),
        Turn("user", "what is\nthis?", attachments=(Attachment("image", "image/png", b"png"),)),
    ]


async def test_an_answer_that_was_cut_says_so() -> None:
    answer, _ = await sampled(Reply("Fi", finish_reason="length"), messages=[])
    assert answer["stopReason"] == "maxTokens"


async def test_a_model_that_fails_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="is down"):
        await sampled(ModelError("The provider is down."), messages=[])


async def test_a_model_that_stops_in_the_middle_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="in the middle"):
        await sampled([], messages=[])
