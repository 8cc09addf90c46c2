"""`manyhands approvals` against a real daemon; the questions come from a real server."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cli.conftest import ENOUGH_S, CommandLine


@contextmanager
def asking(cli: CommandLine) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """A call that waits for a person, without a terminal of its own."""
    process = subprocess.Popen(
        cli.argv("tools", "call", "mcp__hand__ask"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
    )
    deadline = time.monotonic() + ENOUGH_S
    while not (waiting := cli.ok("approvals", "list", "--json").json):
        assert process.poll() is None
        assert time.monotonic() < deadline
    try:
        yield process, waiting[0]
    finally:
        process.terminate()
        process.communicate(timeout=ENOUGH_S)


def said(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=ENOUGH_S)
    assert out, err
    return json.loads(out)


def test_an_empty_inbox_says_so(served: CommandLine) -> None:
    assert served.ok("approvals", "list").out == "Nothing waits for you.\n"
    ran = served("approvals", "answer", "--approve")
    assert ran.code == 1
    assert ran.err.startswith("error: Nothing waits for you.")


def test_a_servers_question_is_answered_from_another_terminal(served: CommandLine) -> None:
    with asking(served) as (process, approval):
        assert approval["kind"] == "elicitation"
        assert "Who are you?" in served.ok("approvals", "list").out
        response = '{"name": "Ada", "colour": "red"}'
        ran = served.ok("approvals", "answer", approval["id"][-6:], "--approve", "--response", response)
        assert ran.out.startswith("✓ approved: ")
        assert said(process) == {"action": "accept", "content": {"name": "Ada", "colour": "red"}}


def test_a_question_is_rejected_and_a_second_answer_is_too_late(served: CommandLine) -> None:
    with asking(served) as (process, approval):
        served.ok("approvals", "answer", "--reject")
        assert said(process)["action"] == "decline"
    ran = served("approvals", "answer", approval["id"], "--approve")
    assert ran.code == 1
    assert "already rejected" in ran.err
    assert approval["id"] in served.ok("approvals", "list", "--state", "rejected").out


def test_without_a_terminal_the_answer_must_be_given(served: CommandLine) -> None:
    with asking(served):
        ran = served("approvals", "answer")
        assert ran.code == 2
        assert "--approve or --reject" in ran.err


def test_a_response_that_is_no_json_is_refused(served: CommandLine) -> None:
    with asking(served) as (_, approval):
        ran = served("approvals", "answer", approval["id"], "--approve", "--response", "{name: Ada}")
        assert ran.code == 1
        assert "--response is not JSON" in ran.err
