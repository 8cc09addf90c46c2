"""What channels and threads may be called."""

from __future__ import annotations

import pytest

from manyhands.chat.channel_rules import LONGEST_NAME, LONGEST_QUERY, check_name, check_query
from manyhands.errors import InvalidError


@pytest.mark.parametrize("name", ["", "  ", "x" * (LONGEST_NAME + 1), "a\nb", "a\0b", "../x", "a/..\\x"])
def test_a_name_that_nobody_can_read_or_that_leads_upwards_is_refused(name: str) -> None:
    with pytest.raises(InvalidError):
        check_name(name)


@pytest.mark.parametrize("name", ["fix", "Wait… what?", "docs/agents.md", "1..2", "日本語"])
def test_any_other_name_is_taken_without_the_blanks_around_it(name: str) -> None:
    assert check_name(f" {name} ") == name


def test_a_query_without_end_is_refused_before_a_database_sees_it() -> None:
    assert check_query(None) is None
    assert check_query("x" * LONGEST_QUERY)
    with pytest.raises(InvalidError, match="characters"):
        check_query("x" * (LONGEST_QUERY + 1))
