"""`manyhands settings` against a real daemon."""

from __future__ import annotations

from manyhands.settings import Settings
from tests.cli.conftest import CommandLine


def test_every_setting_is_listed_with_its_meaning(served: CommandLine) -> None:
    shown = served.ok("settings", "get").out
    assert all(name in shown for name in Settings.model_fields)
    assert "How often one run may ask the model again." in shown


def test_a_setting_is_changed_and_reset(served: CommandLine) -> None:
    assert served.ok("settings", "set", "result_limit_chars", "40000").out == "✓ result_limit_chars = 40000\n"
    assert served.ok("settings", "get", "result_limit_chars").out == "40000\n"
    served.ok("settings", "set", "result_limit_chars", "null")
    assert served.ok("settings", "get", "result_limit_chars", "--json").json == {"result_limit_chars": 30000}


def test_plain_text_and_lists_are_taken(served: CommandLine) -> None:
    served.ok("settings", "set", "searxng_url", "http://127.0.0.1:8888")
    served.ok("settings", "set", "fetch_allow", '["intranet.example"]')
    values = served.ok("settings", "get", "--json").json
    assert values["searxng_url"] == "http://127.0.0.1:8888"
    assert values["fetch_allow"] == ["intranet.example"]


def test_a_value_out_of_bounds_is_refused_and_the_old_one_stays(served: CommandLine) -> None:
    ran = served("settings", "set", "mcp_max_iterations", "1000")
    assert ran.code == 1
    assert "mcp_max_iterations" in ran.err
    assert served.ok("settings", "get", "mcp_max_iterations").out == "10\n"


def test_an_unknown_setting_says_where_they_are_listed(served: CommandLine) -> None:
    for arguments in (("get", "colour"), ("set", "colour", "red")):
        ran = served("settings", *arguments)
        assert ran.code == 1
        assert "manyhands settings get" in ran.err
