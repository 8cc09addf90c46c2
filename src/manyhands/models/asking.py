"""Asking until there is an answer: again after a pause where that may help, then the next model of the chain.

Only the model is asked again. Tool calls are made after the whole reply is there, so none is ever repeated.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

from manyhands.clock import Clock, SystemClock
from manyhands.models.types import (
    ContextTooLongError,
    Model,
    ModelError,
    ModelInfo,
    ModelRequest,
    Piece,
    Reply,
    Restarted,
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a model is asked, and how long the pauses are, in seconds."""

    attempts: int = 4
    first_pause: float = 0.5
    longest_pause: float = 30.0
    longest_after: float = 60.0
    """A provider that asks for a longer pause than this is not waited for."""

    def pause(self, attempt: int, after: float | None, chance: float) -> float:
        """Seconds before the attempt after this one; `chance` (0 to 1) spreads those who wait."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        spread = longest * (0.5 + chance / 2)
        return spread if after is None else after + chance * min(after, 1.0) / 4


class Asking:
    """`Model` of a chain of models: the first that answers is the one that counts."""

    def __init__(
        self,
        models: Sequence[Model],
        *,
        clock: Clock | None = None,
        patience: Patience | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._models = models
        self._clock = clock or SystemClock()
        self._patience = patience or Patience()
        self._chance = chance

    @property
    def info(self) -> ModelInfo:
        return self._models[0].info

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Piece]]:
        pieces = self._chain(request)
        async with aclosing(pieces):
            yield pieces

    async def _chain(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Every model in its turn; the error of the last one is the error of all."""
        failures: list[ModelError] = []
        for model, following in zip(self._models, [*self._models[1:], None], strict=True):
            try:
                async with aclosing(self._patiently(model, request)) as pieces:
                    async for piece in pieces:
                        yield replace(piece, by=model.info) if isinstance(piece, Reply) else piece
                return
            except ModelError as error:
                failures.append(error)
                if following is None or not _may_help(error, model, following):
                    if len(failures) == 1:
                        raise
                    raise _told(failures) from error
                yield Restarted(
                    f"{error.message} Asking {following.info.name} instead.", following.info.id, 1
                )

    async def _patiently(self, model: Model, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """One model, again and again while that may help."""
        for attempt in range(1, self._patience.attempts + 1):
            try:
                async with model.stream(request) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                if not self._is_worth_waiting(error, attempt):
                    raise
                wait = self._patience.pause(attempt, error.after, self._chance())
                yield Restarted(error.message, model.info.id, attempt + 1, wait)
            await self._clock.sleep(wait)

    def _is_worth_waiting(self, error: ModelError, attempt: int) -> bool:
        return (
            error.retry
            and attempt < self._patience.attempts
            and (error.after or 0) <= self._patience.longest_after
        )


def _may_help(error: ModelError, failed: Model, following: Model) -> bool:
    """A request that is too long helps nobody further but a model that takes more."""
    return not isinstance(error, ContextTooLongError) or following.info.context > failed.info.context


def _told(failures: Sequence[ModelError]) -> ModelError:
    last = failures[-1]
    told = " ".join(error.message for error in failures)
    return type(last)(told, provider_status=last.provider_status, retry=last.retry, after=last.after)
