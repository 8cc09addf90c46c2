"""Names, sizes, and who is meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from manyhands.agents import rules
from manyhands.agents.types import Agent
from manyhands.errors import InvalidError, NotFoundError, TooLargeError

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def agent(agent_id: str, name: str | None = None) -> Agent:
    return Agent("ch_1", agent_id, name or agent_id, "active", "", NOW, NOW)


@pytest.mark.parametrize("agent_id", ["", "  ", "a/b", "../x", "a\nb", "x\0", "n" * 201, "owner", "Owner"])
def test_an_id_that_could_mislead_is_refused(agent_id: str) -> None:
    with pytest.raises(InvalidError) as refused:
        rules.check_agent_id(agent_id)
    assert refused.value.hint


@pytest.mark.parametrize("name", ["", "OWNER", "a\u202eb", "n" * 201])
def test_a_name_that_could_mislead_is_refused(name: str) -> None:
    with pytest.raises(InvalidError):
        rules.check_name(name)


def test_ten_megabytes_are_no_message() -> None:
    with pytest.raises(TooLargeError, match=r"10,485,760 bytes.*file of the project"):
        rules.check_content("x" * 10 * 1024 * 1024)
    assert rules.check_content("x" * rules.CONTENT_LIMIT) == rules.CONTENT_LIMIT


@pytest.mark.parametrize("content", ["", " \n", "a\0b", "\ud800"])
def test_what_no_database_takes_is_refused(content: str) -> None:
    with pytest.raises(InvalidError):
        rules.check_content(content)


@pytest.mark.parametrize("status", ["", "a\nb", "s" * 61])
def test_a_status_is_a_word_or_two(status: str) -> None:
    with pytest.raises(InvalidError, match="work_summary"):
        rules.check_status(status)


def test_a_long_summary_is_refused() -> None:
    with pytest.raises(TooLargeError):
        rules.check_summary("s" * 4001)


def test_an_id_is_found_before_a_name_and_a_name_when_it_is_the_only_one() -> None:
    here = [agent("a", "b"), agent("b", "Paula"), agent("c", "Paula"), agent("d", "Quinn")]
    assert rules.find_agent(here, "b").id == "b"
    assert rules.find_agent(here, "quinn").id == "d"
    with pytest.raises(NotFoundError, match=r"2 agents are called 'Paula'. Use an id: b, c"):
        rules.find_agent(here, "Paula")


def test_an_unknown_name_is_told_who_is_there() -> None:
    here = [agent("t-1", "Tester"), agent("builder")]
    with pytest.raises(NotFoundError, match=r"no agent 'tster' here. Those here: builder, t-1 \(Tester\)"):
        rules.find_agent(here, "tster")
    with pytest.raises(NotFoundError, match="No agent is registered"):
        rules.find_agent([], "tester")
    many = [agent(f"a{n:03}") for n in range(60)]
    with pytest.raises(NotFoundError, match="and 10 more"):
        rules.find_agent(many, "nobody")
