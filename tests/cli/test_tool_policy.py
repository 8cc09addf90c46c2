"""`manyhands tools policy|accept` against a real daemon and a real server process."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from tests.cli.conftest import ENOUGH_S, HAND, HAND_SERVER, CommandLine
from tests.cli.pseudo_terminal import terminal

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


def change(cli: CommandLine, directory: Path) -> str:
    """A tool of a server that describes it differently since it was first seen."""
    script = directory / "server.py"
    source = Path(HAND_SERVER).read_text()
    script.write_text(source)
    cli.ok("servers", "add", "shifty", "--", HAND[0], str(script))
    script.write_text(source.replace("Says what it was told.", "Says what it was told, and more."))
    cli.ok("servers", "reconnect", "shifty")
    return "mcp__shifty__echo"


@pytest.fixture
def changed(served: CommandLine, tmp_path: Path) -> Iterator[str]:
    yield change(served, tmp_path)
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


@pytest.mark.requirement("L25")
@pytest.mark.parametrize("said", ["short", "long enough to be cut in the middle " * 600])
def test_a_call_of_a_changed_tool_is_asked_about_in_the_terminal(
    served: CommandLine, changed: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "given.json").write_text(json.dumps({"text": said}))
    argv = served.argv("tools", "call", changed, f"@{tmp_path / 'given.json'}")
    with terminal(argv, served.environment) as opened:
        opened.expect("? Run echo of shifty?")
        opened.expect("asks because  its definition has changed since it was allowed")
        opened.expect("Says what it was told, and more.")
        opened.expect("Allow?")
        opened.type("y")
        opened.expect(said[:60])
        assert opened.end() == 0


@pytest.mark.requirement("L25")
def test_a_call_of_a_changed_tool_is_asked_about_without_a_daemon_too(
    cli: CommandLine, tmp_path: Path
) -> None:
    name = change(cli, tmp_path)
    argv = cli.argv("tools", "call", name, '{"text": "x"}', "--dir", str(tmp_path))
    with terminal(argv, cli.environment) as opened:
        opened.expect("Says what it was told, and more.")
        opened.expect("Allow?")
        opened.type("n")
        opened.expect("Why not?")
        opened.type("not today")
        assert opened.end() == 1
    assert "The person refused this call: not today." in opened.text
    ran = cli("tools", "call", name, '{"text": "x"}')
    assert ran.code == 1
    assert "Run echo of shifty? Nobody can be asked here: it is refused." in ran.err


@pytest.mark.requirement("L25")
def test_a_call_that_waits_for_an_answer_says_how_to_give_it(served: CommandLine, changed: str) -> None:
    argv = served.argv("tools", "call", changed, '{"text": "it ran"}')
    with subprocess.Popen(
        argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True, env=served.environment
    ) as calling:
        assert calling.stderr
        told = next(line for line in calling.stderr if line.startswith("waiting:"))
        found = re.search(r"Run echo of shifty\? Answer with `manyhands (approvals answer \S+)`", told)
        assert found, told
        served.ok(*found[1].split(), "--approve")
        out, _ = calling.communicate(timeout=ENOUGH_S)
    assert (calling.returncode, out) == (0, "it ran\n")
