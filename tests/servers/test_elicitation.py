from __future__ import annotations

from typing import Any

import pytest
from mcp.types import ElicitRequestURLParams

from manyhands.approvals.types import Answer, ApprovalState
from manyhands.servers.elicitation import (
    address_problem,
    form_data,
    form_problem,
    plain_host,
    refusal,
    schema_problem,
    url_question,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "mail": {"type": "string", "format": "email"},
        "level": {"type": "integer", "default": 3},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
    "required": ["mail"],
}


def test_defaults_stand_in_for_what_was_left_out() -> None:
    assert form_data(SCHEMA, {"mail": "a@b.c"}) == {"mail": "a@b.c", "level": 3}


def test_an_answer_without_data_is_an_empty_form() -> None:
    assert form_data(SCHEMA, "yes") == {"level": 3}
    assert form_data({"type": "object"}, None) == {}


@pytest.mark.parametrize(
    ("data", "field"),
    [({}, "mail"), ({"mail": "no"}, "mail"), ({"mail": "a@b.c", "tags": ["c"]}, "tags.0")],
)
def test_the_field_that_is_wrong_is_named(data: dict[str, object], field: str) -> None:
    problem = form_problem(SCHEMA, data)
    assert problem is not None
    assert field in problem


def test_data_that_fits_has_no_problem() -> None:
    assert form_problem(SCHEMA, {"mail": "a@b.c", "tags": ["a"]}) is None


def test_a_schema_that_is_none_is_told() -> None:
    assert schema_problem(SCHEMA) is None
    assert schema_problem({"type": "nonsense"}) is not None


@pytest.mark.parametrize(
    "field",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/properties/mail"},
        {"type": "string", "pattern": "("},
        {"type": "string", "pattern": "^(a+)+$"},
    ],
)
def test_a_part_that_cannot_be_checked_is_left_to_the_server(field: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"mail": field, "level": {"type": "integer"}}}
    assert form_problem(schema, {"mail": "a" * 22 + "!"}) is None


def test_nothing_is_fetched_for_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *said, **more: fetched.append(said))
    form_problem({"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}, {"a": 1})
    assert not fetched


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object", "properties": {"b": {"type": "string"}}},
        {"properties": {"b": {"type": "string"}}},
        {"type": ["object", "null"]},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"$ref": "#/$defs/b"},
        True,
    ],
)
def test_a_form_that_is_not_flat_is_told(field: Any) -> None:
    problem = schema_problem({"type": "object", "properties": {"a": field}})
    assert problem is not None
    assert "'a' is not flat" in problem


def test_choices_are_flat() -> None:
    one = {"type": "string", "oneOf": [{"const": "a", "title": "A"}]}
    some = {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}
    perhaps = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"one": one, "some": some, "perhaps": perhaps}}
    assert schema_problem(schema) is None


@pytest.mark.parametrize("count", [201, 20_000])
def test_a_form_that_nobody_fills_in_is_told(count: int) -> None:
    fields = {f"f{n}": {"type": "string"} for n in range(count)}
    problem = f"a form may have 200 fields; this one has {count}"
    assert schema_problem({"type": "object", "properties": fields}) == problem


def test_a_form_of_another_dialect_is_read_as_one_of_the_protocol() -> None:
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"a": {"anyOf": 5}}}
    assert schema_problem(schema) is not None


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://example.org/x", True),
        ("http://127.0.0.1:8000/cb", True),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[bad", False),
        ("example.org", False),
        ("http://[::1]:8000/cb", True),
        ("https://example.org:99999/", False),
        ("https://b\u00fccher.example/", True),
        ("https://evil.example\\@example.org/", False),
        ("https://example.org@evil.example/", False),
        ("https://example.org\u202e.evil/", False),
        ("https://exa mple.org/", False),
        (" https://example.org/", False),
        ("https://example.org/\nA line", False),
        ("https://example.org%2f.evil.example/", False),
        ("https://\uff45xample.org/", False),  # read as example.org
        ("https://example.org\u2024evil/", False),  # read as a dot
        ("https://fa\u00df.example/", False),  # one host or another, by the age of the browser
        ("https://example.org/" + "a" * 8000, False),
    ],
)
def test_only_addresses_that_every_browser_reads_as_shown_are_visited(url: str, fits: bool) -> None:
    assert (address_problem(url) is None) is fits


def test_a_host_that_looks_like_another_one_is_shown_as_it_is_looked_up() -> None:
    lookalike = "\u0430\u0440\u0440\u04cf\u0435.com"
    params = ElicitRequestURLParams(message="Pay", url=f"https://{lookalike}/", elicitation_id="1")
    question = url_question("shop", None, params)
    assert question.detail["host"] == plain_host(lookalike) == "xn--80ak6aa92e.com"
    assert question.title == f"shop asks you to visit xn--80ak6aa92e.com (written {lookalike})"


def test_the_end_of_a_long_host_is_shown() -> None:
    params = ElicitRequestURLParams(
        message="Pay", url=f"https://bank.example.{'a' * 60}.{'b' * 60}.evil.example/", elicitation_id="1"
    )
    assert url_question("shop", None, params).title.endswith(".evil.example")


def test_no_declines_and_no_answer_cancels() -> None:
    assert refusal(Answer(ApprovalState.REJECTED)).action == "decline"
    assert refusal(Answer(ApprovalState.EXPIRED)).action == "cancel"
    assert refusal(Answer(ApprovalState.CANCELLED)).action == "cancel"
