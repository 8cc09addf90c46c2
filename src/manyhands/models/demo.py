"""The built-in demo model: deterministic, needs no key and no network, and says what it is.

It picks the tool that fits the words best, fills its arguments from the text, and repeats what the tool said.
Ranking tools is not its business: it is given a function for that.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio.lowlevel

from manyhands.models.demo_arguments import fill_arguments
from manyhands.models.types import (
    ModelInfo,
    ModelRequest,
    Piece,
    Reply,
    TextDelta,
    ToolRequest,
    ToolSpec,
    Turn,
    Usage,
)

Rank = Callable[[str, Sequence[ToolSpec]], Sequence[ToolSpec]]
"""Tools that fit a text, best first; those that do not fit at all are left out."""

DEMO = ModelInfo(
    id="demo",
    name="Demo (built in, no intelligence)",
    provider="demo",
    model="demo",
    context=200_000,
    source="built-in",
)
CLOSING = (
    "(I am the built-in demo model: I match words to tools. Add a real model with `manyhands models add`.)"
)
NOTHING_FITS = (
    "I found no tool that fits this. I am the built-in demo model: I only match words to tools. "
    "Try “which files are in this directory?”, call a tool with `/tool NAME {json}`, "
    "or add a real model with `manyhands models add`."
)
QUOTE_LIMIT = 4000


class DemoModel:
    """`Model` without a model."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank

    @property
    def info(self) -> ModelInfo:
        return DEMO

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Piece]]:
        yield _stream(self._answer(request), request)

    def _answer(self, request: ModelRequest) -> Reply:
        asked, after = _last_question(request.turns)
        if after:
            return Reply(text=_report(after))
        call = _explicit_call(asked.text) or self._chosen_call(asked.text, request.tools)
        if call is None:
            return Reply(text=NOTHING_FITS)
        number = sum(len(turn.calls) for turn in request.turns) + 1
        return Reply(calls=(ToolRequest(f"demo_{number}", *call),), finish_reason="tool_calls")

    def _chosen_call(self, text: str, tools: Sequence[ToolSpec]) -> tuple[str, str] | None:
        """The best tool whose required arguments can be filled from the text."""
        for tool in self._rank(text, tools):
            arguments = fill_arguments(text, tool.schema)
            if arguments is not None:
                return tool.name, json.dumps(arguments)
        return None


async def _stream(reply: Reply, request: ModelRequest) -> AsyncIterator[Piece]:
    for word in reply.text.splitlines(keepends=True):
        await anyio.lowlevel.checkpoint()
        yield TextDelta(word)
    read = len(request.system) + sum(len(turn.text) for turn in request.turns)
    usage = Usage(input=read // 4, output=len(reply.text) // 4)
    yield Reply(reply.text, reply.calls, usage=usage, finish_reason=reply.finish_reason, model=DEMO.id)


def _last_question(turns: Sequence[Turn]) -> tuple[Turn, Sequence[Turn]]:
    """What the person said last, and the tool results since."""
    for index in range(len(turns) - 1, -1, -1):
        if turns[index].role == "user":
            return turns[index], [turn for turn in turns[index + 1 :] if turn.role == "tool"]
    return Turn("user"), []


def _report(results: Sequence[Turn]) -> str:
    lines = []
    for result in results:
        text = result.text if len(result.text) <= QUOTE_LIMIT else result.text[:QUOTE_LIMIT] + " …"
        lines.append(f"{result.tool} failed: {text}" if result.is_error else _quoted(text))
    return "\n\n".join([*lines, CLOSING])


def _quoted(text: str) -> str:
    """As it is; lines are indented, so that they stay lines where the answer is read as Markdown."""
    return textwrap.indent(text, "    ") if "\n" in text else text


def _explicit_call(text: str) -> tuple[str, str] | None:
    """`/tool NAME {json}`: the name, and whatever was written as its arguments."""
    command, *rest = text.split(None, 2) or [""]
    if command != "/tool" or not rest:
        return None
    return rest[0], rest[1].strip() if len(rest) > 1 else "{}"
