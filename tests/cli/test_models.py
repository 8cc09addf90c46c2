"""`manyhands models` against a real daemon and a real model server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import CommandLine
from tests.models.aimock import Aimock, running_aimock

SECRET = "sk-very-secret-0123456789"


@pytest.fixture(scope="module")
def aimock() -> Iterator[Aimock]:
    with running_aimock() as running:
        running.answer({"content": "ready"})
        yield running


def add(cli: CommandLine, aimock: Aimock, name: str, *more: str, stdin: str | None = None) -> str:
    address = f"{aimock.url}/v1"
    base = ("--provider", "openai-compatible", "--model", "m", "--base-url", address)
    return cli.ok("models", "add", name, *base, *more, stdin=stdin).out


def test_a_model_is_added_chosen_tried_out_and_removed(served: CommandLine, aimock: Aimock) -> None:
    assert add(served, aimock, "one") == "✓ one is saved and the default\n"
    assert add(served, aimock, "two", "--tool-call", "0", "--context", "9000", "--fallback", "one")
    assert served.ok("models", "set-default", "two").out == "✓ two is the default\n"
    found = {model["name"]: model for model in served.ok("models", "list", "--json").json}
    assert (found["two"]["default"], found["two"]["tool_call"], found["two"]["context"]) == (True, 0, 9000)
    assert found["one"]["default"] is False
    assert "answered in" in served.ok("models", "test").out
    assert served.ok("models", "test", "one", "--json").json["text"] == "ready"
    for name in ("two", "one"):
        served.ok("models", "remove", name)
    assert "two" not in served.ok("models", "list").out


def test_a_key_can_come_through_a_pipe_and_is_not_shown(served: CommandLine, aimock: Aimock) -> None:
    add(served, aimock, "keyed", "--api-key", "-", stdin=f"{SECRET}\n")
    shown = served.ok("models", "list", "--json")
    assert next(model for model in shown.json if model["name"] == "keyed")["has_key"]
    assert SECRET not in shown.out
    served.ok("models", "remove", "keyed")


def test_a_model_that_does_not_answer_fails_with_one_line(served: CommandLine) -> None:
    served.ok(
        *("models", "add", "gone", "--provider", "openai-compatible", "--model", "m"),
        *("--base-url", "http://127.0.0.1:9/v1"),
    )
    ran = served("models", "test", "gone")
    assert ran.code == 1
    assert "could not be reached" in ran.err
    assert len(ran.err.splitlines()) == 1
    served.ok("models", "remove", "gone")


def test_wrong_use_says_what_is_right(served: CommandLine) -> None:
    assert served("models", "add", "x", "--provider", "nobody", "--model", "m").code == 2
    ran = served("models", "set-default", "nobody")
    assert ran.code == 1
    assert "manyhands models list" in ran.err


def test_the_list_works_without_a_daemon(cli: CommandLine) -> None:
    assert "demo" in cli.ok("models", "list").out
