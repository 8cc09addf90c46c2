"""`manyhands tools` against a real daemon and a real server process."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import ENOUGH_S, HAND, CommandLine, until

ECHO = "mcp__hand__echo"


def test_the_list_has_servers_tools_and_our_own(served: CommandLine) -> None:
    ran = served.ok("tools", "list")
    lines = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "offered" in lines[ECHO]
    assert "Says what it was told." in lines[ECHO]
    assert "read_file" in lines


def test_the_list_can_be_narrowed(served: CommandLine) -> None:
    found = served.ok("tools", "list", "--server", "hand", "--json").json
    assert {tool["serverName"] for tool in found} == {"hand"}
    assert len(found) == 6
    assert all(tool["offered"] for tool in served.ok("tools", "list", "--offered", "--json").json)


def test_a_call_prints_the_text_alone(served: CommandLine) -> None:
    ran = served.ok("tools", "call", ECHO, '{"text": "héllo\\nthere"}')
    assert (ran.out, ran.err) == ("héllo\nthere\n", "")


def test_a_call_as_json_has_the_whole_record(served: CommandLine) -> None:
    record = served.ok("tools", "call", ECHO, "-", "--json", stdin='{"text": "x"}').json
    assert record["status"] == "success"
    assert record["content"] == [{"type": "text", "text": "x"}]
    assert record["server"] == "hand"


def test_a_tool_that_fails_fails_the_command(served: CommandLine) -> None:
    ran = served("tools", "call", "mcp__hand__fail")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "it cannot be done\nand never could\n"
    assert served("tools", "call", "mcp__hand__fail", "--json").code == 1


def test_a_picture_can_be_saved(served: CommandLine, tmp_path: Path) -> None:
    ran = served.ok("tools", "call", "mcp__hand__picture", "--save", str(tmp_path))
    (saved,) = tmp_path.glob("*.png")
    assert str(saved) in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("mcp__hand__eco", "{}"), 1, "mcp__hand__echo"),
        ((ECHO, "{text: x}"), 1, "not JSON"),
        ((ECHO, "{}"), 1, "text"),
        ((ECHO, "@/nowhere.json"), 1, "/nowhere.json"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    served: CommandLine, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = served("tools", "call", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_native_tools_work_in_a_directory(served: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("remember the milk")
    ran = served.ok("tools", "call", "read_file", '{"path": "note.txt"}', "--dir", ".", cwd=tmp_path)
    assert "remember the milk" in ran.out


def test_why_tells_the_reason_and_what_a_call_would_meet(served: CommandLine) -> None:
    shown = served.ok("tools", "why", ECHO).out
    assert re.search(r"^offered +yes: server hand is connected$", shown, re.MULTILINE)
    assert re.search(r"^a call +allow: ", shown, re.MULTILINE)
    assert served.ok("tools", "why", ECHO, "--json").json["decision"]["effect"] == "allow"
    ran = served("tools", "why", "nothing_like_it")
    assert ran.code == 1
    assert ran.err.count("\n") == 1


def test_why_tells_what_depends_on_arguments_and_what_keeps_a_call_from_running(served: CommandLine) -> None:
    deny = ("--server", "hand", "--arguments", '{"text": "bad*"}')
    rule = served.ok("tools", "rules", "add", "deny", *deny, "--json").json["id"]
    shown = served.ok("tools", "why", ECHO).out
    served.ok("tools", "rules", "remove", rule)
    assert re.search(r"^a call +allow: ", shown, re.MULTILINE)
    said = rf"^some calls +deny: depending on their arguments, by the rule {rule} \(.*text=bad\*\)$"
    assert re.search(said, shown, re.MULTILINE)
    served.ok("tools", "disable", ECHO)
    shown = served.ok("tools", "why", ECHO).out
    served.ok("tools", "enable", ECHO)
    assert re.search(r"^a call +deny: this tool is switched off$", shown, re.MULTILINE)
    shown = served.ok("tools", "why", "delete_file").out
    assert re.search(r"^a call +fails: it works in a channel's directory", shown, re.MULTILINE)


def test_the_tools_of_a_server_that_is_not_there_are_no_empty_list(served: CommandLine) -> None:
    ran = served("tools", "list", "--server", "nowhere")
    assert ran.code == 1
    assert "There is no server nowhere." in ran.err


def test_search_finds_a_tool_by_what_it_does(served: CommandLine) -> None:
    assert served.ok("tools", "search", "says", "told", "--json").json[0]["fullName"] == ECHO
    assert ECHO in served.ok("tools", "search", "says told").out
    assert served.ok("tools", "search", "zzzzz").out == "No tool matches.\n"


@pytest.mark.parametrize("name", ["mcp__hand__picture", "read_image"])
def test_a_tool_can_be_switched_off_and_on(served: CommandLine, name: str, tmp_path: Path) -> None:
    def is_offered() -> bool:
        found = served.ok("tools", "list", "--json", "--dir", str(tmp_path)).json
        return bool(next(tool["offered"] for tool in found if tool["fullName"] == name))

    assert is_offered()
    assert served.ok("tools", "disable", name).out == f"✓ {name} is disabled\n"
    assert not is_offered()
    served.ok("tools", "enable", name)
    assert is_offered()


def test_rules_are_made_listed_and_revoked(served: CommandLine) -> None:
    rule = served.ok(
        "tools", "rules", "add", "deny", "--tool", "pict*", "--note", "no pictures", "--json"
    ).json
    assert "no pictures" in served.ok("tools", "rules", "list").out
    assert "deny" in served.ok("tools", "why", "mcp__hand__picture").out
    served.ok("tools", "rules", "remove", rule["id"])
    assert served.ok("tools", "rules", "list", "--json").json == []


def test_calls_are_in_the_log_and_their_results_can_be_read(served: CommandLine) -> None:
    text = "word " * 20_000
    record = served.ok("tools", "call", ECHO, "-", "--json", stdin=json.dumps({"text": text})).json
    assert record["id"] in served.ok("tools", "log", "--limit", "3").out
    assert served.ok("tools", "log", "--limit", "1", "--json").json[0]["id"] == record["id"]
    assert served.ok("tools", "result", record["id"]).out == text


def test_a_long_call_shows_that_it_goes_on(served: CommandLine) -> None:
    ran = served.ok("tools", "call", "mcp__hand__count", '{"to": 5}')
    assert ran.out == "counted to 5\n"
    assert ran.err.startswith("calling mcp__hand__count … 1.")


@pytest.mark.requirement("L12")
def test_ctrl_c_stops_the_call_and_the_server_is_told(served: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "state"
    interrupt_when_waiting(served, file)
    until(lambda: file.read_text() == "told to stop")
    assert served.ok("tools", "log", "--limit", "1", "--json").json[0]["status"] == "cancelled"


@pytest.mark.requirement("L12")
def test_ctrl_c_reaches_the_server_without_a_daemon_too(cli: CommandLine, tmp_path: Path) -> None:
    cli.ok("servers", "add", "hand", "--", *HAND)
    file = tmp_path / "state"
    interrupt_when_waiting(cli, file)
    assert file.read_text() == "told to stop"
    assert cli.ok("tools", "log", "--limit", "1", "--json").json[0]["status"] == "cancelled"


def interrupt_when_waiting(cli: CommandLine, file: Path) -> None:
    process = subprocess.Popen(
        cli.argv("tools", "call", "mcp__hand__wait", json.dumps({"file": str(file)})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
    )
    until(lambda: file.exists() and file.read_text() == "waiting")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=ENOUGH_S)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err


def test_what_the_readme_says_works_without_a_daemon(cli: CommandLine) -> None:
    cli.ok("servers", "add", "time", "--trust", "trusted", "--", "uvx", "mcp-server-time")
    assert "mcp__time__get_current_time" in cli.ok("tools", "list").out
    ran = cli.ok("tools", "call", "mcp__time__get_current_time", '{"timezone":"Asia/Tokyo"}')
    assert "Asia/Tokyo" in ran.out
