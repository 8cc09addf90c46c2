"""`manyhands chat` at a terminal: words and calls as they come, keys while it works, commands at rest."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from manyhands.cli.terminal import width_of
from tests.cli.conftest import CommandLine, Talk, running_daemon, until
from tests.cli.model_endpoint import running_endpoint
from tests.cli.pseudo_terminal import Terminal, terminal

ESCAPE = "\x1b"
UP = "\x1b[A"
CTRL_D = "\x04"
CTRL_C = "\x03"
WRITE = ("write_file", {"path": "made.txt", "content": "new"})
ECHO = ("mcp__hand__echo", {"text": "hi there"})


@contextmanager
def chatting(
    cli: CommandLine, directory: Path, *arguments: str, columns: int = 80, has_colour: bool = True
) -> Iterator[Terminal]:
    argv = cli.argv("chat", "--dir", str(directory), *arguments)
    env = {**cli.environment, "TERM": "xterm-256color"}
    with terminal(argv, env, columns, has_colour=has_colour) as opened:
        opened.expect("/help")
        at_rest(opened)
        yield opened


@pytest.fixture
def chat(talk: Talk, tmp_path: Path) -> Iterator[Terminal]:
    """A new conversation."""
    with chatting(talk.cli, tmp_path) as opened:
        yield opened


def at_rest(chat: Terminal) -> None:
    """The line is asked for; while a run is shown there is no empty row above it."""
    chat.expect("\r\n\r\n› ")


def leave(chat: Terminal, keys: str = "/quit\n", code: int = 0) -> None:
    chat.press(keys)
    assert chat.end() == code
    assert chat.is_as_usual
    assert "Traceback" not in chat.text


def roles(talk: Talk, request: int) -> list[str]:
    return [message["role"] for message in talk.model.asked[request]["messages"]]


def test_a_conversation_streams_shows_its_calls_and_goes_on(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says((ECHO,), ["It said\n", gate, "hi there."], "Gladly.")
    chat.type("what does it say?")
    chat.expect('🔌 hand: echo text="hi there" → hi there (')
    chat.expect("It said")
    gate.set()
    chat.expect("hi there.")
    chat.expect("✓ ")
    at_rest(chat)
    chat.type("thank you")
    chat.expect("Gladly.")
    at_rest(chat)
    leave(chat)
    assert roles(talk, 2) == ["system", "user", "assistant", "tool", "assistant", "user"]


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_a_key_stops_the_run_and_the_conversation_goes_on(
    talk: Talk, chat: Terminal, tmp_path: Path, key: str
) -> None:
    told = tmp_path / "told"
    talk.model.says((("mcp__hand__wait", {"file": str(told)}),), "Never said.")
    chat.type("wait")
    chat.expect("Esc stops")
    until(lambda: told.exists() and told.read_text() == "waiting")
    chat.press(key)
    chat.expect("✗ cancelled")
    chat.expect("■ stopped")
    at_rest(chat)
    until(lambda: told.read_text() == "told to stop")
    assert talk.cli.ok("runs", "show", "--json").json["status"] == "cancelled"
    talk.model.says("Here I am.")
    chat.type("still there?")
    chat.expect("Here I am.")
    at_rest(chat)
    leave(chat, CTRL_D)


def test_stopping_ends_the_words_of_the_model_too(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says(["A long story begins\n", gate, "and never ends."])
    chat.type("tell me a story")
    chat.expect("A long story begins")
    chat.press(ESCAPE)
    chat.expect("■ stopped")
    at_rest(chat)
    gate.set()
    leave(chat)
    assert "never ends" not in chat.text


def test_an_arrow_key_is_no_escape(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, "Done."])
    chat.type("go")
    chat.expect("Esc stops")
    chat.press("\x1b[D\x1b[C\x1bOB")
    chat.press("typed")
    chat.expect("› typed")
    gate.set()
    chat.expect("Done.")
    at_rest(chat)
    leave(chat, "\x15/quit\n")


def test_a_message_joins_the_run_at_its_next_iteration(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, (ECHO,)], "Both done.")
    chat.type("do this")
    chat.expect("Esc stops")
    chat.type("and that")
    chat.expect("› and that  (to be read, ↑ edits)")
    gate.set()
    chat.expect("› and that")
    chat.expect("Both done.")
    at_rest(chat)
    leave(chat)
    assert len(talk.model.asked) == 2
    assert talk.model.asked[1]["messages"][-1]["content"] == "and that"


def test_a_message_can_be_taken_back_and_sent_otherwise(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, (ECHO,)], "Done.")
    chat.type("do this")
    chat.expect("Esc stops")
    chat.type("and tha")
    chat.expect("to be read")
    chat.press(UP)
    chat.expect("\n› and tha")
    chat.press("\x7f\x7f\x7fmore\n")
    chat.expect("› and more  (to be read")
    gate.set()
    chat.expect("Done.")
    at_rest(chat)
    leave(chat)
    said = [message["content"] for message in talk.model.asked[1]["messages"] if message["role"] == "user"]
    assert said == ["do this", "and more"]


def test_what_is_written_is_edited_where_the_cursor_is(talk: Talk, chat: Terminal) -> None:
    talk.model.says("Read.")
    chat.press("wrld!\x1b[D\x1b[D\x1b[D\x1b[Do\x01hello \x05\n")
    chat.expect("Read.")
    at_rest(chat)
    leave(chat)
    assert talk.model.asked[0]["messages"][-1]["content"] == "hello world!"


def test_a_message_that_came_too_late_gets_a_run_of_its_own(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says(["First.\n", gate], "Second.")
    chat.type("one")
    chat.expect("First.")
    chat.type("two")
    chat.expect("to be read")
    gate.set()
    chat.expect("✓ ")
    chat.expect("› two")
    chat.expect("Second.")
    chat.expect("✓ ")
    at_rest(chat)
    leave(chat)


def test_what_was_half_typed_is_there_for_the_next_line(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, "Done."], "Completed.")
    chat.type("go")
    chat.expect("Esc stops")
    chat.press("half a")
    chat.expect("› half a")
    gate.set()
    chat.expect("Done.")
    at_rest(chat)
    chat.type(" line")
    chat.expect("Completed.")
    at_rest(chat)
    leave(chat)
    assert talk.model.asked[1]["messages"][-1]["content"] == "half a line"


def test_a_pasted_text_is_one_message(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, (ECHO,)], "Read.")
    chat.press("\x1b[200~a\r\nb\r\n\x1b[201~")
    chat.expect("› a\r\n  b")
    chat.press("\n")
    chat.expect("Esc stops")
    chat.press("\x1b[200~one\ntwo\x1b[201~")
    chat.expect("› one\r\n  two")
    chat.press("\n")
    chat.expect("› one two  (to be read")
    gate.set()
    chat.expect("Read.")
    at_rest(chat)
    leave(chat)
    said = [message["content"] for message in talk.model.asked[1]["messages"] if message["role"] == "user"]
    assert said == ["a\nb", "one\ntwo"]


def test_an_approval_is_asked_while_keys_are_heard(talk: Talk, chat: Terminal, tmp_path: Path) -> None:
    gate = threading.Event()
    talk.model.says([gate, (WRITE,)], [gate, "Written."])
    chat.type("write it")
    chat.expect("Esc stops")
    chat.press("half")
    chat.expect("› half")
    gate.set()
    chat.expect("Run write_file?")
    chat.expect('"content": "new"')
    chat.expect("[n]o")
    gate.clear()
    chat.type("yup")
    assert not (tmp_path / "made.txt").exists(), "only a choice is an answer"
    chat.expect("[n]o")
    chat.type("y")
    chat.expect("🔧 write_file path=made.txt, content=new → ")
    chat.expect("Esc stops")
    chat.press(" heard")
    chat.expect("› half heard")
    gate.set()
    chat.expect("Written.")
    at_rest(chat)
    leave(chat, "\x15/quit\n")
    assert (tmp_path / "made.txt").read_text() == "new"


def test_an_answer_for_the_session_is_asked_for_once(talk: Talk, chat: Terminal) -> None:
    talk.model.says((WRITE,), (WRITE,), "Twice.")
    chat.type("write it")
    chat.expect("[n]o")
    chat.type("session")
    chat.expect("Twice.")
    at_rest(chat)
    leave(chat)
    assert chat.text.count("Run write_file?") == 1
    for rule in talk.cli.ok("tools", "rules", "list", "--json").json:
        talk.cli.ok("tools", "rules", "remove", rule["id"])


def test_a_refusal_has_its_reason(talk: Talk, chat: Terminal, tmp_path: Path) -> None:
    talk.model.says((WRITE,), (WRITE,), "Then not.")
    chat.type("write it")
    chat.expect("[n]o")
    chat.type("n")
    chat.expect("Why not?")
    chat.type("a secret place")
    chat.expect("✗ denied")
    chat.expect("[n]o")
    chat.type("no, as I said")
    chat.type("n as I said")
    chat.expect("Then not.")
    at_rest(chat)
    leave(chat)
    assert not (tmp_path / "made.txt").exists()
    assert "a secret place" in json.dumps(talk.model.asked[1])
    assert "as I said" in json.dumps(talk.model.asked[2])


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_a_key_at_a_question_stops_the_run(talk: Talk, chat: Terminal, key: str) -> None:
    talk.model.says((WRITE,), "Never said.")
    chat.type("write it")
    chat.expect("[n]o")
    chat.press(key)
    chat.expect("■ stopped")
    at_rest(chat)
    leave(chat)
    assert talk.cli.ok("runs", "show", "--json").json["status"] == "cancelled"
    assert not talk.cli.ok("approvals", "list", "--json").json


def test_a_question_that_is_answered_elsewhere_goes_away(talk: Talk, chat: Terminal) -> None:
    talk.model.says((WRITE,), "Written.")
    chat.type("write it")
    chat.expect("[n]o")
    (asked,) = talk.cli.ok("approvals", "list", "--json").json
    talk.cli.ok("approvals", "answer", asked["id"], "--approve")
    chat.expect("Written.")
    at_rest(chat)
    leave(chat)


def test_a_form_is_asked_and_the_conversation_goes_on(talk: Talk, chat: Terminal) -> None:
    talk.model.says((("mcp__hand__ask", {}),), "It declined.")
    chat.type("ask me")
    chat.expect("Answer it?")
    chat.type("n")
    chat.expect("It declined.")
    at_rest(chat)
    leave(chat)


def test_commands_say_what_there_is(talk: Talk, chat: Terminal) -> None:
    chat.type("/help")
    chat.expect("@SERVER:URI")
    at_rest(chat)
    chat.type("/tools")
    chat.expect("read_file  Read a text file")
    chat.expect("mcp__hand__echo  Says what")
    at_rest(chat)
    chat.type("/servers")
    chat.expect("hand  connected  6 tools")
    at_rest(chat)
    chat.type("/model")
    chat.expect("script")
    at_rest(chat)
    chat.type("/model nobody")
    chat.expect("error: ")
    at_rest(chat)
    chat.type("/nonsense")
    chat.expect("There is no command /nonsense. /help shows them all.")
    at_rest(chat)
    chat.type("/model demo")
    chat.expect("Asking demo from now on.")
    at_rest(chat)
    chat.type("which files are in this directory?")
    chat.expect("🔧 list_directory → ")
    chat.expect("✓ demo · ")
    at_rest(chat)
    leave(chat, "/exit\n")


def test_a_new_conversation_knows_nothing_and_the_old_one_all(talk: Talk, chat: Terminal) -> None:
    talk.model.says("One.", "Two.", "Three.")
    chat.type("first")
    chat.expect("One.")
    at_rest(chat)
    chat.type("/new aside")
    chat.expect("A new conversation, aside")
    at_rest(chat)
    chat.type("second")
    chat.expect("Two.")
    at_rest(chat)
    chat.type("/channel")
    chat.expect("* aside")
    at_rest(chat)
    chat.press("/channel test_a_n\t\n")
    chat.expect("goes on after: One.")
    at_rest(chat)
    chat.type("third")
    chat.expect("Three.")
    at_rest(chat)
    leave(chat)
    said = [
        [message["content"] for message in request["messages"] if message["role"] == "user"]
        for request in talk.model.asked
    ]
    assert said == [["first"], ["second"], ["first", "third"]]


def test_files_prompts_and_resources_go_with_a_message(talk: Talk, chat: Terminal) -> None:
    talk.model.says("Milk.", "Hello Ada.", "Blue.")
    chat.type(f"/attach {talk.directory / 'gone.txt'}")
    chat.expect("error:")
    chat.expect("gone.txt")  # what follows may be on the next line
    at_rest(chat)
    chat.type(f"/attach {talk.directory / 'notes.txt'}")
    chat.expect("notes.txt (text/plain, 9 B) goes with your next message.")
    at_rest(chat)
    chat.type("what shall I buy?")
    chat.expect("Milk.")
    at_rest(chat)
    chat.press("/hand:gr\t Ada\n")
    chat.expect("/hand:greet")
    chat.expect("Hello Ada.")
    at_rest(chat)
    chat.type("what is @hand:note://one?")
    chat.expect("Blue.")
    at_rest(chat)
    leave(chat)
    asked = [json.dumps(request["messages"][-1]) for request in talk.model.asked]
    assert "buy milk" in asked[0]
    assert "Greet Ada warmly." in asked[1]
    assert "It is blue." in asked[2]
    assert "buy milk" not in asked[2]


def test_a_failure_is_told_and_the_conversation_goes_on(talk: Talk, chat: Terminal) -> None:
    talk.model.says(401, "Better now.")
    chat.type("go")
    chat.expect("✗ failed")
    chat.expect("error: ")
    at_rest(chat)
    chat.type("again")
    chat.expect("Better now.")
    at_rest(chat)
    leave(chat)


def test_leaving_while_it_works_stops_it(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says([gate, "Never said."])
    chat.type("go")
    chat.expect("Esc stops")
    leave(chat)
    gate.set()
    assert "■ stopped" in chat.text


def test_ctrl_c_at_rest_asks_once_and_then_leaves(talk: Talk, tmp_path: Path) -> None:
    with chatting(talk.cli, tmp_path) as opened:
        opened.press("half a line\x03")
        opened.expect("Ctrl-C again leaves")
        at_rest(opened)
        leave(opened, "\x03", 130)


@pytest.mark.parametrize("busy", [True, False])
def test_the_terminal_is_put_back_when_the_command_is_ended(talk: Talk, tmp_path: Path, busy: bool) -> None:
    gate = threading.Event()
    talk.model.says([gate, "Never said."])
    with chatting(talk.cli, tmp_path) as opened:
        if busy:
            opened.type("go")
            opened.expect("Esc stops")
        opened.process.send_signal(signal.SIGTERM)
        assert opened.end() == 143
        assert opened.is_as_usual
    gate.set()


def test_what_was_said_before_is_recalled_and_lines_too(talk: Talk, tmp_path: Path) -> None:
    talk.model.says("I shall remember.", "You did.")
    with chatting(talk.cli, tmp_path) as opened:
        opened.type("remember the milk")
        opened.expect("I shall remember.")
        at_rest(opened)
        leave(opened, CTRL_D)
    with chatting(talk.cli, tmp_path) as opened:
        assert "goes on after: I shall remember." in opened.text
        opened.press(UP)
        opened.expect("remember the milk")
        opened.type("")
        opened.expect("You did.")
        at_rest(opened)
        leave(opened, CTRL_D)


def test_an_answer_is_set_and_comes_without_delay(talk: Talk, chat: Terminal) -> None:
    gate = threading.Event()
    talk.model.says(["# A title\n", "\n- **one**\n", gate, "- `two`\n"])
    chat.type("list")
    chat.expect("A title")
    chat.expect(" • one")
    gate.set()
    chat.expect(" • two")
    chat.expect("✓ ")
    at_rest(chat)
    leave(chat)
    assert "\x1b[1mone\x1b[0m" in chat.seen


@pytest.mark.parametrize("columns", [30, 60])
def test_a_narrow_terminal_without_colour_shows_it_all(talk: Talk, tmp_path: Path, columns: int) -> None:
    talk.model.says((ECHO, WRITE), "- **many** words " + "that go on " * 9, "Bye.")
    with chatting(talk.cli, tmp_path, columns=columns, has_colour=False) as opened:
        opened.type("a long question " * 9)
        opened.expect("[n]o")
        opened.type("y")
        opened.expect("go on")
        opened.expect("✓ ")
        at_rest(opened)
        leave(opened)
    assert not re.search(r"\x1b\[[0-9;]*m", opened.seen)
    before, _, card = opened.text.partition("? Run write_file?")
    rows = (before + card[card.index("Allow?") :]).replace("\r", "\n").splitlines()
    assert max(map(width_of, rows)) < columns


def test_a_terminal_that_cannot_move_its_cursor_will_do(talk: Talk, tmp_path: Path) -> None:
    talk.model.says((ECHO,), "Plain words.")
    argv = talk.cli.argv("chat", "--dir", str(tmp_path))
    with terminal(argv, {**talk.cli.environment, "TERM": "dumb"}) as opened:
        opened.expect("› ")
        opened.type("go")
        opened.expect("hand: echo")
        opened.expect("Plain words.")
        opened.expect("› ")
        opened.press(CTRL_D)
        assert opened.end() == 0
    assert "\x1b" not in opened.seen


def test_lines_from_a_pipe_are_a_conversation(talk: Talk, tmp_path: Path) -> None:
    talk.model.says("One.", 401, "Three.")
    ran = talk.cli("chat", "--dir", str(tmp_path), stdin="first\n\nsecond\nthird\n/quit\nnever\n")
    assert ran.out.index("One.") < ran.out.index("✗ failed") < ran.out.index("Three.")
    assert ran.code == 1, "one of them failed"
    assert len(talk.model.asked) == 3


def test_a_daemon_that_dies_is_told_and_the_prompt_stays(tmp_path: Path) -> None:
    cli = CommandLine(tmp_path / "home")
    gate = threading.Event()
    with running_endpoint() as model, ExitStack() as stack:
        port = urlsplit(stack.enter_context(running_daemon(cli))).port
        base = ("--provider", "openai-compatible", "--model", "m", "--base-url", model.url, "--default")
        cli.ok("models", "add", "script", *base)
        model.says(["Once upon\n", gate], "A time.", "And again.")
        opened = stack.enter_context(chatting(cli, tmp_path))
        opened.type("a story")
        opened.expect("Once upon")
        os.kill(cli.ok("status", "--json").json["pid"], signal.SIGKILL)
        opened.expect("The daemon is gone; waiting for it")
        opened.press("typed meanwhile")
        opened.expect("› typed meanwhile")
        opened.press(ESCAPE)
        opened.expect("error: The daemon ")
        opened.expect("`manyhands up`")
        at_rest(opened)
        opened.type("")
        opened.expect("error: ")
        at_rest(opened)
        gate.set()
        stack.enter_context(running_daemon(cli, "--port", str(port)))
        opened.type("once more")
        opened.expect("And again.")
        at_rest(opened)
        leave(opened)


def test_it_works_without_a_daemon(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello")
    with chatting(cli, tmp_path, "--model", "demo") as opened:
        opened.type("which files are in this directory?")
        opened.expect("🔧 list_directory → ")
        opened.expect("hello.txt")
        opened.expect("✓ demo")
        at_rest(opened)
        leave(opened)
