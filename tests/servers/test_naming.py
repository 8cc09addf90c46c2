"""Names that a model sees are safe, short, stable, and lead back to exactly one tool."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from manyhands.errors import InvalidError
from manyhands.servers.naming import (
    MAX_FULL_NAME,
    Namespace,
    ToolNames,
    check_server_name,
    full_names,
    name_key,
    prompt_commands,
    safe_server_name,
    split_name,
    tool_prefix,
)

SAFE = re.compile(r"[A-Za-z0-9_-]+")
tool_names = st.text(min_size=1, max_size=90) | st.text("aA_-. é", min_size=1, max_size=6)
tool_sets = st.lists(tool_names, max_size=12, unique=True)
server_names = st.text("abAB_- é1", min_size=1, max_size=80)


def usable(name: str) -> bool:
    try:
        check_server_name(name)
    except InvalidError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("time", "time"),
        ("My Server", "My-Server"),
        ("café", "cafe"),
        ("a.b/c", "a-b-c"),
        ("end_", "end-"),
        ("_start", "_start"),
    ],
)
def test_a_server_name_is_made_safe_and_stays_readable(name: str, safe: str) -> None:
    assert check_server_name(name) == safe


def test_names_without_a_latin_letter_stay_apart() -> None:
    assert safe_server_name("天気") != safe_server_name("時間")
    assert SAFE.fullmatch(safe_server_name("天気"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "no name"),
        ("  ", "no name"),
        ("a__b", "holds `__`"),
        ("a_" + "_", "holds `__`"),
        ("123", "only digits"),
        ("x" * 200, "200 characters"),
        ("tab\there", "invisible"),
    ],
)
def test_a_server_name_that_could_meet_another_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        check_server_name(name)


def test_a_tool_keeps_its_plain_name_when_it_can() -> None:
    assert full_names("mcp__time__", ["get_current_time"]) == {
        "get_current_time": "mcp__time__get_current_time"
    }


@pytest.mark.requirement("L18")
def test_a_name_of_200_characters_keeps_a_readable_head_and_ends_in_a_hash() -> None:
    tool = "summarise_" * 20
    full = full_names("mcp__notes__", [tool])[tool]
    assert len(full) == MAX_FULL_NAME
    assert full.startswith("mcp__notes__summarise_summarise_")
    assert full == full_names("mcp__notes__", [tool, "other"])[tool]


@pytest.mark.requirement("L18")
def test_tools_that_differ_only_in_case_both_stay_reachable() -> None:
    names = ToolNames("files", 3, ["Read", "read", "write"])
    shown = {tool: names.shown(tool, "name") for tool in ("Read", "read", "write")}
    assert shown["write"] == "mcp__files__write"
    assert shown["Read"].lower() != shown["read"].lower()
    assert {names.find(full): tool for tool, full in shown.items()} == {t: t for t in shown}
    assert names.find("mcp__files__Read") == "Read"
    assert names.find("mcp__3__read") == "read"


def test_a_hashed_name_still_leads_to_its_tool_when_its_double_has_gone() -> None:
    before = ToolNames("files", 3, ["Read", "read"]).shown("Read", "name")
    assert ToolNames("files", 3, ["Read"]).find(before) == "Read"


def test_the_id_of_a_server_names_its_tools_as_well() -> None:
    names = ToolNames("time", 7, ["now"])
    assert names.shown("now", "id") == "mcp__7__now"
    assert names.find("mcp__7__now") == names.find("mcp__time__now") == "now"
    assert names.find("mcp__8__now") is None


def test_a_prompt_is_a_command_of_its_server() -> None:
    assert prompt_commands("github", ["review"]) == {"review": "/github:review"}


@given(tool_sets, server_names)
def test_full_names_are_safe_short_distinct_and_lead_back(tools: list[str], server: str) -> None:
    assume(usable(server))
    names = ToolNames(check_server_name(server), 12, tools)
    forms: list[Namespace] = ["name", "id"]
    for form in forms:
        shown = {tool: names.shown(tool, form) for tool in tools}
        assert len({full.lower() for full in shown.values()}) == len(tools)
        for tool, full in shown.items():
            assert len(full) <= MAX_FULL_NAME
            assert SAFE.fullmatch(full)
            assert full.startswith("mcp__")
            assert names.find(full) == tool


@given(tool_sets, st.randoms(use_true_random=False))
def test_full_names_do_not_depend_on_the_order_of_the_tools(tools: list[str], rng: random.Random) -> None:
    shuffled = tools[:]
    rng.shuffle(shuffled)
    assert full_names("mcp__s__", tools) == full_names("mcp__s__", shuffled)


@given(tool_sets, st.text("bcd", min_size=3, max_size=6))
def test_a_tool_that_arrives_renames_no_other_unless_it_shares_the_spelling(
    tools: list[str], new: str
) -> None:
    assume(all(tool.lower() != new.lower() for tool in tools))
    before, after = full_names("mcp__s__", tools), full_names("mcp__s__", [*tools, new])
    assert before == {tool: after[tool] for tool in tools}


@given(st.lists(server_names, max_size=5), tool_sets)
def test_no_two_servers_share_a_full_name(servers: list[str], tools: list[str]) -> None:
    safe = {check_server_name(name) for name in servers if usable(name)}
    distinct = {name_key(name): name for name in safe}.values()
    shown = [set(full_names(tool_prefix(server), tools).values()) for server in distinct]
    shown += [set(full_names(tool_prefix(number), tools).values()) for number in (1, 2)]
    assert all(not (a & b) for a, b in combinations(shown, 2))


@given(server_names, st.text("ab_", min_size=1, max_size=12))
def test_a_name_that_was_not_cut_splits_into_its_server_and_tool(server: str, tool: str) -> None:
    assume(usable(server))
    safe = check_server_name(server)
    full = tool_prefix(safe) + tool
    assume(len(full) <= MAX_FULL_NAME)
    assert split_name(full) == (safe, tool)


@pytest.mark.parametrize("name", ["read_file", "mcp__", "mcp__time", "mcp__time__", "mcp____x"])
def test_what_is_no_tool_of_a_server_does_not_split(name: str) -> None:
    assert split_name(name) is None
