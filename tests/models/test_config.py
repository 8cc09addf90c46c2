"""A model as it is written down."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.errors import InvalidError
from manyhands.models.config import parse_model, parse_patch
from manyhands.models.types import Price

GOOD = {"provider": "openai", "model": "gpt-6.1-sol"}


def test_provider_and_model_are_enough() -> None:
    assert parse_model(GOOD) == GOOD


def test_everything_can_be_said() -> None:
    everything = {
        "name": " mine ",
        "base_url": "https://example.com/v1/",
        "api_key": "sk-1",
        "tool_call": 0,
        "context": 8192,
        "modalities": ["text", "image"],
        "price": {"input": 1, "output": 2, "cached_input": 0.1},
        "default": True,
        "fallbacks": ["demo"],
    }
    given = parse_model(GOOD | everything)
    assert (given["name"], given["base_url"], given["tool_call"]) == ("mine", "https://example.com/v1", False)
    assert given["price"] == Price(1, 2, 0.1)


def test_what_is_only_shown_is_passed_over() -> None:
    assert parse_patch({"id": "x", "source": "saved", "has_key": True, "context": 1000}) == {"context": 1000}


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"provider": "nobody"}, "provider"),
        ({"model": ""}, "model"),
        ({"model": None}, "model"),
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"base_url": "ftp://x/y"}, "base_url"),
        ({"base_url": "https://user:secret@example.com"}, "base_url"),
        ({"context": 10}, "context"),
        ({"context": "many"}, "context"),
        ({"tool_call": 2}, "tool_call"),
        ({"price": {"input": -1, "output": 1}}, "price.input"),
        ({"price": {"input": float("inf"), "output": 1}}, "price.input"),
        ({"modalities": ["smell"]}, "modalities"),
        ({"colour": "red"}, "colour"),
        ({"provider": "openai-compatible"}, "base_url"),
    ],
)
def test_a_mistake_is_named_with_its_place(values: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidError, match=f"^{place}"):
        parse_model(GOOD | values)


def test_a_mistake_does_not_show_the_key() -> None:
    with pytest.raises(InvalidError) as caught:
        parse_model(GOOD | {"api_key": ["sk-secret"]})
    assert "sk-secret" not in str(caught.value)
