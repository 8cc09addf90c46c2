"""Words that go out together, and everything else in its place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from manyhands.api.pacing import LONGEST_MS, Pacing
from manyhands.events import Event

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 5, 10, tzinfo=UTC)


def event(seq: int, type: str = "run.delta", **data: Any) -> Event:
    return Event(seq, type, "c1", {"run_id": "r1", "iteration": 1, **data}, AT)


class Listener:
    """Whoever is told, and what it was told."""

    def __init__(self) -> None:
        self.heard: list[Event] = []
        self._more = anyio.Event()
        self.pacing = Pacing(self._take)

    async def _take(self, event: Event) -> None:
        self.heard.append(event)
        self._more.set()

    async def until(self, count: int) -> list[Event]:
        with anyio.fail_after(60):
            while len(self.heard) < count:
                self._more = anyio.Event()
                await self._more.wait()
        return self.heard


@asynccontextmanager
async def listening(pause_ms: int | None = None) -> AsyncIterator[Listener]:
    listener = Listener()
    async with anyio.create_task_group() as group:
        group.start_soon(listener.pacing.run)
        if pause_ms is not None:
            listener.pacing.hear(f'{{"pause_ms": {pause_ms}}}')
        yield listener
        group.cancel_scope.cancel()


async def test_who_wishes_for_nothing_gets_every_piece_as_it_comes() -> None:
    async with listening() as listener:
        await listener.pacing.tell(event(1, text="a", offset=0))
        assert [one.seq for one in listener.heard] == [1]


async def test_the_words_of_one_pause_are_one_event_with_the_last_number() -> None:
    async with listening(pause_ms=50) as listener:
        for seq, text in enumerate("abc"):
            await listener.pacing.tell(event(seq, text=text, offset=seq))
        assert listener.heard == []
        assert await listener.until(1) == [event(2, text="abc", offset=0)]


async def test_words_that_carry_no_place_are_joined_as_they_come() -> None:
    async with listening(pause_ms=50) as listener:
        await listener.pacing.tell(event(1, text="a"))
        await listener.pacing.tell(event(2, text="b"))
        assert await listener.until(1) == [event(2, text="ab")]


async def test_nothing_overtakes_words_that_are_held() -> None:
    async with listening(pause_ms=LONGEST_MS) as listener:
        await listener.pacing.tell(event(1, text="a", offset=0))
        await listener.pacing.tell(event(2, "run.finished"))
        assert [(one.seq, one.type) for one in listener.heard] == [(1, "run.delta"), (2, "run.finished")]


async def test_words_go_on_after_something_else() -> None:
    async with listening(pause_ms=50) as listener:
        for seq in (1, 3, 5):
            await listener.pacing.tell(event(seq, "run.iteration"))
            await listener.pacing.tell(event(seq + 1, text="a", offset=0))
            await listener.until(seq + 1)
        assert [one.seq for one in listener.heard] == [1, 2, 3, 4, 5, 6]


async def test_what_does_not_go_on_where_the_last_ended_stays_apart() -> None:
    pieces = [
        event(1, text="a", offset=0),
        event(2, text="b", offset=5),
        event(3, "run.thinking", text="c", offset=6),
        event(4, "run.thinking", text="d", offset=0, iteration=2),
        Event(5, "run.thinking", "c1", {"run_id": "r2", "iteration": 2, "text": "e", "offset": 1}, AT),
    ]
    async with listening(pause_ms=50) as listener:
        for piece in pieces:
            await listener.pacing.tell(piece)
        assert await listener.until(5) == pieces


async def test_a_new_wish_lets_go_of_what_is_held() -> None:
    async with listening(pause_ms=LONGEST_MS) as listener:
        await listener.pacing.tell(event(1, text="a", offset=0))
        await anyio.wait_all_tasks_blocked()
        listener.pacing.hear('{"pause_ms": 0}')
        assert await listener.until(1) == [event(1, text="a", offset=0)]


@pytest.mark.parametrize("said", ["", "no JSON", "[]", "{}", '{"pause_ms": -1}', '{"pause_ms": 99999999}'])
async def test_what_is_no_wish_is_passed_over(said: str) -> None:
    async with listening() as listener:
        listener.pacing.hear(said)
        await listener.pacing.tell(event(1, text="a", offset=0))
        assert len(listener.heard) == 1
