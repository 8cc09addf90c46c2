"""The agent loop: ask the model, act on the calls it asks for, let it observe the results, until it answers.

What a model is, what tools there are and where things are stored is behind three Protocols, so that this
file is only the loop. Nothing is kept here that the record does not have: a run that was cut goes on from
its record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import anyio

from manyhands.chat.repeats import STOP_AFTER, Repeats, told, untold
from manyhands.chat.types import RunStatus
from manyhands.models.types import ModelRequest, Reply, ToolRequest, ToolSpec, Turn


class RunEnds(Exception):
    """A run ends before the model has answered; `status` says as what, the message why."""

    def __init__(self, status: RunStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, and what it says at the end."""

    status: RunStatus
    text: str


class Mind(Protocol):
    """The model with everything it is told; streams its words to whoever listens."""

    async def request(self, turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> ModelRequest:
        """What is sent: system prompt, turns that fit the context, tools."""
        ...

    async def ask(self, request: ModelRequest, iteration: int) -> Reply:
        """Ask and wait for the whole reply, with retries and fallbacks."""
        ...


class Hands(Protocol):
    """The tools of this run."""

    async def offer(self) -> Sequence[ToolSpec]:
        """The tools as they are now, in stable order."""
        ...

    async def call(self, call: ToolRequest, iteration: int) -> Turn:
        """Run one call to its end. Failures, timeouts and denials are results."""
        ...


class Record(Protocol):
    """Where everything of this run is stored as it happens."""

    async def take_in(self) -> Sequence[Turn]:
        """Messages that came during the run and have not been seen yet."""
        ...

    async def replied(self, reply: Reply, iteration: int) -> Reply:
        """Store the reply before any of its calls starts; calls come back with ids of their own."""
        ...

    async def observed(self, results: Sequence[Turn], iteration: int) -> None:
        """Store the results before the model sees them."""
        ...


@dataclass
class Loop:
    """One run. `iteration` counts the requests made; a recovered run starts with what it had."""

    mind: Mind
    hands: Hands
    record: Record
    max_iterations: int
    iteration: int = 0
    repeats: Repeats = field(default_factory=Repeats)
    most_repeats: int = 0

    async def run(self, turns: list[Turn]) -> Ending:
        """Go on until the model answers without asking for a call."""
        try:
            while True:
                turns += await self.record.take_in()
                reply = await self._ask(turns)
                turns.append(Turn("assistant", reply.text, calls=reply.calls, thinking=reply.thinking))
                if not reply.calls:
                    return Ending(RunStatus.COMPLETED, reply.text)
                turns += await self._act(reply.calls)
        except RunEnds as end:
            return Ending(end.status, end.message)

    async def _ask(self, turns: Sequence[Turn]) -> Reply:
        if self.iteration >= self.max_iterations:
            times = "1 iteration" if self.max_iterations == 1 else f"{self.max_iterations} iterations"
            raise RunEnds(
                RunStatus.MAX_ITERATIONS,
                f"Stopped after {times}, the limit of this run. "
                "Say “go on” to continue, or raise the setting mcp_max_iterations.",
            )
        self.iteration += 1
        request = await self.mind.request(turns, await self.hands.offer())
        reply = await self.mind.ask(request, self.iteration)
        return await self.record.replied(reply, self.iteration)

    async def _act(self, calls: Sequence[ToolRequest]) -> Sequence[Turn]:
        """All calls side by side; results in the order of the calls, whatever order they finish in."""
        results: list[Turn | None] = [None] * len(calls)

        async def act(index: int) -> None:
            results[index] = await self.hands.call(calls[index], self.iteration)

        async with anyio.create_task_group() as group:
            for index in range(len(calls)):
                group.start_soon(act, index)
        observed = [
            self._watched(call, result)
            for call, result in zip(calls, results, strict=True)
            if result is not None
        ]
        await self.record.observed(observed, self.iteration)
        self._stop_circles()
        return observed

    def _watched(self, call: ToolRequest, result: Turn) -> Turn:
        """The result, with a word to the model when it goes in circles."""
        text = untold(result.text)
        count = self.repeats.count(call.name, call.arguments, text)
        self.most_repeats = max(self.most_repeats, count)
        return replace(result, text=told(text, count))

    def _stop_circles(self) -> None:
        if self.most_repeats >= STOP_AFTER:
            raise RunEnds(
                RunStatus.FAILED,
                f"Stopped: the model made the same call {STOP_AFTER} times with the same arguments and "
                f"result.",
            )
