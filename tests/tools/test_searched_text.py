"""What is searched of a tool, and which tools are of one kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.english import stem
from manyhands.tools.searched_text import kinds, searched_text
from manyhands.tools.types import Annotations, ToolDefinition


def tool(name: str, description: str = "", *parameters: str, **more: Any) -> ToolDefinition:
    schema: dict[str, Any] = {"properties": {parameter: {} for parameter in parameters}}
    return ToolDefinition(f"mcp__{more.get('server', 'x')}__{name}", name, description, schema, **more)


def test_a_word_counts_by_where_it_stands() -> None:
    counts = searched_text(
        tool(
            "alpha",
            "Bravo. Charlie.",
            "delta",
            server="echo",
            server_id=1,
            annotations=Annotations("Foxtrot"),
        )
    ).counts
    order = ["alpha", "foxtrot", "echo", "bravo", "charlie", "delta"]
    assert sorted(counts, key=lambda term: -counts[term]) == [stem(word) for word in order]


def test_parameters_are_read_to_a_depth() -> None:
    schema = {"properties": {"deep": {"properties": {"walrus": {"description": "the aardvark"}}}}}
    counts = searched_text(ToolDefinition("a", "a", "", schema)).counts
    assert {stem("walrus"), stem("aardvark")} <= counts.keys()


def test_the_gist_is_server_name_and_first_sentence() -> None:
    text = searched_text(tool("getTime", "Tells the time. In zones.\nMore.", server="my-clock", server_id=1))
    assert text.gist == "my clock get time tells the time"
    assert searched_text(tool("read_file", "Reads.")).gist == "read file reads"


def test_a_tool_that_calls_itself_deprecated_is_known_as_such() -> None:
    assert searched_text(tool("a", "Reads. DEPRECATED: use b.")).deprecated
    assert not searched_text(tool("a", "Lists what is not used any more.")).deprecated


def test_near_copies_are_of_one_kind() -> None:
    assert kinds(
        [
            tool("create_invoice", "Create a new invoice in the archive", "title", "body"),
            tool("create_patient", "Create a new patient in the archive", "title", "body"),
            tool("delete_patient", "Remove somebody for good", "title", "body"),
            tool("create_patient", "Create a new patient in the archive", "name"),
        ]
    ) == [0, 0, 2, 3]


def test_tools_that_share_only_their_arguments_are_of_different_kinds() -> None:
    get, close = tool("get_issue", "Shows one.", "number"), tool("close_issue", "Ends it.", "number")
    assert kinds([get, close]) == [0, 1]


@given(st.lists(st.frozensets(st.sampled_from(["lion", "tiger", "zebra", "horse", "camel", "mouse"]))))
def test_the_first_tool_that_shares_half_of_the_words_leads(words: list[frozenset[str]]) -> None:
    leads: list[int] = []
    for number, own in enumerate(words):
        alike = [n for n in dict.fromkeys(leads) if len(own & words[n]) >= len(own | words[n]) / 2]
        leads.append(alike[0] if alike else number)
    assert kinds([tool("the", " ".join(sorted(own))) for own in words]) == leads


@pytest.mark.parametrize("properties", [[], {"a": True}, {"a": {"description": 5}}, None])
def test_odd_schemas_are_read_as_far_as_they_go(properties: object) -> None:
    odd = ToolDefinition("t", "t", "find me", {"properties": properties})
    assert stem("find") in searched_text(odd).counts
    assert kinds([odd]) == [0]
