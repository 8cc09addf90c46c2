from __future__ import annotations

import pytest

from manyhands.approvals.types import Answer, ApprovalState
from manyhands.servers.elicitation import form_data, form_problem, is_web_address, refusal, schema_problem

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
    ("url", "fits"),
    [
        ("https://example.org/x", True),
        ("http://127.0.0.1:8000/cb", True),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[bad", False),
        ("example.org", False),
    ],
)
def test_only_addresses_for_a_browser_are_web_addresses(url: str, fits: bool) -> None:
    assert is_web_address(url) is fits


def test_no_declines_and_no_answer_cancels() -> None:
    assert refusal(Answer(ApprovalState.REJECTED)).action == "decline"
    assert refusal(Answer(ApprovalState.EXPIRED)).action == "cancel"
    assert refusal(Answer(ApprovalState.CANCELLED)).action == "cancel"
