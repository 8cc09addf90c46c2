"""One schema is mended keyword by keyword, and every change is told with its place."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.json_pointer import look_up
from manyhands.servers.schema_repair import MAX_DEPTH, HopelessSchema, repair_schema


def repaired(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    notes: list[str] = []
    return repair_schema(schema, "in", notes), notes


def test_a_valid_schema_is_left_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/b~1c"}]},
            "$ref": {"type": "string"},
        },
        "additionalProperties": False,
        "$defs": {"b/c": {"type": ["integer", "null"], "minimum": 0, "default": {"$ref": "just data"}}},
    }
    assert repaired(schema) == (schema, [])


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        ({"properties": {"a": {"minLength": -1}}}, "in.properties.a.minLength is dropped"),
        ({"allOf": []}, "in.allOf is dropped"),
        ({"type": ["string", "text"]}, "in.type names ['string', 'text']; kept are ['string']"),
        ({"required": ["a", "a", 3]}, "in.required holds what is not a name"),
        ({"patternProperties": {"(": {}}}, "in.patternProperties.( is dropped"),
        ({"anyOf": [3]}, "in.anyOf[0] is no schema"),
        ({"$ref": "#/nowhere"}, "in.$ref is dropped"),
        ({"$ref": "#"}, "in.$ref is dropped"),
        ({"$anchor": "x"}, "in.$anchor is dropped"),
    ],
)
def test_a_change_is_told_with_its_place(schema: dict[str, Any], note: str) -> None:
    (told,) = repaired(schema)[1]
    assert told.startswith(note)


def test_a_schema_may_refer_to_itself_below_its_top() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    assert repaired(tree) == (tree, [])


def test_references_in_a_circle_are_cut() -> None:
    schema, notes = repaired({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})
    assert schema == {"$defs": {"a": {}, "b": {"$ref": "#/$defs/a"}}}
    assert len(notes) == 1


def test_what_is_nested_without_end_is_given_up() -> None:
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 2):
        deep = {"not": deep}
    with pytest.raises(HopelessSchema, match="nested more than"):
        repaired(deep)


def test_a_reference_is_looked_up_through_objects_and_lists() -> None:
    root = {"anyOf": [{"a%b": {"x": 1}}]}
    assert look_up(root, "#/anyOf/0/a%25b") == {"x": 1}
    assert look_up(root, "#/anyOf/7") is None
    assert look_up(root, "other.json#/anyOf") is None
