"""Arguments that do not fit come back in words that a model can act on."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from manyhands.errors import ToolFault
from manyhands.tools.arguments import ArgumentChecker, read_arguments
from manyhands.tools.types import ToolDefinition

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": ["integer", "null"], "minimum": 1},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def define(schema: dict[str, Any], definition_hash: str = "") -> ToolDefinition:
    return ToolDefinition("mcp__s__t", "t", "", schema, "s", 1, definition_hash=definition_hash)


def problem(schema: dict[str, Any], arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolFault) as caught:
        ArgumentChecker().check(define(schema), arguments)
    return str(caught.value)


def test_every_problem_is_named_with_its_place_and_what_the_tool_takes() -> None:
    text = problem(SCHEMA, {"count": 0, "name": "A", "extra": True})
    assert "The arguments do not fit the tool mcp__s__t:" in text
    assert "'path' is a required property" in text
    assert "count: 0 is less than the minimum of 1" in text
    assert "name: 'A' does not match" in text
    assert "'extra' was unexpected" in text
    assert "path (string, required), count (integer or null), name (string)" in text
    assert "call it again" in text


def test_a_huge_value_does_not_make_a_huge_message() -> None:
    text = problem({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 1_000_000})
    assert len(text) < 1000


def test_what_fits_passes_quickly_or_thoroughly() -> None:
    checker = ArgumentChecker()
    checker.check(define(SCHEMA), {"path": "a", "count": 2, "name": "abc"})
    checker.check(define({"type": "object", "properties": {"a": {"type": "integer"}}}), {"a": 1.0})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"$ref": "#"},
        {"$schema": "https://example.org/of-our-own", "type": "object"},
        {"$id": "http://[", "properties": {"a": {"$ref": "x"}}},
    ],
)
def test_a_broken_schema_leaves_the_judgement_to_its_server(schema: dict[str, Any]) -> None:
    ArgumentChecker().check(define(schema), {"a": 1})


def test_a_pattern_that_would_take_for_ever_is_left_to_the_server() -> None:
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}, "b": {"type": "integer"}}}
    ArgumentChecker().check(define(schema), {"a": "a" * 22 + "!"})
    assert "b: 'x' is not of type 'integer'" in problem(schema, {"a": "a" * 22 + "!", "b": "x"})


def test_a_schema_of_an_old_draft_is_read_by_its_own_rules() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {"n": {"type": "integer"}},
        "properties": {"n": {"$ref": "#/definitions/n"}},
    }
    assert "is not of type 'integer'" in problem(schema, {"n": "x"})


def test_a_changed_definition_is_checked_anew() -> None:
    checker = ArgumentChecker()
    checker.check(define({"required": []}, "hash 1"), {})
    with pytest.raises(ToolFault):
        checker.check(define({"required": ["a"]}, "hash 2"), {})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"a": ', "not valid JSON"),
        ("[1]", "a list"),
        ('"text"', "a text"),
        ("5", "a number"),
        ([], "a list"),
        (True, "true or false"),
        (1.5, "a number"),
    ],
)
def test_arguments_that_are_no_object_are_refused_and_never_become_an_empty_one(
    raw: object, said: str
) -> None:
    with pytest.raises(ToolFault, match=said):
        read_arguments(raw)


@pytest.mark.parametrize(
    ("raw", "read"), [(None, {}), ("", {}), ('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("{}", {})]
)
def test_arguments_are_read(raw: object, read: dict[str, Any]) -> None:
    assert read_arguments(raw) == read


def test_endless_nesting_breaks_nothing() -> None:
    deep: dict[str, Any] = {}
    for _ in range(sys.getrecursionlimit()):
        deep = {"a": deep}
    schema = {
        "$defs": {"n": {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}},
        "$ref": "#/$defs/n",
    }
    ArgumentChecker().check(define(schema), deep)
