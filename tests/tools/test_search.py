"""Tools are found by what one wants to do: by words at once, by meaning once the index has learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.embedding import embed
from manyhands.tools.search import ToolIndex
from manyhands.tools.types import Annotations, ToolDefinition
from tests.tools.catalogue_sample import REQUESTS, sample

if TYPE_CHECKING:
    from manyhands.embedding import Matrix

BY_WORDS = ToolIndex(sample())
LEARNED = ToolIndex(sample())
LEARNED.learn(embed)
both = pytest.mark.parametrize("index", [BY_WORDS, LEARNED], ids=["by words", "learned"])


def top_five(index: ToolIndex, request: str) -> list[str]:
    return [hit.definition.name for hit in index.search(request, 5)]


@both
def test_the_right_tool_is_among_the_first_five_for_nine_of_ten_requests(index: ToolIndex) -> None:
    missed = {
        request: top_five(index, request)
        for request, tool in REQUESTS.items()
        if tool not in top_five(index, request)
    }
    assert len(missed) <= len(REQUESTS) * 0.1, missed


@both
def test_the_exact_full_name_comes_first(index: ToolIndex) -> None:
    for definition in sample():
        assert index.search(definition.full_name.upper(), 1)[0].definition == definition


@both
@pytest.mark.parametrize(
    "query", ["create issue", "create_issue", "createIssue", "CREATE-ISSUE", "creating issues"]
)
def test_names_are_found_however_they_are_written(index: ToolIndex, query: str) -> None:
    assert top_five(index, query)[0] == "create_issue"


def test_a_synonym_finds_but_the_word_itself_finds_better() -> None:
    erase, remove = (ToolDefinition(name, name, "the folder", {}) for name in ("erase", "remove"))
    found = ToolIndex([erase, remove]).search("remove a folder")
    assert [hit.definition for hit in found] == [remove, erase]
    assert found[0].score > found[1].score > 0


def test_meaning_finds_what_shares_no_word() -> None:
    tools = [
        ToolDefinition("a", "show_puppy", "A puppy on a lawn", {"properties": {"x": {}}}),
        ToolDefinition("b", "file_taxes", "Fiscal declarations", {}),
    ]
    index = ToolIndex(tools)
    assert index.search("dogs") == []
    index.learn(embed)
    assert index.learned
    assert index.search("dogs")[0].definition is tools[0]


def test_parameters_and_titles_are_searched() -> None:
    schema = {"properties": {"deep": {"properties": {"walrus": {"description": "the aardvark"}}}}}
    by_parameter = ToolDefinition("a", "a", "", schema)
    by_title = ToolDefinition("b", "b", "", {}, annotations=Annotations(title="Feed the hippo"))
    index = ToolIndex([by_parameter, by_title])
    assert index.search("walrus")[0].definition is by_parameter
    assert index.search("aardvark")[0].definition is by_parameter
    assert index.search("hippos")[0].definition is by_title


@both
def test_a_query_that_nothing_fits_finds_nothing(index: ToolIndex) -> None:
    assert index.search("xyzzy") == []
    assert index.search("") == []


def test_an_empty_index_learns_and_finds_nothing() -> None:
    index = ToolIndex([])
    index.learn(embed)
    assert index.search("anything") == []


def test_equal_tools_come_in_stable_order() -> None:
    tools = [ToolDefinition(f"mcp__{s}__same", "same", "same", {}) for s in "cab"]
    names = [hit.definition.full_name for hit in ToolIndex(tools).search("same")]
    assert names == sorted(names)


def copies(count: int) -> list[ToolDefinition]:
    return [
        ToolDefinition(f"mcp__s{n}__send_note", "send_note", f"Send a note to the crew of ship s{n}", {})
        for n in range(count)
    ]


def test_near_copies_do_not_crowd_out_other_tools() -> None:
    other = ToolDefinition("mcp__z__archive", "archive", "Put a note away", {"properties": {"x": {}}})
    found = [hit.definition for hit in ToolIndex([*copies(20), other]).search("note", 5)]
    assert found[0].name == "send_note"
    assert other in found


def test_of_near_copies_the_one_that_is_named_comes_first() -> None:
    found = ToolIndex(copies(20)).search("send a note to ship s13", 20)
    assert found[0].definition.full_name == "mcp__s13__send_note"
    assert len(found) == 20


def test_of_near_copies_the_plain_one_comes_before_those_for_something_else() -> None:
    plain = ToolDefinition("mcp__z__query", "query", "Run an SQL query", {})
    special = ToolDefinition("mcp__a__album_query", "album_query", "Run an SQL query for an album", {})
    assert ToolIndex([special, plain]).search("run some SQL")[0].definition is plain


def test_a_deprecated_tool_comes_after_the_one_that_replaces_it() -> None:
    old = ToolDefinition("mcp__a__get", "get", "Get the report. Deprecated: use fetch.", {})
    new = ToolDefinition("mcp__b__fetch", "get_it", "Get the report.", {})
    assert [hit.definition for hit in ToolIndex([old, new]).search("get report")] == [new, old]


def test_more_tools_than_are_looked_at_closely_are_searched() -> None:
    many = [
        ToolDefinition(f"t{n}", f"count_{n}", "Counts sheep", {"properties": {f"p{n}": {}}})
        for n in range(400)
    ]
    index = ToolIndex([*many, ToolDefinition("z", "zebra", "Counts zebras", {})])
    assert index.search("count zebras", 1)[0].definition.name == "zebra"


def test_a_request_asks_for_the_vectors_of_its_own_words_alone() -> None:
    asked: list[Sequence[str]] = []

    def note(texts: Sequence[str]) -> Matrix:
        asked.append(texts)
        return np.zeros((len(texts), 4), dtype=np.float32)

    index = ToolIndex(sample())
    index.learn(note)
    asked.clear()
    assert index.search("rename a file")
    assert asked == [["rename a file", "rename", "file"]]


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
    for index in (BY_WORDS, LEARNED):
        assert all(hit.score > 0 for hit in index.search(query))
