"""One malformed entry of a listing costs that entry, or one field of it, and never the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import methods

from manyhands.servers.transports.listings import LISTINGS, mended_listing

OBJECT = {"type": "object"}
GOOD: dict[str, Any] = {"name": "good", "description": "fine", "inputSchema": OBJECT}
VERSIONS = {False: "2025-11-25", True: "2026-07-28"}


def mended_tool(tool: Any, *, modern: bool = False) -> tuple[dict[str, Any] | None, list[str]]:
    """What becomes of a tool that is listed between two good ones, and what is told of it."""
    result, repairs = mended_listing("tools/list", {"tools": [GOOD, tool, GOOD]}, modern=modern)
    methods.parse_server_result("tools/list", VERSIONS[modern], result)
    first, *odd, last = result["tools"]
    assert first == last == GOOD
    return (odd[0] if odd else None), [f"{repair.item}: {repair.problem}" for repair in repairs]


@pytest.mark.requirement("L18")
@pytest.mark.parametrize(
    ("schema", "mended"),
    [
        (None, OBJECT),
        ([], OBJECT),
        ({}, OBJECT),
        ({"type": "string"}, OBJECT),
        ({"type": ["object", "null"], "title": "kept"}, {"type": "object", "title": "kept"}),
        (
            {"properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        ({"type": "object", "required": "a", "title": "kept"}, {"type": "object", "title": "kept"}),
        (
            {"type": "object", "properties": {"a": 5, "b": {"type": "string"}}},
            {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}},
        ),
        ({"type": "object", "$schema": 7}, OBJECT),
    ],
)
def test_an_odd_input_schema_is_mended(schema: Any, mended: dict[str, Any]) -> None:
    tool, told = mended_tool({"name": "odd", "inputSchema": schema})
    assert tool == {"name": "odd", "inputSchema": mended}
    assert len(told) == 1
    assert told[0].startswith("tool odd: ")


@pytest.mark.parametrize(
    "schema", ["text", [], {"type": "array"}, {"type": ["object", "null"]}, {"properties": 3}]
)
def test_an_output_schema_that_cannot_be_used_is_left_out(schema: Any) -> None:
    tool, told = mended_tool({**GOOD, "name": "odd", "outputSchema": schema})
    assert tool == {**GOOD, "name": "odd"}
    assert told


def test_the_newest_revision_may_describe_any_output() -> None:
    odd = {**GOOD, "name": "odd", "outputSchema": {"type": "array"}}
    assert mended_tool(odd, modern=True)[0] == odd


@pytest.mark.parametrize(
    "tool", ["text", None, {}, {"name": ""}, {"name": 5}, {"name": None, "inputSchema": OBJECT}]
)
def test_a_tool_without_a_name_is_left_out(tool: Any) -> None:
    assert mended_tool(tool)[0] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", 7),
        ("title", ["x"]),
        ("annotations", "read only"),
        ("annotations", {"readOnlyHint": [1]}),
        ("icons", [{"src": 1}]),
        ("_meta", "text"),
        ("execution", {"taskSupport": "maybe"}),
    ],
)
def test_a_field_of_the_wrong_type_is_left_out(field: str, value: Any) -> None:
    tool, told = mended_tool({**GOOD, "name": "odd", field: value})
    assert tool == {key: kept for key, kept in {**GOOD, "name": "odd"}.items() if key != field}
    assert told == [f"tool odd: malformed {field}"]


def test_null_for_what_is_absent_is_nothing_to_tell() -> None:
    tool, told = mended_tool(
        {**GOOD, "name": "odd", "annotations": None, "outputSchema": None, "title": None}
    )
    assert tool == {**GOOD, "name": "odd"}
    assert told == []


@pytest.mark.parametrize(
    ("method", "good", "bad"),
    [
        ("prompts/list", {"name": "p"}, {"description": "no name"}),
        ("resources/list", {"uri": "a:b", "name": "r"}, {"name": "no address"}),
        ("resources/templates/list", {"uriTemplate": "a:{b}", "name": "t"}, {"uriTemplate": 5}),
    ],
)
def test_other_listings_lose_the_bad_entry_only(method: str, good: dict[str, Any], bad: Any) -> None:
    key = LISTINGS[method]
    result, repairs = mended_listing(method, {key: [bad, good, 7]}, modern=False)
    assert result == {key: [good]}
    assert len(repairs) == 2


def test_a_resource_without_a_name_is_called_by_its_address() -> None:
    result, _ = mended_listing("resources/list", {"resources": [{"uri": "a:b"}]}, modern=False)
    assert result["resources"] == [{"uri": "a:b", "name": "a:b"}]


@pytest.mark.parametrize("listing", [{}, {"tools": None}, {"tools": {"a": 1}}])
@pytest.mark.parametrize("modern", [False, True])
def test_an_answer_without_a_list_is_an_empty_list_and_is_told(listing: dict[str, Any], modern: bool) -> None:
    result, repairs = mended_listing("tools/list", listing, modern=modern)
    methods.parse_server_result("tools/list", VERSIONS[modern], result)
    assert result["tools"] == []
    assert len(repairs) == 1


def test_odd_paging_and_caching_do_not_hide_the_list() -> None:
    listing = {"tools": [GOOD], "nextCursor": 5, "ttlMs": "soon", "cacheScope": "everywhere"}
    result, _ = mended_listing("tools/list", listing, modern=True)
    assert result == {"tools": [GOOD], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def test_a_good_listing_is_left_as_it_is() -> None:
    listing = {
        "tools": [{**GOOD, "annotations": {"readOnlyHint": True}}],
        "nextCursor": "2",
        "_meta": {"a": 1},
    }
    assert mended_listing("tools/list", listing, modern=False) == (listing, [])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "name",
    "inputSchema",
    "outputSchema",
    "description",
    "annotations",
    "icons",
    "title",
    "_meta",
    "uri",
]
entries = st.dictionaries(st.sampled_from(FIELDS), json_values) | json_values


@settings(deadline=None)
@given(st.sampled_from(sorted(LISTINGS)), st.lists(entries, max_size=4), st.booleans())
def test_whatever_is_listed_can_be_parsed_afterwards(method: str, items: list[Any], modern: bool) -> None:
    result, _ = mended_listing(method, {LISTINGS[method]: items}, modern=modern)
    methods.parse_server_result(method, VERSIONS[modern], result)
