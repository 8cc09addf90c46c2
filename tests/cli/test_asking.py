"""Forms in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import pytest
from click.testing import CliRunner

from manyhands.cli.asking import answer_here, field_options, parse_field, show_card
from manyhands.errors import InvalidError

COLOURS = {"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"]}
TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("Ada", {"type": "string"}, "Ada"),
        ("7", {"type": "integer"}, 7),
        ("1.5", {"type": "number"}, 1.5),
        ("yes", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("blue", COLOURS, "blue"),
        ("r", TITLED, "r"),
        ("a, c", SEVERAL, ["a", "c"]),
        ('["a", "b"]', SEVERAL, ["a", "b"]),
        ("", {"type": "string"}, None),
    ],
)
def test_what_is_typed_becomes_a_value_of_the_fields_type(
    text: str, field: Mapping[str, Any], value: Any
) -> None:
    assert parse_field(text, field, required=False) == value


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("x", {"type": "integer"}),
        ("1.5", {"type": "integer"}),
        ("maybe", {"type": "boolean"}),
        ("green", COLOURS),
        ("a,d", SEVERAL),
        ("", {"type": "string"}),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(text: str, field: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_field(text, field, required=True)


def test_choices_are_shown_with_their_titles() -> None:
    assert field_options(COLOURS) == {"red": "Red", "blue": "Blue"}
    assert field_options(TITLED) == {"r": "Red", "b": "Blue"}
    assert field_options({"type": "string"}) == {}


class Recorder:
    """Stands for the hub: keeps what was answered."""

    is_daemon = True

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []

    def request(self, method: str, path: str, body: Any = None, **_: Any) -> Any:
        self.sent.append((path, body))
        return {"id": "approval_1", "state": "approved", "title": "t"}

    def follow(self, tell: Any, *, since: int | None = None) -> Any:
        raise NotImplementedError

    def start_servers(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", {"decision": "approve", "scope": "once"}),
        ("s", {"decision": "approve", "scope": "session"}),
        ("t", {"decision": "approve", "scope": "tool"}),
        ("v", {"decision": "approve", "scope": "server"}),
        ("n\n", {"decision": "reject", "scope": "once"}),
        ("n\nnot today", {"decision": "reject", "scope": "once", "reason": "not today"}),
    ],
)
@pytest.mark.requirement("L22")
def test_a_permission_is_given_for_as_long_as_the_person_says(typed: str, answer: dict[str, Any]) -> None:
    detail = {
        "server": "files",
        "tool": "write",
        "arguments": {"path": "a"},
        "arguments_text": '{"path": "a"}',
    }
    approval = {"id": "approval_1", "kind": "tool", "title": "files wants to write", "detail": detail}
    assert asked(approval, "x\n" + typed + "\n") == answer


@pytest.mark.requirement("L23")
def test_the_exact_arguments_are_on_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    text = '{\n  "path": "a⟨U+202E⟩b"\n}'
    detail = {"arguments": {}, "arguments_text": text, "reason": "it writes", "says_destructive": True}
    show_card({"id": "approval_1", "kind": "tool", "title": "files wants to write", "detail": detail})
    shown = capsys.readouterr().err
    assert '  {\n    "path": "a⟨U+202E⟩b"\n  }\n' in shown
    assert "asks because  it writes" in shown
    assert "it says of itself that it is destructive" in shown


def test_what_changed_of_a_tool_is_on_the_card_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    detail = {"arguments": {}, "reason": "it has changed", "diff": "@@ -1 +1 @@\n-a\n+b"}
    show_card({"id": "approval_1", "kind": "tool", "title": "Run add of pin?", "detail": detail})
    assert capsys.readouterr().err.endswith("asks because  it has changed\n  @@ -1 +1 @@\n  -a\n  +b\n")


def test_what_a_projects_servers_would_run_is_on_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    local = {"name": "a", "transport": "stdio", "command": "uvx", "args": ["x y"], "env": {"K": "••••••"}}
    remote = {"name": "b", "transport": "http", "url": "http://127.0.0.1/mcp"}
    detail = {"servers": [{**local, "change": "new"}, remote]}
    show_card({"id": "approval_1", "kind": "tool", "title": "Start servers?", "detail": detail})
    shown = capsys.readouterr().err.splitlines()
    assert shown[-3:] == ["  a  uvx 'x y' (new)", '    env  {"K": "••••••"}', "  b  http://127.0.0.1/mcp"]


@pytest.mark.parametrize(("typed", "decision"), [("e", "approve"), ("n", "reject")])
def test_an_address_is_shown_whole_before_anything_opens(
    typed: str, decision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = {"mode": "url", "url": "https://example.com/consent?x=1", "host": "example.com"}
    approval = {
        "id": "approval_1",
        "kind": "elicitation",
        "title": "docs asks you to visit",
        "detail": detail,
    }
    assert asked(approval, typed + "\n") == {"decision": decision}


class Strict(Recorder):
    """Stands for a hub that takes no other name than Ada."""

    def request(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        if body["response"] != {"name": "Ada"}:
            raise InvalidError("name: is not known")
        return super().request(method, path, body, **more)


def test_a_form_whose_data_is_refused_is_asked_for_again() -> None:
    schema = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    approval = {"id": "approval_1", "kind": "elicitation", "title": "t", "detail": {"schema": schema}}
    sent = asked(approval, "y\nBob\ny\nAda\n", hub=Strict())
    assert sent == {"decision": "approve", "response": {"name": "Ada"}}


def asked(approval: dict[str, Any], typed: str, hub: Recorder | None = None) -> Any:
    """What is sent when the person types this."""
    hub = hub or Recorder()

    @click.command()
    def answer() -> None:
        answer_here(hub, approval)

    ran = CliRunner().invoke(answer, input=typed)
    assert ran.exit_code == 0, ran.output
    ((path, body),) = hub.sent
    assert path == "/approvals/approval_1"
    return body
