"""`manyhands run` as a process: with a daemon and without one, for people and for machines."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ENOUGH_S, CommandLine, Talk, until

ECHO = ("mcp__hand__echo", {"text": "hi there"})
LIST = ("list_directory", {"path": "."})
WRITE = ("write_file", {"path": "made.txt", "content": "new"})


def test_the_calls_the_words_and_the_sums_are_printed(talk: Talk) -> None:
    talk.model.says(["Let me look.", (ECHO, LIST)], "One file.\nThat is all.")
    ran = talk.run("what is here?")
    assert ran.code == 0, ran.err
    said, calls, answer, closing = ran.out.strip().split("\n\n")
    assert said == "Let me look."
    mcp, native = calls.split("\n")
    assert re.fullmatch(r'🔌 hand: echo text="hi there" → hi there \(\d+ ms\)', mcp)
    assert re.fullmatch(r"🔧 list_directory path=. → notes.txt 9 \(\d+ ms\)", native)
    assert answer == "One file.\nThat is all."
    assert re.fullmatch(r"✓ \S+ · [\d.]+ m?s · 2 iterations · 20 tokens in, 10 out", closing)
    assert ran.err == ""


def test_words_that_were_not_quoted_are_one_prompt(talk: Talk) -> None:
    talk.model.says("Yes.")
    assert talk.run("is", "it", "so?").code == 0
    assert talk.model.asked[0]["messages"][-1]["content"] == "is it so?"


def test_the_prompt_can_come_through_a_pipe_and_the_answer_go_into_one(talk: Talk) -> None:
    talk.model.says((ECHO,), "Read.")
    ran = talk.run("-", "--quiet", stdin="a long text\n")
    assert (ran.code, ran.out, ran.err) == (0, "Read.\n", "")
    assert "a long text" in json.dumps(talk.model.asked[0]["messages"][-1])


def test_machines_get_the_run_and_nothing_else(talk: Talk) -> None:
    talk.model.says(["Well.", (ECHO,)], "Done.")
    ran = talk.run("go", "--json")
    assert ran.code == 0
    assert (ran.json["status"], ran.json["text"], ran.json["iterations"]) == ("completed", "Done.", 2)
    assert ran.json["usage"] == {"input": 20, "output": 10, "cached": 0}
    (call,) = ran.json["tool_calls"]
    assert (call["tool"], call["server"], call["status"]) == ("echo", "hand", "success")


def test_what_would_ask_is_denied_where_nobody_can_be_asked(talk: Talk) -> None:
    talk.model.says((WRITE,), "I could not.")
    ran = talk.run("write it")
    assert ran.code == 0
    assert "🔧 write_file path=made.txt, content=new ✗ denied" in ran.out
    assert not (talk.directory / "made.txt").exists()
    assert "nobody can be asked" in json.dumps(talk.model.asked[1])


def test_a_tool_that_is_allowed_needs_no_approval(talk: Talk) -> None:
    talk.model.says((WRITE,), "Written.")
    assert talk.run("write it", "--allow", "write_*").code == 0
    made = talk.directory / "made.txt"
    assert made.read_text() == "new"
    made.unlink()


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("echo", "matches no tool: a server's tool needs its full name. Give mcp__hand__echo."),
        ("eco", "matches no tool. `manyhands tools list` shows the names."),
    ],
)
def test_a_pattern_that_can_allow_nothing_is_refused_before_the_run(
    talk: Talk, pattern: str, told: str
) -> None:
    ran = talk.run("write it", "--allow", pattern)
    assert (ran.code, ran.out, ran.err) == (1, "", f"error: --allow {pattern} {told}\n")


def test_a_pattern_for_a_server_that_is_not_known_yet_is_told_and_the_run_goes_on(talk: Talk) -> None:
    talk.model.says("Yes.")
    ran = talk.run("is it so?", "--allow", "mcp__later__*", "--allow", "mcp__hand__*")
    assert ran.code == 0
    assert ran.err.startswith("warning: --allow mcp__later__* matches no tool that is known now.")
    assert "mcp__hand" not in ran.err


def test_an_attached_file_reaches_the_model(talk: Talk) -> None:
    talk.model.says("Milk.")
    ran = talk.run("what shall I buy?", "--attach", "notes.txt", "--attach", "./notes.txt")
    assert ran.code == 0
    assert json.dumps(talk.model.asked[0]).count("buy milk") == 2


def test_a_file_that_is_not_there_is_told_before_anything_starts(talk: Talk) -> None:
    talk.model.says("Hm.")
    ran = talk.run("look", "--attach", "gone.txt")
    assert (ran.code, talk.model.asked) == (1, [])
    assert "gone.txt: No such file" in ran.err


def test_a_servers_prompt_and_resource_can_be_named(talk: Talk) -> None:
    talk.model.says("Hello Ada.", "Blue.")
    assert talk.run("/hand:greet Ada").code == 0
    assert talk.model.asked[0]["messages"][-1]["content"] == "Greet Ada warmly."
    assert talk.run("what does @hand:note://one say?").code == 0
    assert "It is blue." in json.dumps(talk.model.asked[1]["messages"][-1])


def test_a_model_that_refuses_is_one_line_and_exit_code_1(talk: Talk) -> None:
    talk.model.says(401)
    ran = talk.run("go")
    assert ran.code == 1
    assert "✗ failed" in ran.out
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) == 1
    for option in ("--json", "--quiet"):
        talk.model.says(401)
        ran = talk.run("go", option)
        assert ran.code == 1
        assert len(ran.err.splitlines()) == 1
        assert json.loads(ran.out)["status"] == "failed" if option == "--json" else ran.out == ""


def test_the_limit_of_iterations_is_told_and_no_success(talk: Talk) -> None:
    talk.model.says((ECHO,))
    ran = talk.run("go on and on", "--max-iterations", "1")
    assert ran.code == 1
    assert "Stopped after 1 iteration" in ran.out
    assert "■ limit reached" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "PROMPT"),
        (("x", "--max-iterations", "51"), 2, "1<=x<=50"),
        (("x", "--channel", "a", "--dir", "."), 2, "not both"),
        (("x", "--channel", "nowhere"), 1, "manyhands channels list"),
        (("x", "--model", "nobody"), 1, "manyhands models list"),
        (("  ",), 1, "empty"),
    ],
)
def test_wrong_use_is_told(talk: Talk, arguments: tuple[str, ...], code: int, said: str) -> None:
    ran = talk.run(*arguments)
    assert ran.code == code, ran
    assert said in ran.err


@pytest.mark.parametrize(("signal_number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ending_the_command_stops_the_run_and_its_server_is_told(
    talk: Talk, tmp_path: Path, signal_number: signal.Signals, code: int
) -> None:
    told = tmp_path / "told"
    talk.model.says((("mcp__hand__wait", {"file": str(told)}),), "Never said.")
    with subprocess.Popen(
        talk.cli.argv("run", "wait", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=talk.cli.environment,
        cwd=talk.directory,
    ) as process:
        until(lambda: told.exists() and told.read_text() == "waiting")
        process.send_signal(signal_number)
        out, _ = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == code
    until(lambda: told.read_text() == "told to stop")
    if signal_number == signal.SIGINT:
        assert json.loads(out)["status"] == "cancelled"
    until(lambda: talk.cli.ok("runs", "list", "--limit", "1", "--json").json[0]["status"] == "cancelled")


def test_a_conversation_is_that_of_the_directory(talk: Talk, tmp_path: Path) -> None:
    talk.model.says("One.", "Two.", "Three.")
    talk.cli.ok("run", "first", "--dir", str(tmp_path))
    talk.cli.ok("run", "second", cwd=tmp_path)
    talk.cli.ok("run", "third", "--channel", tmp_path.name, cwd=talk.directory)
    said = [message["content"] for message in talk.model.asked[2]["messages"] if message["role"] == "user"]
    assert said == ["first", "second", "third"]


# --- the demo model and a real server, with and without a daemon


def test_it_works_with_no_key_no_server_and_no_daemon(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello")
    ran = cli.ok("run", "which files are in this directory?", "--model", "demo", cwd=tmp_path)
    assert re.search(r"^🔧 list_directory → .*hello\.txt.* \(\d+ ms\)$", ran.out, re.MULTILINE)
    assert "demo model" in ran.out
    assert re.search(r"^✓ demo · .* · 2 iterations", ran.out, re.MULTILINE)


def test_a_servers_tool_is_marked_by_a_plug_with_and_without_a_daemon(
    talk: Talk, cli: CommandLine, tmp_path: Path
) -> None:
    for line in (talk.cli, cli):
        line.ok("servers", "add", "time", "--trust", "trusted", "--", sys.executable, "-m", "mcp_server_time")
        ran = line.ok("run", "what time is it in Tokyo?", "--model", "demo", cwd=tmp_path)
        assert "🔌 time: get_current_time timezone=Asia/Tokyo → " in ran.out
        assert "+09:00" in ran.out
        line.ok("servers", "remove", "time")
