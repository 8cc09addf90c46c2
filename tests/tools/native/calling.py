"""One call of a native tool, without the service around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from manyhands.approvals.types import Answer, Question
from manyhands.tools.types import CallContext, Invocation, ToolResult

Work = Callable[[Mapping[str, Any], Invocation], Awaitable[ToolResult]]


class Call:
    """`Invocation` that keeps what it is told."""

    def __init__(self, directory: Path | None) -> None:
        self.call_id = "call_1"
        self.context = CallContext(directory=None if directory is None else str(directory))
        self.messages: list[str] = []
        self._more = anyio.Event()

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.messages.append(message or "")
        self._more.set()

    async def ask(self, question: Question) -> Answer:
        raise AssertionError("native tools ask nothing themselves")

    @contextmanager
    def pause(self) -> Iterator[None]:
        yield

    async def told(self, text: str) -> str:
        """All that was told, as soon as this is in it."""
        while text not in (told := "".join(self.messages)):
            self._more = anyio.Event()
            await self._more.wait()
        return told


async def call(work: Work, directory: Path, **arguments: Any) -> ToolResult:
    """Call a tool in a directory."""
    return await work(arguments, Call(directory))
