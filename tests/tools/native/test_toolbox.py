"""The native tools as a set: described, strict, truthful about themselves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from jsonschema import Draft202012Validator

from manyhands.tools.native.definition import NativeTool
from manyhands.tools.native.toolbox import native_tools
from manyhands.tools.quick_schema import quick_check
from manyhands.tools.types import CallContext, Effect, ResultPage
from tests.tools.desk import ChangingSettings


async def no_pages(call_id: str, offset: int, limit: int, context: CallContext) -> ResultPage:
    raise AssertionError


TOOLS: Mapping[str, NativeTool] = native_tools(ChangingSettings(), no_pages)


@pytest.mark.parametrize("name", TOOLS)
def test_every_parameter_is_described_and_unknown_ones_are_refused(name: str) -> None:
    definition = TOOLS[name].definition
    schema = definition.input_schema
    Draft202012Validator.check_schema(dict(schema))
    assert definition.description
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    assert all(spec["description"] for spec in schema["properties"].values())
    assert quick_check(schema) is not None


@pytest.mark.parametrize("name", TOOLS)
def test_no_native_tool_can_be_taken_for_one_of_a_server(name: str) -> None:
    definition = TOOLS[name].definition
    assert definition.full_name == definition.name == name
    assert not name.startswith("mcp__")
    assert definition.server_id is None


@pytest.mark.parametrize("name", TOOLS)
def test_only_what_reads_here_runs_without_asking(name: str) -> None:
    tool = TOOLS[name]
    harmless = tool.definition.annotations.read_only and not tool.definition.annotations.open_world
    assert (tool.default is Effect.ALLOW) is harmless
