"""What is known of well-known models, without the network."""

from __future__ import annotations

import pytest

from manyhands.models.discovery import OPENROUTER
from manyhands.models.known import SUGGESTED, look_up, modalities
from manyhands.models.types import Price, Provider, Usage


@pytest.mark.parametrize(
    ("service", "model"), [(s, model) for s, models in SUGGESTED.items() for model in models]
)
def test_models_that_are_offered_by_themselves_are_known(service: str, model: str) -> None:
    provider: Provider = "openai-compatible" if service == "openrouter" else service  # type: ignore[assignment]
    known = look_up(provider, model, OPENROUTER if service == "openrouter" else None)
    assert known.context is not None
    assert known.context >= 100_000
    assert known.price is not None
    assert 0 < known.price.input < known.price.output
    assert "image" in known.modalities


def test_dated_names_are_the_same_model() -> None:
    assert look_up("anthropic", "claude-haiku-4-5-20251001").context == 200_000


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        ("openai", "my-own", None),
        ("ollama", "gpt-5", None),
        ("demo", "demo", None),
        ("openai-compatible", "gpt-5", "http://127.0.0.1:8000/v1"),
        ("openai-compatible", "gpt-5", None),
    ],
)
def test_of_what_is_not_known_nothing_is_claimed(
    provider: Provider, model: str, base_url: str | None
) -> None:
    known = look_up(provider, model, base_url)
    assert (known.context, known.price) == (None, None)


@pytest.mark.parametrize(
    ("model", "reads"),
    [
        ("claude-opus-5-5", ("text", "image", "pdf")),
        ("gemini-3.8-flash", ("text", "image", "pdf", "audio")),
        ("openai/gpt-6.1-sol", ("text", "image", "pdf")),
        ("qwen2.5-vl", ("text", "image")),
        ("gpt-3.5-turbo", ("text",)),
        ("mistral-7b", ("text",)),
    ],
)
def test_what_a_model_reads_is_told_by_its_name(model: str, reads: tuple[str, ...]) -> None:
    assert modalities("openai-compatible", model) == reads


def test_cached_tokens_have_a_price_of_their_own() -> None:
    usage = Usage(input=1_000_000, output=100_000, cached=600_000)
    assert Price(2.0, 10.0, 0.2).cost(usage) == pytest.approx(0.4 * 2 + 0.6 * 0.2 + 1.0)
    assert Price(2.0, 10.0).cost(usage) == pytest.approx(2.0 + 1.0)
