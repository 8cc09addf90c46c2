"""What every route needs: the hub behind the app, who asks, where a page begins, when the asker is gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import Depends, Query, Request
from starlette.requests import HTTPConnection

from manyhands.access.types import PRINCIPAL, Principal
from manyhands.api.schemas import Items
from manyhands.chat.types import Channel
from manyhands.errors import InvalidError, TooManyError, UnavailableError
from manyhands.hub import Hub
from manyhands.paging import DEFAULT_LIMIT, MAX_LIMIT

T = TypeVar("T")

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="How many at most.")]
Cursor = Annotated[str | None, Query(description="The `next_cursor` of the page before.")]
PAGE = DEFAULT_LIMIT


# Not plain functions: the framework runs those in a thread, with every request.
async def hub_of(connection: HTTPConnection) -> Hub:
    """The hub that this app serves."""
    hub: Hub = connection.app.state.hub
    return hub


async def principal_of(connection: HTTPConnection) -> Principal:
    """Who asks; the gate has found out."""
    principal: Principal = connection.scope[PRINCIPAL]
    return principal


HubOf = Annotated[Hub, Depends(hub_of)]
PrincipalOf = Annotated[Principal, Depends(principal_of)]


async def channel_of(hub: HubOf, channel_id: Annotated[str | None, Query()] = None) -> Channel | None:
    """The channel that the query names."""
    return await hub.channel(channel_id)


ChannelOf = Annotated[Channel | None, Depends(channel_of)]


def slice_page(everything: Sequence[T], limit: int, cursor: str | None) -> tuple[Sequence[T], str | None]:
    """A page of a list that is in memory anyway; its cursor is a position."""
    if cursor is not None and not cursor.isdecimal():
        raise InvalidError(
            f"The cursor {cursor!r} is not one of ours.", hint="Send back `next_cursor` as it came."
        )
    start = int(cursor or 0)
    end = start + limit
    return everything[start:end], str(end) if end < len(everything) else None


def items(page: Sequence[T], next_cursor: str | None, shape: Callable[[T], Any]) -> Items[Any]:
    """A page as it goes out."""
    return Items[Any].model_construct(items=[shape(one) for one in page], next_cursor=next_cursor)


class Crowd:
    """How many of a kind there may be at once, and a way to send them all home."""

    def __init__(self, limit: int, kind: str) -> None:
        self._limit = limit
        self._kind = kind
        self._inside: set[anyio.CancelScope] = set()
        self._left = anyio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._inside)

    @contextmanager
    def enter(self) -> Iterator[anyio.CancelScope]:
        """Be one of them; the scope is cancelled when all are sent home."""
        if self._closed:
            raise UnavailableError("The hub is shutting down.", hint="Try again when it is up.")
        if len(self._inside) >= self._limit:
            raise TooManyError(f"{self._limit} {self._kind} are open already.", hint="Close some, or wait.")
        with anyio.CancelScope() as scope:
            self._inside.add(scope)
            try:
                yield scope
            finally:
                self._inside.discard(scope)
                self._left.set()

    async def empty(self) -> None:
        """Wait until nobody is in."""
        while self._inside:
            self._left = anyio.Event()
            await self._left.wait()

    def shut(self) -> None:
        """Let nobody in any more; whoever is in stays."""
        self._closed = True

    def close(self) -> None:
        """Send them home and let nobody in."""
        self.shut()
        for scope in list(self._inside):
            scope.cancel()


@dataclass(frozen=True, slots=True)
class Crowds:
    """Who is in at the moment: those who follow events, those who wait for a call, agents that listen."""

    live: Crowd
    calls: Crowd
    agents: Crowd

    def close(self) -> None:
        """Send everybody home and let nobody in."""
        self.live.close()
        self.agents.close()
        self.calls.close()


def crowds_of(connection: HTTPConnection) -> Crowds:
    """The crowds of this app."""
    crowds: Crowds = connection.app.state.crowds
    return crowds


async def while_connected(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Do it as long as the client waits for it: when it hangs up, the work is cancelled."""
    outcome: list[T] = []
    failure: list[Exception] = []

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            outcome.append(await work())
        except Exception as error:  # noqa: BLE001 - raised again outside, so that no group wraps it
            failure.append(error)
        group.cancel_scope.cancel()
    if failure:
        raise failure[0]
    if not outcome:
        raise UnavailableError("The client hung up.", hint="Ask again.")
    return outcome[0]
