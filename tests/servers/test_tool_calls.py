"""Results against what their tools say of them; calling itself is tested with the connection."""

from __future__ import annotations

from typing import Any

import pytest

from manyhands.servers.tool_calls import OutputSchema
from tests.servers.rig import plain, running

pytestmark = pytest.mark.anyio


async def notes(*contents: dict[str, Any]) -> list[str]:
    """What is told of results with this content."""
    async with running(plain()) as rig:
        results = [await rig.call("bad_output", **content) for content in contents]
    return ["".join(block["text"] for block in result.content[1:]) for result in results]


async def test_a_note_names_the_place_and_not_all_of_the_content() -> None:
    (note,) = await notes({"n": "x", "more": ["much"] * 1000})
    assert "does not match the output schema of the tool: n: 'x' is not of type 'integer'" in note
    assert "much" not in note


async def test_a_pattern_of_a_server_that_would_take_for_ever_is_not_searched() -> None:
    slow = "a" * 22 + "!"
    fine, wrong = await notes({"n": 1, "slow": slow}, {"n": "x", "slow": slow})
    assert fine == ""
    assert "n: 'x' is not of type 'integer'" in wrong


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"enum": list(range(20_000))}])
async def test_a_schema_that_is_broken_or_without_end_fits_everything(schema: dict[str, Any]) -> None:
    assert list(OutputSchema(schema).iter_errors("x")) == []
