"""Turns of ours as messages of pydantic-ai, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as Asked

from manyhands.models.types import Attachment, ModelRequest, Turn
from manyhands.models.wire import to_messages, to_parameters, to_reply
from tests.models.asked import WEATHER


def parts_of(message: ModelMessage) -> Sequence[ModelRequestPart | ModelResponsePart]:
    return message.parts


def sent(*turns: Turn, modalities: Sequence[str] = ("text",)) -> list[ModelMessage]:
    return to_messages(ModelRequest("", turns), modalities)


def prompt(turn: Turn, *modalities: str) -> Any:
    """What a person's turn becomes."""
    [message] = sent(turn, modalities=modalities)
    [part] = message.parts
    assert isinstance(part, UserPromptPart)
    return part.content


def test_what_follows_on_one_side_becomes_one_message() -> None:
    messages = sent(
        Turn("user", "a"),
        Turn("user", "b"),
        Turn("assistant", "c"),
        Turn("tool", "d", call_id="1", tool="t"),
        Turn("user", "e"),
    )
    assert [type(message) for message in messages] == [Asked, ModelResponse, Asked]
    assert [[part.part_kind for part in message.parts] for message in messages] == [
        ["user-prompt", "user-prompt"],
        ["text"],
        ["tool-return", "user-prompt"],
    ]


def test_an_answer_without_a_word_is_not_sent() -> None:
    assert len(sent(Turn("user", "a"), Turn("assistant", ""))) == 1


def test_providers_refuse_empty_messages_so_none_is_empty() -> None:
    assert prompt(Turn("user", "")) == "(empty message)"
    [message] = sent(Turn("tool", "", call_id="1", tool="t"))
    [part] = message.parts
    assert isinstance(part, ToolReturnPart)
    assert part.content == "(no output)"


def test_a_failed_call_is_sent_as_failed() -> None:
    [message] = sent(Turn("tool", "boom", call_id="1", tool="t", is_error=True))
    [part] = message.parts
    assert isinstance(part, ToolReturnPart)
    assert part.outcome == "failed"


def test_tools_are_not_sent_as_strict() -> None:
    [tool] = to_parameters(ModelRequest("", [], [WEATHER])).function_tools
    assert (tool.name, tool.strict) == ("get_weather", False)


# --- attachments

PICTURE = Attachment("cat.png", "image/png", b"\x89PNG")


def test_a_picture_goes_to_a_model_that_sees() -> None:
    [text, picture] = prompt(Turn("user", "what?", attachments=[PICTURE]), "text", "image")
    assert text == "what?"
    assert isinstance(picture, BinaryContent)
    assert picture.media_type == "image/png"


@pytest.mark.parametrize(
    ("name", "mime", "data"),
    [
        ("cat.png", "image/png", b"\x89PNG"),
        ("paper.pdf", "application/pdf", b"%PDF"),
        ("a.zip", "application/zip", b"PK\x03\x04\xff"),
        ("core", "", b"\x7fELF\x00"),
    ],
)
def test_what_a_model_cannot_read_is_named_instead(name: str, mime: str, data: bytes) -> None:
    [note] = prompt(Turn("user", "", attachments=[Attachment(name, mime, data)]), "text")
    assert name in note
    assert "not shown" in note


@pytest.mark.parametrize(
    "mime", ["text/plain; charset=utf-8", "application/json", "application/x-whatever", ""]
)
def test_a_text_is_read_whatever_it_calls_itself(mime: str) -> None:
    [text] = prompt(Turn("user", "", attachments=[Attachment("a.txt", mime, "Grüße".encode())]), "text")
    assert text == '<attachment name="a.txt">\nGrüße\n</attachment>'


def test_a_picture_that_a_tool_gave_stays_with_its_result() -> None:
    [message] = sent(Turn("tool", "shot", call_id="1", tool="t", attachments=[PICTURE]), modalities=["image"])
    [part] = message.parts
    assert isinstance(part, ToolReturnPart)
    assert isinstance(part.content, list)
    assert isinstance(part.content[1], BinaryContent)


# --- answers


def there_and_back(*parts: ModelResponsePart, **fields: Any) -> ModelResponse:
    """An answer as it comes back after it was stored as JSON."""
    reply = to_reply(ModelResponse(parts=list(parts), **fields))
    stored = json.loads(json.dumps(reply.thinking))
    [message] = sent(Turn("assistant", reply.text, reply.calls, thinking=stored))
    assert isinstance(message, ModelResponse)
    return message


def test_a_plain_answer_needs_nothing_beside_it() -> None:
    reply = to_reply(
        ModelResponse(parts=[TextPart("a"), ToolCallPart("t", "{}", "1"), ToolCallPart("u", "{}", "2")])
    )
    assert reply.thinking == ()


@pytest.mark.parametrize(
    "parts",
    [
        [
            ThinkingPart("hm", signature="s", provider_name="anthropic"),
            TextPart("a"),
            ToolCallPart("t", "{}", "1"),
        ],
        [ToolCallPart("t", "{}", "1"), TextPart("after")],
        [TextPart("a"), TextPart("b", provider_name="google", provider_details={"thought_signature": "x"})],
        [ToolCallPart("t", "{}", "1", provider_name="google", provider_details={"thought_signature": "x"})],
        [
            ThinkingPart("", id="rs_1", signature="enc", provider_name="openai"),
            ToolCallPart("t", '{"a": 1}', "1", id="fc_1", provider_name="openai"),
            ThinkingPart("more", id="rs_2", provider_name="openai"),
            ToolCallPart("t", "not json", "2", id="fc_2", provider_name="openai"),
        ],
    ],
)
def test_an_answer_comes_back_part_by_part_as_its_provider_gave_it(parts: list[ModelResponsePart]) -> None:
    assert there_and_back(*parts).parts == parts


def test_whose_answer_it_was_is_remembered() -> None:
    fields = {"provider_name": "google", "canonical_system": "google", "model_name": "gemini"}
    signed = TextPart("a", provider_name="google", provider_details={"thought_signature": "x"})
    message = there_and_back(signed, **fields)
    assert {name: getattr(message, name) for name in fields} == fields


def test_what_anthropic_dropped_before_is_remembered() -> None:
    dropped = [{"type": "thinking_dropped", "reason": "prefix_binding_mismatch"}]
    thinking = ThinkingPart("hm", signature="s", provider_name="anthropic")
    message = there_and_back(
        thinking, TextPart("a"), provider_details={"input_transformations": dropped, "x": 1}
    )
    assert message.provider_details == {"input_transformations": dropped}


def test_an_answer_that_was_cut_since_goes_out_plain() -> None:
    reply = to_reply(ModelResponse(parts=[ThinkingPart("hm", signature="s"), TextPart("a long text")]))
    [message] = sent(Turn("assistant", "a long", thinking=reply.thinking))
    assert message.parts == [TextPart("a long")]


@pytest.mark.parametrize("odd", [[{"part": "?"}], [{}], [{"part": "thinking"}, {"nothing": 1}]])
def test_what_is_not_understood_is_passed_over(odd: list[dict[str, Any]]) -> None:
    [message] = sent(Turn("assistant", "a", thinking=odd))
    assert [part for part in parts_of(message) if isinstance(part, TextPart)] == [TextPart("a")]


def test_files_that_a_model_made_are_not_part_of_the_reply() -> None:
    picture = FilePart(BinaryContent(b"x", media_type="image/png"))
    assert to_reply(ModelResponse(parts=[TextPart("a"), picture])).text == "a"


@pytest.mark.parametrize(
    ("reason", "has_calls", "said"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("tool_call", True, "tool_calls"),
        (None, True, "tool_calls"),
        ("length", True, "length"),
        ("content_filter", False, "content_filter"),
    ],
)
def test_why_it_ended_has_one_name_for_all_providers(reason: Any, has_calls: bool, said: str) -> None:
    parts: list[ModelResponsePart] = [ToolCallPart("t", "{}", "1")] if has_calls else [TextPart("a")]
    assert to_reply(ModelResponse(parts=parts, finish_reason=reason)).finish_reason == said
