"""The model's side of a run: what is sent fits its context, what it streams reaches everyone who listens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from manyhands.chat import context, tracing
from manyhands.chat.context import Summary
from manyhands.chat.loop import RunEnds
from manyhands.chat.recovery import drop_orphans
from manyhands.chat.types import Run, RunStatus
from manyhands.events import EventBus
from manyhands.models.types import (
    ContextTooLongError,
    Model,
    ModelError,
    ModelRequest,
    Piece,
    Reply,
    Restarted,
    TextDelta,
    ThinkingDelta,
    ToolsMended,
    ToolSpec,
    Turn,
)

SUMMARY_PROMPT = (
    "Sum up the conversation below for whoever continues it: what the person wants, what was decided, "
    "what was found and done (with names, paths and numbers), what is still open. Leave nothing out that "
    "would be needed, add nothing."
)
SUMMED_SHARE = 0.7
LESS = 0.7
"""How much of a request is tried again that a model refused as too long."""

OnSummary = Callable[[int, str], Awaitable[None]]
"""Keep a summary; the number says how many turns come after those that it stands for."""


@dataclass
class RunMind:
    """`Mind` of one run."""

    run: Run
    model: Model
    brief: Callable[[], Awaitable[str]]
    bus: EventBus
    on_usage: Callable[[Reply], Awaitable[None]]
    on_summary: OnSummary
    afford: Callable[[], Awaitable[None]]
    """Called before the model is asked; ends the run when nothing more may be spent."""
    limit: int = field(init=False)
    _summary: Summary | None = field(default=None, init=False)
    _asked: tuple[Sequence[Turn], Sequence[ToolSpec]] = field(default=((), ()), init=False)
    _mended: set[str] = field(default_factory=set, init=False)
    _said: int = field(default=0, init=False)
    """How many characters of the answer have been streamed, so that a listener knows when it missed some."""

    _thought: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.limit = context.room(self.model.info.context)

    async def request(self, turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> ModelRequest:
        """What is sent, cut down to the model's context where it must be: each step only if need be."""
        self._asked = (turns, tools)
        offered = tools if self.model.info.tool_call else ()
        full = ModelRequest(await self.brief(), drop_orphans(context.summed(turns, self._summary)), offered)
        if self._fits(full):
            return full
        shorter = _fewer_results(full)
        return next(filter(self._fits, shorter), None) or await self._with_summary(turns, full)

    async def ask(self, request: ModelRequest, iteration: int) -> Reply:
        """Stream the reply to whoever listens; its end is the whole reply."""
        await self.afford()
        try:
            return self._checked(await self._stream(request, iteration))
        except ContextTooLongError as error:
            # The model takes less than is known of it: from now on send less.
            self.limit = int(context.estimate(request) * LESS)
            self._publish("run.notice", text=f"{error.message} Asking again with less.", iteration=iteration)
            return self._checked(await self._try(await self.request(*self._asked), iteration))
        except ModelError as error:
            raise RunEnds(RunStatus.FAILED, error.message) from error

    async def _try(self, request: ModelRequest, iteration: int | None) -> Reply:
        try:
            return await self._stream(request, iteration)
        except ModelError as error:
            raise RunEnds(RunStatus.FAILED, error.message) from error

    async def _stream(self, request: ModelRequest, iteration: int | None) -> Reply:
        """The whole reply; without an iteration nobody sees the words as they come."""
        info, self._said, self._thought = self.model.info, 0, 0
        with tracing.span("chat", info.model, tracing.model_attributes(info)) as span:
            async with self.model.stream(request) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Reply):
                        tracing.tell_reply(span, piece)
                        return piece
                    if iteration is not None:
                        self._announce(piece, iteration)
        raise RunEnds(
            RunStatus.FAILED, f"The model {self.model.info.name} ended its answer in the middle. Try again."
        )

    def _checked(self, reply: Reply) -> Reply:
        if not reply.text.strip() and not reply.calls:
            raise RunEnds(
                RunStatus.FAILED,
                f"The model {self.model.info.name} answered with nothing. Ask again, or choose "
                "another model.",
            )
        return reply

    # --- what others see

    def _announce(self, piece: Piece, iteration: int) -> None:
        match piece:
            case TextDelta(text):
                self._publish("run.delta", text=text, iteration=iteration, offset=self._said)
                self._said += len(text)
            case ThinkingDelta(text):
                self._publish("run.thinking", text=text, iteration=iteration, offset=self._thought)
                self._thought += len(text)
            case Restarted(reason, model, attempt, wait):
                self._said = self._thought = 0
                told = {"reason": reason, "model": model, "attempt": attempt, "wait": wait}
                self._publish("run.restarted", iteration=iteration, **told)
            case ToolsMended():
                self._report(piece, iteration)

    def _report(self, mended: ToolsMended, iteration: int) -> None:
        """Tools that this provider takes only when they are mended, or not at all: said once each."""
        news = [repair for repair in mended.repairs if repair.tool not in self._mended]
        self._mended |= {repair.tool for repair in news}
        for dropped, what in ((True, "left out"), (False, "mended")):
            if found := [repair for repair in news if repair.dropped is dropped]:
                names = ", ".join(repair.tool for repair in found)
                repairs = [{"tool": one.tool, "dropped": dropped, "notes": list(one.notes)} for one in found]
                text = f"{self.model.info.name} does not take these tools as they are; {what}: {names}."
                self._publish("run.notice", text=text, iteration=iteration, repairs=repairs)

    def _publish(self, event: str, **data: Any) -> None:
        self.bus.publish(event, {"run_id": self.run.id, **data}, channel_id=self.run.channel_id)

    # --- keeping it small

    def _fits(self, request: ModelRequest) -> bool:
        return context.estimate(request) <= self.limit

    async def _with_summary(self, turns: Sequence[Turn], full: ModelRequest) -> ModelRequest:
        """Replace the oldest turns by a summary that the model writes; as few of them as will do."""
        for border in context.borders(turns):
            known = self._summary.count if self._summary else 0
            if border > known and self._small(turns, Summary(border, ""), full):
                text = await self._sum_up(context.summed(turns[:border], self._summary))
                self._summary = Summary(border, text)
                await self.on_summary(len(turns) - border, text)
                if found := self._small(turns, self._summary, full):
                    return found
        smallest = _shortened(replace(full, turns=drop_orphans(context.summed(turns, self._summary))), 0)
        if self._fits(smallest):
            return smallest
        raise RunEnds(
            RunStatus.FAILED,
            f"This is about {context.estimate(smallest):,} tokens and {self.model.info.name} takes "
            f"{self.limit:,}. Shorten the message, attach less, or choose a model with a larger context.",
        )

    def _small(
        self, turns: Sequence[Turn], summary: Summary | None, full: ModelRequest
    ) -> ModelRequest | None:
        request = replace(full, turns=drop_orphans(context.summed(turns, summary)))
        return next(filter(self._fits, _fewer_results(request)), None)

    async def _sum_up(self, turns: Sequence[Turn]) -> str:
        lines = [f"{turn.role}: {turn.text}" for turn in context.shorten_old_results(turns)]
        text = "\n\n".join(lines)[-int(self.limit * context.CHARS_PER_TOKEN * SUMMED_SHARE) :]
        self._publish("run.compacting")
        reply = await self._try(ModelRequest(SUMMARY_PROMPT, [Turn("user", text)]), None)
        await self.on_usage(reply)
        return reply.text


def _fewer_results(request: ModelRequest) -> Iterator[ModelRequest]:
    """The request with older results shortened; those that the model has not read yet stay whole."""
    fresh = context.unread(request.turns)
    yield _shortened(request, max(fresh, context.KEEP_RECENT))
    yield _shortened(request, fresh)


def _shortened(request: ModelRequest, keep: int) -> ModelRequest:
    return replace(request, turns=context.shorten_old_results(request.turns, keep))
