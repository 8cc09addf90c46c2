"""A tiny request that shows whether a model answers, and how fast."""

from __future__ import annotations

import anyio

from manyhands.clock import Clock
from manyhands.models.types import Model, ModelError, ModelRequest, Reply, ToolsMended, Trial, Turn

QUESTION = ModelRequest("", [Turn("user", "Answer with the single word: ready")], max_output=512)
SECONDS = 60


async def try_out(model: Model, clock: Clock) -> Trial:
    """Ask once, without retries: what is wrong should be seen."""
    name = model.info.id
    try:
        with anyio.fail_after(SECONDS):
            return await _ask(model, clock)
    except ModelError as error:
        return Trial(False, name, error=error.message)
    except TimeoutError:
        return Trial(False, name, error=f"{model.info.name} did not answer within {SECONDS} s. Try again.")


async def _ask(model: Model, clock: Clock) -> Trial:
    started, first = clock.monotonic(), None
    async with model.stream(QUESTION) as pieces:
        async for piece in pieces:
            elapsed = round((clock.monotonic() - started) * 1000)
            if first is None and not isinstance(piece, ToolsMended):
                first = elapsed
            if isinstance(piece, Reply):
                text = piece.text.strip()
                return Trial(True, model.info.id, text, None, first, elapsed, piece.usage)
    return Trial(False, model.info.id, error=f"{model.info.name} ended its answer in the middle. Try again.")
