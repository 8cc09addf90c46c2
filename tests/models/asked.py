"""Short words for what the tests of models do all the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manyhands.models.clients import Clients
from manyhands.models.provider import ProviderModel
from manyhands.models.types import (
    Model,
    ModelInfo,
    ModelRequest,
    Piece,
    Provider,
    Reply,
    TextDelta,
    ToolSpec,
    Turn,
)
from manyhands.secrets import Redactor

KEY = "sk-test-0123456789abcdef"
WEATHER = ToolSpec(
    "get_weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
NAMES: Mapping[Provider, str] = {
    "openai": "gpt-6.1-sol",
    "anthropic": "claude-sonnet-5-5",
    "google": "gemini-3.8-flash",
    "ollama": "llama3.2",
    "openai-compatible": "some-model",
}
SUFFIXES: Mapping[Provider, str] = {"openai": "/v1", "google": "/v1beta", "openai-compatible": "/v1"}


def info_at(url: str, provider: Provider = "openai-compatible", **fields: Any) -> ModelInfo:
    return ModelInfo(
        id=fields.pop("id", provider),
        name=fields.pop("name", f"the {provider} model"),
        provider=provider,
        model=NAMES[provider],
        base_url=url + SUFFIXES.get(provider, ""),
        **fields,
    )


def model_at(
    url: str, clients: Clients, provider: Provider = "openai-compatible", **fields: Any
) -> ProviderModel:
    async def key() -> str:
        return KEY

    known = Redactor()
    known.guard(KEY)
    return ProviderModel(info_at(url, provider, **fields), clients, key, known)


def says(text: str, tools: Sequence[ToolSpec] = (), **fields: Any) -> ModelRequest:
    """A request with one message of a person."""
    return ModelRequest("Be brief.", [Turn("user", text)], tools, **fields)


async def ask(model: Model, request: ModelRequest) -> list[Piece]:
    async with model.stream(request) as pieces:
        return [piece async for piece in pieces]


async def reply_of(model: Model, request: ModelRequest) -> Reply:
    *_, last = await ask(model, request)
    assert isinstance(last, Reply)
    return last


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
