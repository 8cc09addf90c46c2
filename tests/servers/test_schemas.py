"""One broken tool is mended or left out by itself; what remains is always valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from manyhands.servers.schemas import MAX_REPAIRS, clean_text, model_schema, repair_tool, repair_tools

KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "$ref",
        "$defs",
        "anyOf",
        "minimum",
        "exclusiveMinimum",
        "minLength",
        "pattern",
        "additionalProperties",
        "patternProperties",
        "title",
        "$id",
        "$schema",
        "$anchor",
        "dependencies",
        "dependentRequired",
        "prefixItems",
        "uniqueItems",
        "examples",
        "multipleOf",
    ]
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats()
    | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "(", "é\0\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.sampled_from(["a", "b"]), inner)
    ),
    max_leaves=12,
)
schemas = st.dictionaries(KEYWORDS, json_values, max_size=5)


def tool(schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": schema, **more}


def mended(schema: Any) -> dict[str, Any]:
    definition, _ = repair_tool(tool(schema))
    assert definition is not None
    return dict(definition["inputSchema"])


def test_a_good_definition_is_left_as_it_is() -> None:
    good = tool(
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": {}}},
        description="Does it.",
        annotations={"readOnlyHint": True},
        _meta={"x": 1},
    )
    assert repair_tool(good) == (good, [])


@pytest.mark.requirement("L18")
@pytest.mark.parametrize(
    ("schema", "result"),
    [
        (None, {"type": "object", "properties": {}}),
        ("nonsense", {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        ({"type": ["object", "null"]}, {"type": "object", "properties": {}}),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "properties": {"a": "string"}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "text", "required": True}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        ),
        (
            {"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
            {
                "type": "object",
                "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}], "items": {}}},
            },
        ),
        (
            {"type": "object", "properties": {"a": {"minimum": 3, "exclusiveMinimum": True}}},
            {"type": "object", "properties": {"a": {"minimum": 3, "exclusiveMinimum": 3}}},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "other.json#/x"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"pattern": r"\p{L}+"}}},
            {"type": "object", "properties": {"a": {}}},
        ),
    ],
)
def test_a_broken_schema_is_mended(schema: Any, result: dict[str, Any]) -> None:
    assert mended(schema) == result


@pytest.mark.requirement("L18")
def test_a_tool_that_cannot_be_saved_is_left_out_by_name_and_the_others_stay() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"properties": {"a": deep}}
    raw = [
        tool({"type": "object"}, name="good"),
        tool({"type": "array"}, name="odd"),
        tool(deep, name="deep"),
        tool({"type": "object", "description": "x" * 600_000}, name="huge"),
        {"inputSchema": {"type": "object"}},
        "what",
        tool({"type": "object"}, name="also_good"),
    ]
    tools, repairs = repair_tools(raw)
    assert [t.name for t in tools] == ["good", "also_good"]
    left_out = {repair.item: repair.problem for repair in repairs if repair.action == "left out"}
    assert list(left_out) == ["tool odd", "tool deep", "tool huge", "tool number 5", "tool number 6"]
    assert "'array'" in left_out["tool odd"]


@pytest.mark.requirement("L18")
def test_every_repair_says_what_and_where() -> None:
    _, repairs = repair_tools([tool({"type": "object", "properties": {"a": {"enum": "x"}}}, name="pick")])
    assert [(r.item, r.problem, r.action) for r in repairs] == [
        ("tool pick", "inputSchema.properties.a.enum is dropped: its value is not valid", "repaired")
    ]


def test_a_name_that_is_listed_twice_counts_once() -> None:
    tools, repairs = repair_tools([tool({"type": "object"}), tool({"type": "object"}, description="other")])
    assert len(tools) == 1
    assert repairs[0].problem == "the server lists this name twice"


def test_names_that_differ_only_in_case_are_both_kept_and_told() -> None:
    tools, repairs = repair_tools(
        [tool({"type": "object"}, name="Read"), tool({"type": "object"}, name="read")]
    )
    assert [t.name for t in tools] == ["Read", "read"]
    assert "differs only in case from read" in repairs[0].problem


def test_wrong_hints_and_an_unusable_output_schema_are_dropped() -> None:
    definition, repairs = repair_tool(
        tool(
            {"type": "object"},
            description=["no"],
            outputSchema="array",
            annotations={"readOnlyHint": "yes", "destructiveHint": True},
        )
    )
    assert definition == {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"destructiveHint": True},
    }
    assert len(repairs) == 3


def test_ten_thousand_broken_tools_give_a_bounded_report() -> None:
    tools, repairs = repair_tools([tool({"type": 5}, name=f"t{n}") for n in range(10_000)])
    assert len(tools) == 10_000
    assert len(repairs) == MAX_REPAIRS + 1
    assert "more problems" in repairs[-1].problem


def test_text_that_no_database_takes_is_cleaned() -> None:
    assert clean_text({"a\0": ["x\ud800y", float("nan"), 1.5, None]}) == {
        "a\ufffd": ["x\ufffdy", None, 1.5, None]
    }


def test_alternatives_at_the_top_are_merged_for_models() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
        "anyOf": [
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
            {"$ref": "#/$defs/other"},
        ],
        "$defs": {"other": {"properties": {"b": {}, "c": {}}, "required": ["b"]}},
    }
    flat = model_schema(schema)
    assert "anyOf" not in flat
    assert sorted(flat["properties"]) == ["a", "b", "c", "id"]
    assert flat["required"] == ["b", "id"]


def test_a_reference_at_the_top_is_followed_for_models() -> None:
    flat = model_schema(
        {
            "type": "object",
            "properties": {},
            "$ref": "#/definitions/In",
            "definitions": {"In": {"properties": {"q": {"type": "string"}}, "required": ["q"]}},
        }
    )
    assert flat["properties"] == {"q": {"type": "string"}}
    assert flat["required"] == ["q"]


@given(schemas | json_values)
def test_whatever_comes_in_only_valid_schemas_go_out(schema: Any) -> None:
    definition, repairs = repair_tool(tool(schema, outputSchema=schema))
    if definition is None:
        assert repairs[-1].action == "left out"
        return
    for key in ("inputSchema", "outputSchema"):
        if key in definition:
            Draft202012Validator.check_schema(definition[key])
    assert definition["inputSchema"]["type"] == "object"
    assert model_schema(definition["inputSchema"])["type"] == "object"
    assert clean_text(definition) == definition


@given(schemas)
def test_mending_twice_changes_nothing_more(schema: Any) -> None:
    definition, _ = repair_tool(tool(schema))
    if definition is not None:
        assert repair_tool(definition) == (definition, [])
