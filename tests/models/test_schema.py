"""Tools as each provider takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.models.inlining import MAX_DEPTH, MAX_NODES
from manyhands.models.schema import fit_tools
from manyhands.models.types import Provider, ToolRepair, ToolSpec

PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "google", "ollama", "openai-compatible")
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def tool(
    name: str = "search", description: str = "Search.", more: Mapping[str, Any] | None = None, **schema: Any
) -> ToolSpec:
    """A tool; `more` are keywords that cannot be written as names."""
    return ToolSpec(name, description, {"type": "object", **schema, **(more or {})})


def fit(spec: ToolSpec, provider: Provider = "openai") -> tuple[ToolSpec, list[str]]:
    """The one tool that comes out, and what was noted."""
    [fitted], repairs = fit_tools([spec], provider)
    return fitted, [note for repair in repairs for note in repair.notes]


PLAIN = {
    "path": {"type": "string", "description": "Where."},
    "depth": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
    "kinds": {"type": "array", "items": {"type": "string", "enum": ["file", "directory"]}},
}


@every_provider
def test_a_plain_tool_goes_out_as_it_is(provider: Provider) -> None:
    spec = tool(properties=PLAIN, required=["path"])
    assert fit_tools([spec], provider) == ([spec], [])


@every_provider
def test_order_is_kept(provider: Provider) -> None:
    specs = [tool(name, properties={}) for name in ("b", "a", "c")]
    assert [spec.name for spec in fit_tools(specs, provider)[0]] == ["b", "a", "c"]


@every_provider
@pytest.mark.requirement("L18")
def test_a_tool_that_cannot_be_sent_is_left_out_alone_and_reported(provider: Provider) -> None:
    specs = [
        tool("good", properties={}),
        tool("x" * 65, properties={}),
        tool("with space", properties={}),
        ToolSpec("text", "", {"type": "string"}),
        tool("good", properties={}),
        tool("fine", properties={}),
    ]
    fitted, repairs = fit_tools(specs, provider)
    assert [spec.name for spec in fitted] == ["good", "fine"]
    assert [(repair.tool[:10], repair.dropped) for repair in repairs] == [
        ("x" * 10, True),
        ("with space", True),
        ("text", True),
        ("good", True),
    ]
    assert all(repair.notes for repair in repairs)


def test_openai_gets_no_more_tools_than_it_takes() -> None:
    fitted, repairs = fit_tools([tool(f"t{index}", properties={}) for index in range(130)], "openai")
    assert len(fitted) == 128
    assert [repair.tool for repair in repairs] == ["t128", "t129"]


# --- references


@every_provider
def test_references_are_replaced_by_what_they_point_at(provider: Provider) -> None:
    spec = tool(
        properties={
            "home": {"$ref": "#/$defs/Place", "description": "Where one lives."},
            "work": {"$ref": "#/properties/home"},
        },
        more={"$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}}},
    )
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "description": "Where one lives."}
    fitted, notes = fit(spec, provider)
    assert fitted.schema == {"type": "object", "properties": {"home": place, "work": place}}
    assert notes == []


@every_provider
def test_a_schema_that_contains_itself_is_cut_where_it_begins_again(provider: Provider) -> None:
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    }
    fitted, notes = fit(
        tool(properties={"tree": {"$ref": "#/$defs/Node"}}, more={"$defs": {"Node": node}}), provider
    )
    assert fitted.schema["properties"]["tree"]["properties"]["children"]["items"] == {"type": "object"}
    assert len(notes) == 1
    assert "contains itself" in notes[0]


def test_a_reference_to_nothing_accepts_anything() -> None:
    fitted, notes = fit(tool(properties={"a": {"$ref": "#/$defs/None"}, "b": {"$ref": "https://x/y"}}))
    assert fitted.schema["properties"] == {"a": {}, "b": {}}
    assert len(notes) == 2


def test_references_that_would_grow_without_bound_do_not() -> None:
    definitions = {
        f"D{level}": {
            "type": "object",
            "properties": {f"p{i}": {"$ref": f"#/$defs/D{level + 1}"} for i in range(10)},
        }
        for level in range(9)
    }
    definitions["D9"] = {"type": "string"}
    fitted, notes = fit(tool(properties={"a": {"$ref": "#/$defs/D0"}}, more={"$defs": definitions}))
    assert sum(1 for _ in _nodes(fitted.schema)) < 3 * MAX_NODES
    assert notes


def test_what_is_too_deep_is_described_loosely() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(3 * MAX_DEPTH):
        deep = {"type": "object", "properties": {"x": deep}}
    fitted, notes = fit(tool(properties={"a": deep}))
    assert json.dumps(fitted.schema).count("properties") <= MAX_DEPTH + 2
    assert "too deep" in notes[0]


def test_everything_that_all_of_demands_is_demanded() -> None:
    part = {
        "allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}],
        "title": "P",
    }
    fitted, notes = fit(tool(properties={"part": part, "x": {}}, allOf=[{"required": ["part"]}]))
    assert fitted.schema["properties"]["part"] == {
        "title": "P",
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }
    assert fitted.schema["required"] == ["part"]
    assert notes == []


# --- alternatives at the top level


@every_provider
@pytest.mark.parametrize(("key", "how"), [("anyOf", "at least one"), ("oneOf", "exactly one")])
def test_which_arguments_go_together_becomes_a_sentence(provider: Provider, key: str, how: str) -> None:
    spec = tool(
        properties={"id": {"type": "string"}, "name": {"type": "string"}, "city": {"type": "string"}},
        more={key: [{"required": ["id"]}, {"required": ["name", "city"]}]},
    )
    fitted, notes = fit(spec, provider)
    assert key not in fitted.schema
    assert fitted.description == f"Search. Give {how} of these: id; or name, city."
    assert notes


def test_arguments_of_all_alternatives_are_offered_side_by_side() -> None:
    spec = ToolSpec(
        "do",
        "Do.",
        {
            "oneOf": [
                {
                    "properties": {"action": {"const": "a"}, "x": {"type": "string"}},
                    "required": ["action", "x"],
                },
                {"properties": {"action": {"const": "b"}, "y": {"type": "number"}}, "required": ["action"]},
            ]
        },
    )
    fitted, _ = fit(spec, "anthropic")
    assert fitted.schema == {
        "type": "object",
        "properties": {
            "action": {"anyOf": [{"const": "a"}, {"const": "b"}]},
            "x": {"type": "string"},
            "y": {"type": "number"},
        },
        "required": ["action"],
    }


def test_what_is_refused_at_the_top_level_is_not_sent() -> None:
    spec = tool(
        properties={"a": {"not": {"type": "null"}}}, more={"not": {"required": ["a"]}, "if": {}, "then": {}}
    )
    fitted, notes = fit(spec)
    assert fitted.schema == {"type": "object", "properties": {"a": {"not": {"type": "null"}}}}
    assert "not, if, then" in notes[0]


# --- one provider's own


def test_a_long_description_goes_on_with_the_arguments() -> None:
    words = " ".join(f"word{index}" for index in range(400))
    fitted, notes = fit(tool(description=words, properties={}), "openai")
    assert len(fitted.description) <= 1024
    assert f"{fitted.description} {fitted.schema['description']}" == words
    assert notes
    assert fit(tool(description=words, properties={}), "anthropic")[1] == []


def test_an_optional_argument_with_an_odd_name_is_not_sent_to_anthropic() -> None:
    spec = tool(properties={"a b": {"type": "string"}, "c": {"type": "string"}}, required=["c"])
    fitted, notes = fit(spec, "anthropic")
    assert list(fitted.schema["properties"]) == ["c"]
    assert "'a b'" in notes[0]


def test_a_tool_that_needs_an_argument_with_an_odd_name_is_not_sent_to_anthropic() -> None:
    spec = tool(properties={"a b": {"type": "string"}}, required=["a b"])
    assert fit_tools([spec], "anthropic")[1] == [
        ToolRepair("search", True, ["Anthropic refuses its argument 'a b', and the tool needs it"])
    ]


def test_gemini_gets_only_what_it_knows() -> None:
    spec = tool(
        properties={
            "a": {"type": "string", "pattern": "^x", "minLength": 2},
            "b": {"enum": [True, None]},
            "c": {"type": ["string", "null"], "enum": ["x", "", None]},
            "d": {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        },
        required=["a", "gone"],
        additionalProperties=False,
    )
    fitted, notes = fit(spec, "google")
    assert fitted.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {},
            "c": {"type": ["string", "null"], "enum": ["x"]},
            "d": {"type": "object", "additionalProperties": False},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert notes == ["not sent, as Gemini does not know it: enum, minLength, pattern, patternProperties"]


# --- anything at all

names = st.sampled_from(["a", "b", "a b", "", "x" * 70])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
leaves: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["object", "array", "string", ["object", "null"]]),
    "required": st.lists(names, max_size=2, unique=True),
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#/nowhere", "https://elsewhere"]),
    "enum": st.lists(values, max_size=3),
    "const": values,
    "description": st.text(max_size=5),
}


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    below = {
        "properties": st.dictionaries(names, inner | st.booleans(), max_size=3),
        "$defs": st.dictionaries(names, inner, max_size=2),
        "items": inner | st.booleans(),
        "additionalProperties": inner | st.booleans(),
        "not": inner,
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), st.lists(inner, max_size=2)),
    }
    return st.fixed_dictionaries({}, optional=leaves | below)


schemas = st.recursive(st.fixed_dictionaries({}, optional=leaves), nested, max_leaves=8)


@given(schemas, st.sampled_from(PROVIDERS))
def test_whatever_a_tool_says_it_comes_out_plain_or_not_at_all(
    schema: dict[str, Any], provider: Provider
) -> None:
    fitted, repairs = fit_tools([ToolSpec("tool", "", schema)], provider)
    assert len(fitted) + sum(repair.dropped for repair in repairs) == 1
    for spec in fitted:
        assert spec.schema["type"] == "object"
        assert isinstance(spec.schema["properties"], dict)
        assert not {"anyOf", "oneOf", "allOf", "enum", "not"} & spec.schema.keys()
        assert not any({"$ref", "$defs", "allOf"} & node.keys() for node in _nodes(spec.schema))
        json.dumps(spec.schema)


@given(schemas, st.sampled_from(PROVIDERS))
def test_what_came_out_is_not_changed_again(schema: dict[str, Any], provider: Provider) -> None:
    fitted, _ = fit_tools([ToolSpec("tool", "", schema)], provider)
    assert fit_tools(fitted, provider)[0] == fitted


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas inside a schema; data such as `enum` is none."""
    if not isinstance(node, dict):
        return
    yield node
    for key, value in node.items():
        if key == "properties":
            for item in value.values():
                yield from _nodes(item)
        elif key in ("anyOf", "oneOf"):
            for item in value:
                yield from _nodes(item)
        elif key in ("items", "additionalProperties", "not"):
            yield from _nodes(value)
