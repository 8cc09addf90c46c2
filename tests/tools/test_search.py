"""Tools are found by what one wants to do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.tools.search import ToolIndex, query_terms, stem
from manyhands.tools.types import Annotations, ToolDefinition
from tests.tools.catalogue_sample import REQUESTS, sample

INDEX = ToolIndex(sample())


def top_five(request: str) -> list[str]:
    return [hit.definition.name for hit in INDEX.search(request, 5)]


def test_the_right_tool_is_among_the_first_five_for_nine_of_ten_requests() -> None:
    missed = {
        request: top_five(request) for request, tool in REQUESTS.items() if tool not in top_five(request)
    }
    assert len(missed) <= len(REQUESTS) * 0.1, missed


def test_the_exact_full_name_comes_first() -> None:
    for definition in sample():
        assert INDEX.search(definition.full_name.upper(), 1)[0].definition == definition


@pytest.mark.parametrize(
    "query", ["create issue", "create_issue", "createIssue", "CREATE-ISSUE", "creating issues"]
)
def test_names_are_found_however_they_are_written(query: str) -> None:
    assert top_five(query)[0] == "create_issue"


def test_words_of_the_same_meaning_are_found_with_less_weight() -> None:
    terms = query_terms("remove the folder")
    assert terms[stem("remove")] == 1.0
    assert 0 < terms[stem("delete")] < 1.0
    assert "the" not in terms


def test_parameters_and_titles_are_searched() -> None:
    schema = {"properties": {"deep": {"properties": {"walrus": {"description": "the aardvark"}}}}}
    by_parameter = ToolDefinition("a", "a", "", schema)
    by_title = ToolDefinition("b", "b", "", {}, annotations=Annotations(title="Feed the hippo"))
    index = ToolIndex([by_parameter, by_title])
    assert index.search("walrus")[0].definition is by_parameter
    assert index.search("aardvark")[0].definition is by_parameter
    assert index.search("hippos")[0].definition is by_title


def test_a_query_without_a_shared_word_finds_nothing() -> None:
    assert INDEX.search("xyzzy") == []
    assert INDEX.search("") == []
    assert ToolIndex([]).search("anything") == []


def test_equal_tools_come_in_stable_order() -> None:
    tools = [ToolDefinition(f"mcp__{s}__same", "same", "same", {}) for s in "cab"]
    names = [hit.definition.full_name for hit in ToolIndex(tools).search("same")]
    assert names == sorted(names)


def test_odd_schemas_do_not_stop_the_index() -> None:
    odd: list[dict[str, Any]] = [
        {"properties": []},
        {"properties": {"a": True}},
        {"properties": {"a": {"description": 5}}},
        {},
    ]
    index = ToolIndex(ToolDefinition(f"t{n}", f"t{n}", "find me", schema) for n, schema in enumerate(odd))
    assert len(index.search("find")) == 4


@given(st.text())
def test_any_query_can_be_searched(query: str) -> None:
    INDEX.search(query)
    assert all(0 < weight <= 1 for weight in query_terms(query).values())
