"""Arguments found in a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.models.demo_arguments import fill_arguments


def filled(text: str, *, optional: bool = False, **properties: Any) -> dict[str, Any] | None:
    named = {
        name: value if isinstance(value, dict) else {"type": value} for name, value in properties.items()
    }
    required = [] if optional else list(named)
    return fill_arguments(text, {"type": "object", "properties": named, "required": required})


@pytest.mark.parametrize(
    ("text", "properties", "arguments"),
    [
        ("add 2 and 3.5", {"a": "number", "b": "number"}, {"a": 2.0, "b": 3.5}),
        ("wait -4 steps", {"steps": "integer"}, {"steps": -4}),
        ("echo 'it works'", {"message": "string"}, {"message": "it works"}),
        ("echo it's fine", {"message": "string"}, {"message": "echo it's fine"}),
        ("draw it in Blue", {"colour": {"type": "string", "enum": ["red", "blue"]}}, {"colour": "blue"}),
        ("draw it", {"colour": {"type": "string", "enum": ["red", "blue"]}}, {"colour": "red"}),
        ('tag it “a” and "b"', {"tags": "array"}, {"tags": ["a", "b"]}),
        ("make a note called plans", {"title": "string"}, {"title": "plans"}),
        ("is it there", {"force": "boolean"}, {"force": False}),
        ("list this directory", {"path": "string"}, {"path": "."}),
        ("open /etc/hosts", {"path": "string"}, {"path": "/etc/hosts"}),
        ("open ../up/one.md please", {"file_path": "string"}, {"file_path": "../up/one.md"}),
        (
            "10:15 in Europe/Paris",
            {"time": "string", "timezone": "string"},
            {"time": "10:15", "timezone": "Europe/Paris"},
        ),
        ("it is 7:05", {"time": "string"}, {"time": "07:05"}),
    ],
)
def test_what_is_needed_is_found(text: str, properties: dict[str, Any], arguments: dict[str, Any]) -> None:
    assert filled(text, **properties) == arguments


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("read it", {"path": "string"}),
        ("add 2", {"a": "number", "b": "number"}),
        ("fetch the page", {"url": "string"}),
        ("change a.txt", {"path": "string", "old": "string", "new": "string"}),
        ("what time is it", {"time": "string"}),
        ("do it", {"options": "object"}),
        ("tag it", {"tags": "array"}),
    ],
)
def test_what_is_not_there_is_not_made_up(text: str, properties: dict[str, Any]) -> None:
    assert filled(text, **properties) is None


def test_what_is_optional_is_filled_only_where_the_text_names_it() -> None:
    limit: dict[str, Any] = {
        "limit": "integer",
        "encoding": "string",
        "deep": "boolean",
        "depth": {"type": "integer", "default": 1},
    }
    assert filled("python 3 files", optional=True, **limit) == {}
    assert filled("files, limit 3", optional=True, **limit) == {"limit": 3}


def test_a_single_place_after_to_is_the_target() -> None:
    assert filled("convert to Tokyo from Oslo", source_timezone="string", target_timezone="string") == {
        "source_timezone": "Europe/Oslo",
        "target_timezone": "Asia/Tokyo",
    }


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": {"a": True}}, {"required": None}]
)
def test_an_odd_schema_is_no_trouble(schema: dict[str, Any]) -> None:
    assert fill_arguments("hello", schema) is not None


@given(
    st.text(max_size=60), st.sampled_from(["path", "timezone", "url", "query", "time", "name", "count", "x"])
)
def test_any_text_gives_arguments_or_nothing(text: str, name: str) -> None:
    wanted: dict[str, Any] = {name: "integer" if name == "count" else "string"}
    arguments = filled(text, **wanted)
    assert arguments is None or set(arguments) == {name}
