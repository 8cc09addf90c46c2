"""The event bus: numbers that only grow, replay of what was missed, and patience with slow listeners."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from sqlalchemy import text

from manyhands.events import QUEUE_SIZE, RING_SIZE, Event, EventBus
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog, forget_events

pytestmark = pytest.mark.anyio


async def started(store: Store) -> EventBus:
    bus = EventBus(StoredEventLog(store))
    await bus.start()
    return bus


async def take(events: AsyncIterator[Event], count: int) -> list[Event]:
    with anyio.fail_after(20):
        return [await anext(events) for _ in range(count)]


async def test_a_listener_gets_what_is_published_from_then_on(bus: EventBus) -> None:
    bus.publish("channel.created", {"n": 0})
    async with bus.subscribe() as events:
        bus.publish("channel.created", {"n": 1}, channel_id="ch_1")
        [event] = await take(events, 1)
    envelope = event.envelope()
    assert (envelope["data"], envelope["channel_id"]) == ({"n": 1}, "ch_1")
    assert envelope["at"].endswith("Z")


async def test_a_client_that_comes_back_gets_what_it_missed_and_then_what_is_new(bus: EventBus) -> None:
    seen = bus.publish("mcp.status", {"n": 0}).seq
    bus.publish("mcp.status", {"n": 1})
    async with bus.subscribe(since=seen) as events:
        bus.publish("mcp.status", {"n": 2})
        assert [event.data["n"] for event in await take(events, 2)] == [1, 2]


async def test_numbers_grow_and_events_are_replayed_across_a_restart(store_url: str) -> None:
    async with open_store(store_url) as store:
        first = await started(store)
        seen = first.publish("mcp.status", {"n": 0}).seq
        first.publish("tool.progress", {"n": 1})
        missed = first.publish("mcp.status", {"n": 2})
        await first.close()
    async with open_store(store_url) as store:
        second = await started(store)
        async with second.subscribe(since=seen) as events:
            new = second.publish("mcp.status", {"n": 3})
            replayed = await take(events, 2)
    assert replayed == [missed, new]
    assert new.seq > missed.seq > seen


async def test_a_killed_process_gave_out_no_number_twice_not_even_for_progress(store: Store) -> None:
    """The second bus starts as after a kill: the first one has not been closed."""
    first = await started(store)
    given = {first.publish("run.delta", {}).seq for _ in range(100)}
    second = await started(store)
    assert second.publish("run.delta", {}).seq > max(given)


async def test_after_a_kill_what_was_kept_is_replayed_and_then_comes_a_gap(store: Store) -> None:
    """What the killed process published last may not have reached the database."""
    first = await started(store)
    seen = first.publish("mcp.status", {"n": 0}).seq
    kept = first.publish("mcp.status", {"n": 1})
    await store.flush()
    second = await started(store)
    new = second.publish("mcp.status", {"n": 2})
    for since in (seen, kept.seq):
        async with second.subscribe(since=since) as events:
            received = await take(events, 3 if since == seen else 2)
        assert [event.type for event in received][-2:] == ["gap", "mcp.status"]
        assert received[-1] == new
        assert [event.seq for event in received] == sorted(event.seq for event in received)
    async with second.subscribe(since=second.seq - 1) as events:
        assert await take(events, 1) == [new]


async def test_after_a_kill_a_quiet_hub_tells_of_the_gap_at_once(store: Store) -> None:
    seen = (await started(store)).publish("mcp.status", {}).seq
    second = await started(store)
    async with second.subscribe(since=seen) as events:
        [gap] = await take(events, 1)
        new = second.publish("mcp.status", {})
        assert await take(events, 1) == [new]
    assert (gap.type, gap.seq) == ("gap", new.seq - 1)


async def test_a_hole_that_a_failing_database_left_is_told_now_and_after_the_next_start(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manyhands.events.RING_SIZE", 2)

    async def rename(before: str, after: str) -> None:
        await store.write(lambda conn: conn.execute(text(f"ALTER TABLE {before} RENAME TO {after}")))

    first = await started(store)
    seen = first.publish("mcp.status", {"n": 0}).seq
    await store.flush()
    await rename("events", "away")
    lost = first.publish("mcp.status", {"n": 1})
    await store.flush()
    async with first.subscribe(since=seen) as events:
        assert await take(events, 1) == [lost]  # it is in memory
    await rename("away", "events")
    kept = [first.publish("mcp.status", {"n": number}) for number in (2, 3, 4)]
    async with first.subscribe(since=seen) as events:
        gap, *received = await take(events, 4)
    assert (gap.type, gap.seq, received) == ("gap", lost.seq, kept)
    await first.close()
    second = await started(store)
    async with second.subscribe(since=seen) as events:
        *received, gap = await take(events, 4)
    assert (received, gap.type) == (kept, "gap")


async def test_reserved_numbers_are_renewed_before_they_run_out(store: Store) -> None:
    first = await started(store)
    for _ in range(3):
        for _ in range(12_000):
            first.publish("run.delta", {})
        await first.keep_reserved()
    second = await started(store)
    assert second.seq >= first.seq


async def test_a_client_that_stayed_away_too_long_is_told_of_the_gap(store: Store, bus: EventBus) -> None:
    seen = bus.publish("mcp.status", {"n": 0}).seq
    bus.publish("mcp.status", {"n": 1})
    await forgotten(store)
    async with bus.subscribe(since=seen) as events:
        [gap] = await take(events, 1)
        new = bus.publish("mcp.status", {"n": 2})
        [after] = await take(events, 1)
    assert gap.type == "gap"
    assert gap.seq == new.seq - 1
    assert after == new


async def forgotten(store: Store) -> None:
    """Forget everything that is kept."""
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    await store.flush()
    await store.write(lambda conn: forget_events(conn, tomorrow))


async def test_a_number_from_another_life_is_a_gap_too(bus: EventBus) -> None:
    async with bus.subscribe(since=bus.seq + 10_000) as events:
        [gap] = await take(events, 1)
    assert gap.type == "gap"


async def test_a_slow_listener_loses_progress_but_never_an_ending(bus: EventBus) -> None:
    async with bus.subscribe() as events:
        for number in range(QUEUE_SIZE + 50):
            bus.publish("tool.progress", {"n": number})
        ending = bus.publish("tool.finished", {"n": "end"})
        received = []
        with anyio.fail_after(20):
            async for event in events:
                received.append(event)
                if event == ending:
                    break
    assert received[-1] == ending
    assert [event.seq for event in received] == sorted({event.seq for event in received})


async def test_a_listener_far_behind_reads_every_kept_event_once_and_in_order(bus: EventBus) -> None:
    total = RING_SIZE + QUEUE_SIZE
    async with bus.subscribe() as events:
        for number in range(total):
            bus.publish("mcp.status", {"n": number})
        received = await take(events, total)
    assert [event.data["n"] for event in received] == list(range(total))


async def test_an_observer_hears_of_every_event_at_once(bus: EventBus) -> None:
    heard: list[str] = []
    bus.observe(lambda event: heard.append(event.type))
    bus.publish("mcp.status", {})
    bus.publish("run.delta", {})
    assert heard == ["mcp.status", "run.delta"]


async def test_an_observer_hears_only_of_the_kinds_it_names(bus: EventBus) -> None:
    heard: list[str] = []
    bus.publish("mcp.status", {})
    bus.observe(lambda event: heard.append(event.type), "mcp.", "run.finished")
    for kind in ("mcp.status", "run.delta", "run.finished", "mcp.log"):
        bus.publish(kind, {})
    assert heard == ["mcp.status", "run.finished", "mcp.log"]


async def test_what_is_told_soon_comes_by_itself(bus: EventBus) -> None:
    heard: list[dict[str, object]] = []
    bus.observe(lambda event: heard.append(event.data))
    bus.publish_soon("tool.finished", lambda: {"n": 1})
    bus.publish_soon("tool.finished", lambda: {"n": 2})
    assert heard == []
    await anyio.lowlevel.checkpoint()
    assert heard == [{"n": 1}, {"n": 2}]


async def test_nothing_overtakes_what_is_told_soon(bus: EventBus) -> None:
    heard: list[str] = []
    bus.observe(lambda event: heard.append(event.type))
    bus.publish_soon("tool.finished", dict)
    bus.publish("run.finished", {})
    assert heard == ["tool.finished", "run.finished"]
    bus.publish_soon("tool.started", dict)
    async with bus.subscribe() as events:
        bus.publish("mcp.status", {})
        assert (await anext(events)).type == "mcp.status"
    assert heard[2:] == ["tool.started", "mcp.status"]


async def test_what_is_told_soon_is_kept_when_the_bus_is_closed_first(store: Store) -> None:
    bus = EventBus(StoredEventLog(store))
    await bus.start()
    bus.publish_soon("tool.finished", lambda: {"n": 1})
    await bus.close()
    [kept] = await StoredEventLog(store).since(0, 10)
    assert (kept.type, kept.data) == ("tool.finished", {"n": 1})


async def test_what_cannot_be_told_keeps_nothing_else_from_being_told(
    bus: EventBus, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    bus.observe(lambda event: heard.append(event.type))

    def fail() -> dict[str, object]:
        raise ValueError("nothing to tell")

    bus.publish_soon("tool.started", fail)
    bus.publish_soon("tool.finished", dict)
    bus.publish("run.finished", {})
    assert heard == ["tool.finished", "run.finished"]
    assert "tool.started could not be told" in caplog.text
