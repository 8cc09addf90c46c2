"""`manyhands run` at a terminal: rows that change, questions, Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from manyhands.cli.terminal import width_of
from tests.cli.conftest import HAND, Talk, until
from tests.cli.pseudo_terminal import Terminal, terminal

WRITE = ("write_file", {"path": "made.txt", "content": "new"})


@contextmanager
def running(talk: Talk, *arguments: str, columns: int = 80) -> Iterator[Terminal]:
    argv = talk.cli.argv("run", *arguments, "--dir", str(talk.directory))
    with terminal(argv, {**talk.cli.environment, "TERM": "xterm-256color"}, columns) as opened:
        yield opened


def test_a_call_shows_how_long_it_takes_and_what_its_server_tells(talk: Talk) -> None:
    talk.model.says((("mcp__hand__count", {"to": 5}),), "Counted.")
    with running(talk, "count") as opened:
        opened.expect("🔌 hand: count to=5 ")
        opened.expect("of 5: at ")
        opened.expect("1 call · ")
        opened.expect("Ctrl-C stops")
        opened.expect("🔌 hand: count to=5 → counted to 5 (1.")
        opened.expect("Counted.")
        assert opened.end() == 0
    assert "\x1b[32m✓\x1b[0m" in opened.seen


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_every_row_fits_the_terminal(talk: Talk, columns: int) -> None:
    long = {"text": "many words " * 30}
    talk.model.says((("mcp__hand__echo", long), ("mcp__hand__fail", {})), "and many more " * 30)
    with running(talk, "go", columns=columns) as opened:
        assert opened.end() == 0
    rows = opened.text.replace("\r", "\n").splitlines()
    assert max(map(width_of, rows)) < columns
    assert "✗ error" in opened.text
    assert "\x1b[31m✗ error" in opened.seen


def test_calls_stay_in_the_order_in_which_they_were_asked_for(talk: Talk, tmp_path: Path) -> None:
    slow, quick = ("mcp__hand__count", {"to": 2}), ("mcp__hand__echo", {"text": "quick"})
    talk.model.says((slow, quick), "Both.")
    with running(talk, "go") as opened:
        assert opened.end() == 0
    stayed = opened.text.rindex("hand: count to=2 →")
    assert stayed < opened.text.index("hand: echo text=quick →", stayed)


@pytest.mark.parametrize("answer", ["y", "s", "t", "v"])
def test_a_question_is_asked_and_the_answer_obeyed(talk: Talk, answer: str) -> None:
    made = talk.directory / "made.txt"
    talk.model.says((WRITE,), (WRITE,), "Twice.")
    with running(talk, "write") as opened:
        opened.expect("Run write_file?")
        opened.expect('"content": "new"')
        opened.expect("[n]o")
        opened.type(answer)
        if answer == "y":
            opened.expect("Run write_file?")
            opened.expect("[n]o")
            opened.type(answer)
        assert opened.end() == 0
    assert opened.text.count("Run write_file?") == (2 if answer == "y" else 1)
    assert made.read_text() == "new"
    made.unlink()
    for rule in talk.cli.ok("tools", "rules", "list", "--json").json:
        talk.cli.ok("tools", "rules", "remove", rule["id"])


def test_a_refusal_reaches_the_model_with_its_reason(talk: Talk) -> None:
    talk.model.says((WRITE,), "Then not.")
    with running(talk, "write") as opened:
        opened.expect("[n]o")
        opened.type("n")
        opened.expect("Why not?")
        opened.type("it is a secret place")
        assert opened.end() == 0
    assert "✗ denied" in opened.text
    assert "it is a secret place" in json.dumps(talk.model.asked[1])


def test_always_settles_the_other_questions_too(talk: Talk) -> None:
    talk.cli.ok("servers", "add", "stranger", "--", *HAND)
    both = tuple(("mcp__stranger__echo", {"text": text}) for text in ("one", "two"))
    talk.model.says(both, "Both.")
    with running(talk, "go") as opened:
        opened.expect("[n]o")
        opened.type("v")
        assert opened.end() == 0
    assert opened.text.count("Allow?") == 1
    assert len(re.findall(r"stranger: echo text=(?:one|two) → (?:one|two) ", opened.text)) >= 2
    talk.cli.ok("servers", "remove", "stranger")


def test_a_servers_question_is_asked_during_a_run(talk: Talk) -> None:
    talk.model.says((("mcp__hand__ask", {}),), "It declined.")
    with running(talk, "ask") as opened:
        opened.expect("Who are you?")
        opened.expect("Answer it?")
        opened.type("n")
        assert opened.end() == 0
    assert '"decline"' in json.dumps(talk.model.asked[1]["messages"][-1]).replace("\\", "")


def test_ctrl_c_at_a_question_stops_the_run(talk: Talk) -> None:
    talk.model.says((WRITE,), "Never said.")
    with running(talk, "write") as opened:
        opened.expect("[n]o")
        assert opened.interrupt() == 130
    assert "■ stopped" in opened.text
    assert "Traceback" not in opened.text
    assert talk.cli.ok("runs", "show", "--json").json["status"] == "cancelled"


def test_ctrl_c_stops_a_call_that_hangs(talk: Talk, tmp_path: Path) -> None:
    told = tmp_path / "told"
    talk.model.says((("mcp__hand__wait", {"file": str(told)}),), "Never said.")
    with running(talk, "wait") as opened:
        opened.expect("Ctrl-C stops")
        until(lambda: told.exists() and told.read_text() == "waiting")
        opened.process.send_signal(signal.SIGINT)
        assert opened.end() == 130
    assert "hand: wait" in opened.text
    assert "✗ cancelled" in opened.text
    assert "■ stopped" in opened.text


def test_a_stranger_cannot_move_the_cursor(talk: Talk) -> None:
    talk.model.says((("mcp__hand__echo", {"text": "\x1b[2Jgone"}),), "\x1b]0;title\x07 and \x1b[2J too")
    with running(talk, "go") as opened:
        assert opened.end() == 0
    assert "\x1b[2J" not in opened.seen
    assert "\x1b]0;" not in opened.seen
    assert "\\x1b[2J too" in opened.text


def test_quiet_asks_and_prints_the_answer_alone(talk: Talk) -> None:
    talk.model.says((WRITE,), "Then not.")
    with running(talk, "write", "--quiet") as opened:
        opened.expect("[n]o")
        opened.type("n")
        opened.expect("Why not?")
        opened.type("")
        opened.expect("Then not.")
        assert opened.end() == 0
    assert "🔧" not in opened.text
