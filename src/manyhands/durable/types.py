"""What durable work is to the rest of the hub; nothing here knows which engine does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

State = Literal["running", "finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Order:
    """Work that is to be done. Its id makes it once; the payload is JSON."""

    kind: str
    id: str
    payload: Any = None


class Activation(Protocol):
    """One going of a piece of work: after a crash the same work gets another one, with the same id."""

    @property
    def id(self) -> str:
        """The id that it was started with."""
        ...

    @property
    def payload(self) -> Any:
        """What it was started with: JSON."""
        ...

    async def step(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do something once: its result (JSON) is recorded, and a later activation gets the record.

        Steps are told apart by the order of their calls, so they must come in the same order every time.
        """
        ...

    def follow_with(self, orders: Sequence[Order]) -> None:
        """Begin these with the end of this work: one commit has both. After a crash before it, neither."""
        ...


Function = Callable[[Activation], Awaitable[Any]]
"""What a kind of work does; the answer is JSON. What it raises is recorded as its failure."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why work failed, as its error said it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Work:
    """What is known about a piece of work."""

    id: str
    state: State
    value: Any = None
    failure: Failure | None = None
