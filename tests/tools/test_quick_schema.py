"""The quick check says yes only where JSON Schema says yes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from manyhands.tools.quick_schema import quick_check

names = st.sampled_from(["a", "b", "c"])
types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
scalars = st.fixed_dictionaries(
    {},
    optional={
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "minimum": st.integers(-3, 3),
        "maximum": st.integers(-3, 3),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "enum": st.lists(st.sampled_from(["x", "y", 1, True, None]), min_size=1),
        "description": st.just("words"),
    },
)
schemas = st.recursive(
    scalars,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "properties": st.dictionaries(names, inner, max_size=3),
            "required": st.lists(names, max_size=2, unique=True),
            "additionalProperties": st.booleans(),
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
        },
    ),
    max_leaves=6,
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.floats(-4, 4)
    | st.sampled_from(["", "x", "y", "long"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(schemas, values)
def test_a_quick_yes_is_a_real_yes(schema: dict[str, Any], value: Any) -> None:
    check = quick_check(schema)
    if check is not None and check(value):
        assert Draft202012Validator(schema).is_valid(value)


def test_everyday_arguments_are_checked_quickly() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Arguments",
        "properties": {
            "path": {"type": "string", "description": "where"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    check = quick_check(schema)
    assert check is not None
    assert check({"path": "a", "tags": ["x"], "limit": None, "mode": "fast"})
    assert not check({"path": 5})
    assert not check({})
    assert not check({"path": "a", "more": 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/x"},
        {"pattern": "a+"},
        {"properties": {"a": {"oneOf": []}}},
        {"type": "nonsense"},
        {"additionalProperties": {"type": "string"}},
        {"required": "path"},
        {"enum": [1]},
        "not a schema",
    ],
)
def test_what_is_not_everyday_is_left_to_others(schema: Any) -> None:
    assert quick_check(schema) is None
