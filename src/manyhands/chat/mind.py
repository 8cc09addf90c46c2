"""The model's side of a run: what is sent fits its context, what it streams reaches everyone who listens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from manyhands.chat import context
from manyhands.chat.loop import RunEnds
from manyhands.chat.recovery import drop_orphans
from manyhands.chat.types import Run, RunStatus
from manyhands.events import EventBus
from manyhands.models.types import (
    Model,
    ModelError,
    ModelRequest,
    Piece,
    Reply,
    Restarted,
    TextDelta,
    ThinkingDelta,
    ToolSpec,
    Turn,
    Usage,
)

SUMMARY_PROMPT = (
    "Sum up the conversation below for whoever continues it: what the person wants, what was decided, "
    "what was found and "
    "done (with names, paths and numbers), what is still open. Leave nothing out that would be needed, "
    "add nothing."
)
SUMMARY_HEAD = "[Earlier conversation, summed up to save room]\n"


@dataclass
class RunMind:
    """`Mind` of one run."""

    run: Run
    model: Model
    brief: Callable[[], Awaitable[str]]
    bus: EventBus
    on_usage: Callable[[Usage], Awaitable[None]]
    summary: tuple[int, Turn] | None = field(default=None, init=False)
    """How many of the oldest turns the summary stands for, and the summary."""

    async def request(self, turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> ModelRequest:
        """What is sent, cut down to the model's context where it must be."""
        offered = tools if self.model.info.tool_call else ()
        full = ModelRequest(await self.brief(), drop_orphans(self._summed(turns)), offered)
        limit = context.room(self.model.info.context)
        if context.estimate(full) <= limit:
            return full
        shorter = ModelRequest(full.system, context.shorten_old_results(full.turns), full.tools)
        if context.estimate(shorter) <= limit:
            return shorter
        return await self._with_summary(turns, shorter, limit)

    async def ask(self, request: ModelRequest, iteration: int) -> Reply:
        """Stream the reply to whoever listens; its end is the whole reply."""
        try:
            async with self.model.stream(request) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        return self._checked(piece)
                    self._announce(piece, iteration)
        except ModelError as error:
            raise RunEnds(RunStatus.FAILED, error.message) from error
        raise RunEnds(
            RunStatus.FAILED, f"The model {self.model.info.name} ended its answer in the middle. Try again."
        )

    def _checked(self, reply: Reply) -> Reply:
        if not reply.text.strip() and not reply.calls:
            raise RunEnds(
                RunStatus.FAILED,
                f"The model {self.model.info.name} answered with nothing. Ask again, or choose another "
                f"model.",
            )
        return reply

    def _announce(self, piece: Piece, iteration: int) -> None:
        data = {"run_id": self.run.id, "iteration": iteration}
        match piece:
            case TextDelta(text):
                self.bus.publish("run.delta", data | {"text": text}, channel_id=self.run.channel_id)
            case ThinkingDelta(text):
                self.bus.publish("run.thinking", data | {"text": text}, channel_id=self.run.channel_id)
            case Restarted(reason):
                self.bus.publish("run.restarted", data | {"reason": reason}, channel_id=self.run.channel_id)

    def _summed(self, turns: Sequence[Turn]) -> list[Turn]:
        if self.summary is None:
            return list(turns)
        count, summary = self.summary
        return [summary, *turns[count:]]

    async def _with_summary(self, turns: Sequence[Turn], request: ModelRequest, limit: int) -> ModelRequest:
        """Replace the oldest turns by a summary that the model writes."""
        old, _ = context.split_for_summary(turns)
        if old:
            text = await self._sum_up(self._summed(old), limit)
            self.summary = (len(old), Turn("user", SUMMARY_HEAD + text))
        smaller = ModelRequest(
            request.system, drop_orphans(context.shorten_old_results(self._summed(turns))), request.tools
        )
        if context.estimate(smaller) > limit:
            raise RunEnds(
                RunStatus.FAILED,
                f"This is about {context.estimate(smaller):,} tokens and {self.model.info.name} takes "
                f"{limit:,}. "
                "Shorten the message, attach less, or choose a model with a larger context.",
            )
        return smaller

    async def _sum_up(self, turns: Sequence[Turn], limit: int) -> str:
        lines = [f"{turn.role}: {turn.text}" for turn in context.shorten_old_results(turns)]
        text = "\n\n".join(lines)[-int(limit * context.CHARS_PER_TOKEN * 0.7) :]
        self.bus.publish("run.compacting", {"run_id": self.run.id}, channel_id=self.run.channel_id)
        reply = await self.ask_silently(ModelRequest(SUMMARY_PROMPT, [Turn("user", text)]))
        await self.on_usage(reply.usage)
        return reply.text

    async def ask_silently(self, request: ModelRequest) -> Reply:
        """Ask without anyone seeing the words as they come."""
        try:
            async with self.model.stream(request) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        return piece
        except ModelError as error:
            raise RunEnds(RunStatus.FAILED, error.message) from error
        raise RunEnds(
            RunStatus.FAILED, f"The model {self.model.info.name} ended its answer in the middle. Try again."
        )
