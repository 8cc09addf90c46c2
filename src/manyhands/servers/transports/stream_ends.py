"""What the SDK expects of every end of a transport's streams, beside the receiving and the sending itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage


class StreamEnd(ABC):
    """Closed by `aclose`, and at the end of an `async with`."""

    @abstractmethod
    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class ReadEnd(StreamEnd):
    """Read by iterating, or message by message."""

    @abstractmethod
    async def __anext__(self) -> SessionMessage | Exception: ...

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None
