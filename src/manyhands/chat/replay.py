"""Runs again, from their record: the model is asked anew, tools answer with what they answered then.

Nothing is executed and nothing is stored. Two runs, or a run and its replay, are compared as transcripts.
"""

from __future__ import annotations

import difflib
import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from manyhands.chat.loop import Ending, Loop
from manyhands.chat.types import Message
from manyhands.models.types import Model, ModelError, ModelRequest, Reply, ToolRequest, ToolSpec, Turn

NOT_RECORDED = "This call is not in the record of the run, so it has no result in a replay."
SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of it. `unknown`: calls that the original run did not make."""

    ending: Ending
    iterations: int
    transcript: Sequence[str]
    unknown: Sequence[str]


@dataclass(frozen=True, slots=True)
class Given:
    """What the model is given beside the conversation: the system prompt, and the tools as they are now."""

    system: str = ""
    tools: Sequence[ToolSpec] = ()


async def replay(
    messages: Sequence[Message],
    turns: Sequence[Turn],
    model: Model,
    max_iterations: int,
    given: Given | None = None,
) -> Replayed:
    """Run it again. `turns` is everything before the model's first reply, `messages` the whole record."""
    given = given or Given()
    hands = RecordedHands(messages, given.tools)
    notes = Notes(joined=joined(messages))
    loop = Loop(RecordedMind(model, given.system), hands, notes, max_iterations)
    ending = await loop.run(list(turns))
    spoken = [turn for turn in turns if turn.role == "user"][-1:]
    lines = [*(f"user: {turn.text}" for turn in spoken), *notes.lines]
    return Replayed(ending, loop.iteration, lines, hands.unknown)


def joined(messages: Sequence[Message]) -> dict[int, list[Turn]]:
    """What the person said during the run, by the iteration that it was read in."""
    found: dict[int, list[Turn]] = defaultdict(list)
    began = False
    for message in messages:
        began = began or message.role == "assistant"
        if began and message.role == "user":
            found[message.iteration or 0].append(Turn("user", message.content))
    return found


class RecordedHands:
    """`Hands` that answer from a record: the same call gets the same result, in the order it had them."""

    def __init__(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> None:
        self.unknown: list[str] = []
        self._tools = {tool.name: tool for tool in tools}
        self._results: dict[tuple[str, str], deque[Message]] = defaultdict(deque)
        asked = {call.id: call for message in messages for call in message.tool_calls}
        for call in asked.values():
            self._tools.setdefault(call.name, ToolSpec(call.name, "", {"type": "object"}))
        for message in messages:
            if message.role == "tool" and (answered := asked.get(message.tool_call_id or "")):
                self._results[answered.name, canonical(answered.arguments)].append(message)

    async def offer(self) -> Sequence[ToolSpec]:
        return list(self._tools.values())

    async def call(self, call: ToolRequest, iteration: int) -> Turn:
        known = self._results.get((call.name, canonical(call.arguments)))
        if not known:
            self.unknown.append(f"{call.name} {call.arguments}")
            return Turn("tool", NOT_RECORDED, call_id=call.id, tool=call.name, is_error=True)
        result = known.popleft() if len(known) > 1 else known[0]
        return Turn("tool", result.content, call_id=call.id, tool=call.name, is_error=result.is_error)


class RecordedMind:
    """`Mind` without listeners."""

    def __init__(self, model: Model, system: str = "") -> None:
        self._model = model
        self._system = system

    async def request(self, turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> ModelRequest:
        return ModelRequest(self._system, turns, tools if self._model.info.tool_call else ())

    async def ask(self, request: ModelRequest, iteration: int) -> Reply:
        async with self._model.stream(request) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    return piece
        raise ModelError("The model ended its answer in the middle.")


@dataclass
class Notes:
    """`Record` that only writes a transcript."""

    lines: list[str] = field(default_factory=list)
    joined: Mapping[int, Sequence[Turn]] = field(default_factory=dict)
    _iteration: int = 0

    async def take_in(self) -> Sequence[Turn]:
        self._iteration += 1
        turns = self.joined.get(self._iteration, ())
        self.lines += [f"user: {turn.text}" for turn in turns]
        return turns

    async def replied(self, reply: Reply, iteration: int) -> Reply:
        self.lines += _said(reply.text, [(call.name, call.arguments) for call in reply.calls])
        return reply

    async def observed(self, results: Sequence[Turn], iteration: int) -> None:
        self.lines += [_result(result.tool or "", result.text, result.is_error) for result in results]


def transcript(messages: Sequence[Message]) -> list[str]:
    """A run as lines that can be compared: ids, times and durations are left out."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    lines: list[str] = []
    for message in messages:
        match message.role:
            case "user":
                lines.append(f"user: {message.content}")
            case "assistant":
                lines += _said(message.content, [(call.name, call.arguments) for call in message.tool_calls])
            case "tool":
                lines.append(
                    _result(names.get(message.tool_call_id or "", ""), message.content, message.is_error)
                )
    return lines


def compare(one: Sequence[str], other: Sequence[str], one_name: str, other_name: str) -> str:
    """A unified diff of two transcripts; empty when they are the same."""
    left = [line for entry in one for line in entry.splitlines()]
    right = [line for entry in other for line in entry.splitlines()]
    return "\n".join(difflib.unified_diff(left, right, one_name, other_name, lineterm=""))


def canonical(arguments: str) -> str:
    """The same arguments in one way of writing them."""
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except ValueError:
        return arguments


def _said(text: str, calls: Sequence[tuple[str, str]]) -> list[str]:
    said = [f"assistant: {text}"] if text else []
    return said + [f"call {name} {canonical(arguments)}" for name, arguments in calls]


def _result(tool: str, text: str, is_error: bool) -> str:
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
    return f"{'error' if is_error else 'result'} {tool}: {shown}"
