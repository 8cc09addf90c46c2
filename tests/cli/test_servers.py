"""`manyhands servers` against a real daemon and a real server process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from manyhands.cli.server_view import trouble_of
from tests.cli.conftest import HAND, CommandLine, running_daemon

MISSING = "/nowhere/to/be/found"


@pytest.fixture
def extra(served: CommandLine) -> Iterator[str]:
    """One more server, gone when the test is over."""
    served.ok("servers", "add", "extra", "--env", "TOKEN=very-secret-value", "--", *HAND)
    yield "extra"
    served("servers", "remove", "extra")


def test_the_list_shows_each_server_with_its_state_and_tools(served: CommandLine) -> None:
    heading, row = served.ok("servers", "list").out.splitlines()
    assert heading.split() == ["ID", "NAME", "STATUS", "TOOLS", "TRUST", "SERVER"]
    assert row.split()[1:5] == ["hand", "connected", "6", "trusted"]
    assert row.endswith("hand_server.py")


def test_the_list_as_json_has_every_field(served: CommandLine) -> None:
    (server,) = served.ok("servers", "list", "--json").json
    assert server["name"] == "hand"
    assert server["status"] == "connected"
    assert server["version"] == "1.2.3"


def test_adding_says_what_was_found(served: CommandLine, extra: str) -> None:
    ran = served.ok("servers", "add", extra, "--", *HAND)
    assert ran.out == "✓ extra is connected: 6 tools, 1.2.3 (protocol 2025-06-18)\n"


def test_a_server_that_does_not_start_is_kept_and_the_error_says_what_to_do(served: CommandLine) -> None:
    ran = served("servers", "add", "broken", "--", MISSING)
    try:
        assert ran.code == 1
        assert ran.out == ""
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("error: broken is saved but does not connect: ")
        assert MISSING in ran.err
        assert "manyhands servers edit broken" in ran.err
        listed = served.ok("servers", "list").out
        assert "broken: " in listed
        assert MISSING in listed.splitlines()[-1]
    finally:
        served.ok("servers", "remove", "broken")


def test_secrets_are_never_shown_again(served: CommandLine, extra: str) -> None:
    shown = served.ok("servers", "show", extra).out + served.ok("servers", "list", "--json").out
    assert "TOKEN" in shown
    assert "very-secret-value" not in shown
    assert "very-secret-value" not in served.ok("servers", "export").out


def test_one_server_is_shown_in_full(served: CommandLine) -> None:
    shown = served.ok("servers", "show", "hand").out
    assert shown.startswith("hand\n")
    assert "trusted (runs without asking, except what says it is destructive)" in shown
    assert "Be kind." in shown
    assert served.ok("servers", "show", "hand", "--json").json["instructions"] == "Be kind."


def test_a_server_is_found_by_its_number_too(served: CommandLine) -> None:
    number = served.ok("servers", "show", "hand", "--json").json["id"]
    assert served.ok("servers", "show", str(number), "--json").json["name"] == "hand"


def test_an_unknown_server_is_one_line_with_a_guess(served: CommandLine) -> None:
    ran = served("servers", "show", "hnad")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: There is no server hnad. Did you mean hand?\n"


def test_a_server_can_be_switched_off_and_on(served: CommandLine, extra: str) -> None:
    for action, status in [
        ("disconnect", "disconnected"),
        ("connect", "connected"),
        ("disable", "disabled"),
        ("enable", "connected"),
        ("reconnect", "connected"),
    ]:
        ran = served.ok("servers", action, extra, "--json")
        assert ran.json["server"]["status"] == status, action


def test_all_servers_reconnect_at_once(cli: CommandLine) -> None:
    with running_daemon(cli):
        cli.ok("servers", "add", "hand", "--", *HAND)
        before = cli.ok("servers", "show", "hand", "--json").json["pid"]
        assert "hand" in cli.ok("servers", "reconnect", "--all").out
        assert cli.ok("servers", "show", "hand", "--json").json["pid"] != before


def test_editing_changes_what_is_given_and_keeps_the_rest(served: CommandLine, extra: str) -> None:
    served.ok("servers", "edit", extra, "--tool-timeout", "5000", "--trust", "full")
    server = served.ok("servers", "show", extra, "--json").json
    assert (server["tool_timeout"], server["trust"], server["status"]) == (5000, "full", "connected")
    assert list(server["env"]) == ["TOKEN"]
    served.ok("servers", "edit", extra, "--unset-env", "TOKEN")
    assert served.ok("servers", "show", extra, "--json").json["env"] == {}


def test_a_server_is_let_into_a_channel_and_out_of_it(
    served: CommandLine, extra: str, tmp_path: Path
) -> None:
    channel = served.ok("channels", "create", str(tmp_path), "--json").json["id"]
    served.ok("servers", "edit", extra, "--channel-push", str(tmp_path))
    assert served.ok("servers", "show", extra, "--json").json["channel_push"] == channel
    served.ok("servers", "edit", extra, "--tool-timeout", "6000")
    assert served.ok("servers", "show", extra, "--json").json["channel_push"] == channel
    assert served("servers", "edit", extra, "--channel-push", "nowhere-at-all").code == 1
    served.ok("servers", "edit", extra, "--channel-push", "none")
    assert served.ok("servers", "show", extra, "--json").json["channel_push"] is None


def test_editing_nothing_without_a_terminal_is_wrong_usage(served: CommandLine) -> None:
    assert served("servers", "edit", "hand").code == 2


def test_a_test_saves_nothing(served: CommandLine) -> None:
    ran = served.ok("servers", "test", "trial", "--", *HAND)
    assert ran.out.startswith("✓ trial works: 6 tools in ")
    assert "  echo\n" in ran.out
    assert [server["name"] for server in served.ok("servers", "list", "--json").json] == ["hand"]


def test_a_test_of_a_saved_server_uses_its_secrets(served: CommandLine, extra: str) -> None:
    assert served.ok("servers", "test", extra, "--json").json["ok"] is True


def test_a_test_that_fails_says_why(served: CommandLine) -> None:
    ran = served("servers", "test", "trial", "--", MISSING)
    assert ran.code == 1
    assert MISSING in ran.err


def test_a_test_that_fails_tells_its_last_words_once(served: CommandLine) -> None:
    ran = served("servers", "test", "trial", "--", sys.executable, "-c", "exit('no ' + 'config')")
    assert ran.code == 1
    assert (ran.out + ran.err).count("no config") == 1


# Shakes hands and can do nothing else.
LISTLESS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    hello = {"capabilities": {"tools": {}}, "serverInfo": {"name": "listless", "version": "1"}}
    answer = {"error": {"code": -32603, "message": "no list today"}}
    if asked["method"] == "initialize":
        answer = {"result": {"protocolVersion": asked["params"]["protocolVersion"], **hello}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.mark.requirement("L10")
def test_a_test_of_a_server_whose_tools_cannot_be_read_does_not_call_it_working(served: CommandLine) -> None:
    ran = served.ok("servers", "test", "trial", "--", sys.executable, "-c", LISTLESS)
    assert ran.out.startswith("✓ trial connects: 0 tools")
    assert "tools/list failed: no list today" in ran.err


def test_the_log_is_what_the_server_wrote(served: CommandLine) -> None:
    pid = served.ok("servers", "show", "hand", "--json").json["pid"]
    assert served.ok("servers", "log", "hand").out.startswith(f"hello from {pid}")
    assert served.ok("servers", "log", "hand", "--json").json["text"].startswith("hello")


def test_servers_come_from_json_of_other_clients_and_go_there(served: CommandLine, tmp_path: Path) -> None:
    entry = {"command": HAND[0], "args": [HAND[1]]}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"imported": entry}}))
    try:
        ran = served.ok("servers", "import", str(file))
        assert "1 server imported" in ran.out
        exported = served.ok("servers", "export", "imported").json
        assert exported["mcpServers"]["imported"]["command"] == HAND[0]
        assert set(exported["mcpServers"]) == {"imported"}
        assert "There is no server nobody" in served("servers", "export", "imported", "nobody").err
        served.ok("servers", "export", "--output", str(tmp_path / "out.json"))
        assert set(json.loads((tmp_path / "out.json").read_text())["mcpServers"]) == {"hand", "imported"}
    finally:
        served.ok("servers", "remove", "imported")


def test_a_dry_run_imports_nothing(served: CommandLine) -> None:
    text = json.dumps({"mcpServers": {"imported": {"command": "x"}}})
    assert "1 server would be imported" in served.ok("servers", "import", "-", "--dry-run", stdin=text).out
    assert [server["name"] for server in served.ok("servers", "list", "--json").json] == ["hand"]


@pytest.mark.requirement("L29")
def test_a_file_with_the_wrong_top_key_is_told_as_such(served: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpservers": {"x": {"command": "y"}}}))
    ran = served("servers", "import", str(file))
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "mcpservers" in ran.err
    assert str(file) in ran.err


def test_one_entry_is_added_from_json(served: CommandLine) -> None:
    entry = json.dumps({"command": HAND[0], "args": [HAND[1]]})
    try:
        assert "single is connected" in served.ok("servers", "add-json", "single", entry).out
    finally:
        served.ok("servers", "remove", "single")


@pytest.mark.parametrize("names", [["other"], ["single", "other"], []])
def test_only_the_server_that_is_named_is_added_from_json(served: CommandLine, names: list[str]) -> None:
    before = served.ok("servers", "list", "--json").json
    described = {"mcpServers": {one: {"command": "x"} for one in names}}
    ran = served("servers", "add-json", "single", json.dumps(described))
    assert ran.code == 1
    assert "and not single alone. Give its entry alone" in ran.err
    assert [one["id"] for one in served.ok("servers", "list", "--json").json] == [one["id"] for one in before]


def test_a_header_is_not_for_a_command(served: CommandLine) -> None:
    ran = served("servers", "add", "single", "--header", "A=b", "--", *HAND)
    assert ran.code == 2
    assert "--header goes with --url" in ran.err


def test_without_servers_the_list_says_how_to_add_one(cli: CommandLine) -> None:
    ran = cli.ok("servers", "list")
    assert "manyhands servers add" in ran.out


def test_every_command_works_without_a_daemon_too(cli: CommandLine) -> None:
    cli.ok("servers", "add", "hand", "--trust", "trusted", "--", *HAND)
    assert [server["name"] for server in cli.ok("servers", "list", "--json").json] == ["hand"]
    assert cli.ok("servers", "test", "hand").out.startswith("✓ hand works")
    cli.ok("servers", "remove", "hand")
    assert cli.ok("servers", "list", "--json").json == []


def test_a_server_between_two_attempts_is_still_in_trouble() -> None:
    server = {"name": "x", "status": "connecting", "error": "it ended"}
    assert trouble_of(server) == "it ended"
    assert trouble_of({**server, "error": None}) == ""
