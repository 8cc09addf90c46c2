"""A schema of a stranger is checked as far as that can be done, and no further."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.strange_schema import SchemaFault, StrangeSchema

EVIL = "^(a+)+$"
LONG = "a" * 22 + "!"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def misfits(schema: dict[str, Any], value: Any) -> list[str]:
    return [error.message for error in StrangeSchema(schema).misfits(value)]


def doubling(depth: int) -> dict[str, Any]:
    """Small to write, and two to the power of its depth to follow."""
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(depth)}
    return {"$defs": {**steps, f"d{depth}": {}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": EVIL}, LONG),
        ({"$schema": DIALECT, "items": {"$schema": DIALECT, "pattern": EVIL}}, [LONG]),
        ({"patternProperties": {EVIL: {"type": "integer"}}}, {LONG: 1}),
        ({"patternProperties": {EVIL: True}, "additionalProperties": False}, {LONG: 1}),
        ({"allOf": [{"patternProperties": {EVIL: True}}], "unevaluatedProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": EVIL}}, {LONG: 1}),
        ({"pattern": "[a-z]+$"}, "a" * 1_000_000 + "!"),
        ({"uniqueItems": True}, [{"n": n} for n in range(100_000)]),
        (doubling(60), {}),
    ],
)
def test_what_would_take_for_ever_is_not_checked(schema: dict[str, Any], value: Any) -> None:
    assert misfits(schema, value) == []


def test_many_values_cost_no_more_than_one_may() -> None:
    values = ["a" * 1000 + "!"] * 1000
    assert len(misfits({"items": {"pattern": "[a-z]+$"}}, values)) == 1


def test_patterns_without_end_are_not_compiled() -> None:
    schema = {"allOf": [{"pattern": f"^{'b' * 400}{n}"} for n in range(12, 100)]}
    assert len(misfits(schema, "b")) == 12


def test_everyday_patterns_are_checked() -> None:
    schema = {
        "properties": {"day": {"pattern": r"^\d{4}-\d{2}-\d{2}$"}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert misfits(schema, {"day": "2026-01-31", "x-a": 1}) == []
    assert len(misfits(schema, {"day": "today", "x-a": "1", "y": 1})) == 3


def test_the_rest_of_a_schema_is_checked_beside_a_pattern_that_is_not() -> None:
    schema = {"properties": {"a": {"pattern": EVIL}, "b": {"type": "integer"}}}
    assert misfits(schema, {"a": LONG, "b": "x"}) == ["'x' is not of type 'integer'"]


def test_a_value_after_a_costly_one_is_checked_anew() -> None:
    schema = StrangeSchema({"items": {"type": "integer"}})
    list(schema.misfits(list(range(1_000_000))))
    assert [error.message for error in schema.misfits(["x"])] == ["'x' is not of type 'integer'"]


@pytest.mark.parametrize("where", ["http://127.0.0.1:9/x", "file:///etc/hostname", "#/$defs/none", "#"])
def test_a_reference_that_leads_nowhere_is_not_followed(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *said, **more: fetched.append(said))
    assert misfits({"$ref": where}, {"a": 1}) == []
    assert not fetched


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"properties": {f"f{n}": {"type": "string"} for n in range(20_000)}}]
)
def test_a_schema_that_is_none_or_has_no_end_is_a_fault(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaFault):
        StrangeSchema(schema)
