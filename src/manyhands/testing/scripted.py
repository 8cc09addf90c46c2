"""A model that says what it was told to say: for tests of ours and of yours.

```python
model = ScriptedModel(
    [
        calls(("list_directory", {"path": "."})),   # first request: ask for a tool
        "There are three files.",                   # second request: answer
        ModelError("The provider is down.", retry=True),
    ]
)
```

Each request takes the next step of the script. A step is the text of an answer, a `Reply`, an exception, a
list of pieces, pauses and exceptions in the order in which they come, or a function of the request that gives
one of these. What was asked is in `requests`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio

from manyhands.clock import Clock, SystemClock
from manyhands.models.types import ModelInfo, ModelRequest, Piece, Reply, TextDelta, ToolRequest

SCRIPTED = ModelInfo(
    id="scripted", name="Scripted", provider="demo", model="scripted", context=200_000, source="built-in"
)


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds of the model's clock during which nothing comes."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Nothing comes until the test sets the event."""

    event: anyio.Event


Beat = Piece | Pause | Gate | Exception
Step = str | Reply | Exception | Sequence[Beat] | Callable[[ModelRequest], Any]


class ScriptExhaustedError(AssertionError):
    """The model was asked more often than its script has steps."""


def calls(*asked: tuple[str, Mapping[str, Any] | str], text: str = "") -> Reply:
    """A reply that asks for these tools; arguments given as text are sent as they are, well-formed or not."""
    requests = tuple(
        ToolRequest(f"call_{index}", name, given if isinstance(given, str) else json.dumps(given))
        for index, (name, given) in enumerate(asked, 1)
    )
    return Reply(text=text, calls=requests, finish_reason="tool_calls")


class ScriptedModel:
    """`Model` that follows a script. `repeat` starts it again when it is over."""

    def __init__(
        self,
        script: Iterable[Step],
        *,
        info: ModelInfo = SCRIPTED,
        clock: Clock | None = None,
        repeat: bool = False,
    ) -> None:
        self._script = list(script)
        self._info = info
        self._clock = clock or SystemClock()
        self._repeat = repeat
        self.requests: list[ModelRequest] = []
        self.cancelled = 0
        """How many requests were left before their end."""

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def left(self) -> int:
        """Steps that nobody has asked for yet."""
        return max(0, len(self._script) - len(self.requests))

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[Piece]]:
        self.requests.append(request)
        step = self._step(len(self.requests) - 1)
        beats = _beats(step(request) if callable(step) else step)
        async with aclosing(self._play(beats)) as pieces:
            yield pieces

    def _step(self, index: int) -> Step:
        if self._repeat and self._script:
            return self._script[index % len(self._script)]
        if index >= len(self._script):
            raise ScriptExhaustedError(
                f"The script has {len(self._script)} steps, and this is request {index + 1}."
            )
        return self._script[index]

    async def _play(self, beats: Sequence[Beat]) -> AsyncGenerator[Piece, None]:
        finished = False
        try:
            for beat in beats:
                if isinstance(beat, Exception):
                    finished = True
                    raise beat
                if isinstance(beat, Pause):
                    await self._clock.sleep(beat.seconds)
                elif isinstance(beat, Gate):
                    await beat.event.wait()
                else:
                    await anyio.lowlevel.checkpoint()
                    finished = isinstance(beat, Reply)
                    yield self._signed(beat)
            finished = True
        finally:
            self.cancelled += not finished

    def _signed(self, piece: Piece) -> Piece:
        if isinstance(piece, Reply) and not piece.model:
            return replace(piece, model=self._info.model)
        return piece


def _beats(step: Any) -> Sequence[Beat]:
    if isinstance(step, str):
        return _beats(Reply(text=step))
    if isinstance(step, Reply):
        words = step.text.splitlines(keepends=True)
        return [*(TextDelta(word) for word in words), step]
    return [step] if isinstance(step, Exception) else step
