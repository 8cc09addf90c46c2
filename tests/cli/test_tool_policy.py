"""`manyhands tools policy|accept` against a real daemon and a real server process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import HAND, HAND_SERVER, CommandLine

ECHO = "mcp__hand__echo"


def effect_of(cli: CommandLine, name: str, *options: str) -> str:
    return str(cli.ok("tools", "why", name, "--json", *options).json["decision"]["effect"])


def test_a_policy_is_set_and_taken_back(served: CommandLine) -> None:
    assert served.ok("tools", "policy", ECHO, "ask").out == f"✓ {ECHO} asks every time\n"
    assert effect_of(served, ECHO) == "ask"
    served.ok("tools", "policy", "echo", "deny")
    assert effect_of(served, ECHO) == "deny"
    served.ok("tools", "policy", ECHO, "default")
    assert effect_of(served, ECHO) == "allow"


def test_a_native_tool_keeps_its_policy_as_a_rule(served: CommandLine, tmp_path: Path) -> None:
    here = ("--dir", str(tmp_path))
    before = effect_of(served, "write_file", *here)
    for policy in ("deny", "allow"):
        served.ok("tools", "policy", "write_file", policy, *here)
        assert effect_of(served, "write_file", *here) == policy
    (rule,) = served.ok("tools", "rules", "list", "--json").json
    assert (rule["effect"], rule["tool"]) == ("allow", "write_file")
    served.ok("tools", "policy", "write_file", "default", *here)
    assert served.ok("tools", "rules", "list", "--json").json == []
    assert effect_of(served, "write_file", *here) == before


def test_a_rule_is_removed_by_the_end_of_its_id(served: CommandLine) -> None:
    rule = served.ok("tools", "rules", "add", "ask", "--server", "hand", "--json").json
    failed = served("tools", "rules", "remove", "…nothing")
    assert "No rule has an id that ends in nothing." in failed.err
    assert served.ok("tools", "rules", "remove", f"…{rule['id'][-8:]}").out == f"✓ {rule['id']} is removed\n"


def test_why_names_the_rule_that_decides_once(served: CommandLine) -> None:
    rule = served.ok("tools", "rules", "add", "ask", "--server", "hand", "--tool", "echo", "--json").json
    try:
        assert served.ok("tools", "why", ECHO).out.count(rule["id"]) == 1
    finally:
        served.ok("tools", "rules", "remove", rule["id"])


@pytest.fixture
def changed(served: CommandLine, tmp_path: Path) -> Iterator[str]:
    """A tool of a server that describes it differently since it was first seen."""
    script = tmp_path / "server.py"
    source = Path(HAND_SERVER).read_text()
    script.write_text(source)
    served.ok("servers", "add", "shifty", "--", HAND[0], str(script))
    script.write_text(source.replace("Says what it was told.", "Says what it was told, and more."))
    served.ok("servers", "reconnect", "shifty")
    yield "mcp__shifty__echo"
    served.ok("servers", "remove", "shifty")


@pytest.mark.requirement("L25")
def test_a_changed_definition_is_shown_and_accepted(served: CommandLine, changed: str) -> None:
    refused = served("tools", "accept", changed)
    assert refused.code == 1
    assert "and more" in refused.out
    assert "--yes" in refused.err
    assert "changed" in served.ok("tools", "why", changed).out
    shown = served.ok("tools", "accept", changed, "--yes").out
    assert "and more" in shown
    assert f"✓ {changed} is accepted as it is now" in shown
    again = served("tools", "accept", changed, "--yes")
    assert again.code == 1
    assert "nothing to accept" in again.err
