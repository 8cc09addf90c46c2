"""Forms in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from manyhands.cli.asking import field_options, parse_field

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
