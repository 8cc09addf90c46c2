"""What is old goes, what is young stays, and sizes are told."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from sqlalchemy import Connection, insert, select

from manyhands import upkeep as module
from manyhands.chat.message_store import insert_messages
from manyhands.chat.store import insert_channel
from manyhands.chat.types import Channel, Message
from manyhands.events import RESERVED_BLOCK, EventBus
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.store.engine import Store
from manyhands.store.event_log import StoredEventLog
from manyhands.store.settings_store import SettingsService
from manyhands.store.tables import approvals, meta, tool_calls
from manyhands.testing.clock import FakeClock
from manyhands.upkeep import Upkeep

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def bus(store: Store, clock: FakeClock) -> EventBus:
    bus = EventBus(StoredEventLog(store), clock)
    await bus.start()
    return bus


@pytest.fixture
def settings(store: Store, bus: EventBus) -> SettingsService:
    return SettingsService(store, bus)


@pytest.fixture
def upkeep(store: Store, home: Home, settings: SettingsService, bus: EventBus, clock: FakeClock) -> Upkeep:
    return Upkeep(store, home, settings, bus, clock)


def add_calls(conn: Connection, ages: list[timedelta], now: datetime) -> None:
    """Oldest first, as they would have been made."""
    rows = [
        {"id": new_id("call"), "tool": "t", "server": "s", "arguments": {}, "is_error": False}
        | {"status": "success", "at": now - age}
        for age in sorted(ages, reverse=True)
    ]
    conn.execute(insert(tool_calls), rows)


async def test_calls_go_when_they_are_older_than_the_setting_says(
    upkeep: Upkeep, store: Store, clock: FakeClock, settings: SettingsService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 10)
    ages = [timedelta(days=days) for days in (0, 5, *range(11, 50))]
    await store.write(lambda conn: add_calls(conn, ages, clock.now()))
    await settings.patch({"retention_calls_days": 10})
    assert (await upkeep.clean()).calls == 39
    left = await store.read(lambda conn: conn.execute(select(tool_calls.c.at)).scalars().all())
    assert sorted(clock.now() - at for at in left) == [timedelta(0), timedelta(days=5)]
    assert not await upkeep.clean()


async def test_old_approvals_go_with_the_calls(upkeep: Upkeep, store: Store, clock: FakeClock) -> None:
    rows = [
        {"id": new_id("approval"), "kind": "tool", "state": "approved", "title": "t", "detail": {}}
        | {"created_at": clock.now() - timedelta(days=days)}
        for days in (200, 1)
    ]
    await store.write(lambda conn: conn.execute(insert(approvals), rows))
    assert (await upkeep.clean()).approvals == 1


async def test_what_still_waits_stays_however_old_it_is(
    upkeep: Upkeep, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 1)
    old = clock.now() - timedelta(days=200)
    questions = [
        {"id": new_id("approval"), "kind": kind, "state": state, "title": "t", "detail": {}}
        | {"created_at": old}
        for kind, state in (("tool", "pending"), ("workflow", "pending"), ("tool", "expired"))
    ]
    calls = [
        {"id": new_id("call"), "tool": "t", "server": "s", "arguments": {}, "is_error": False}
        | {"status": status, "at": old}
        for status in ("pending", "denied")
    ]
    await store.write(lambda conn: conn.execute(insert(approvals), questions))
    await store.write(lambda conn: conn.execute(insert(tool_calls), calls))
    cleaned = await upkeep.clean()
    assert (cleaned.approvals, cleaned.calls) == (1, 1)
    states = await store.read(lambda conn: conn.execute(select(approvals.c.state)).scalars().all())
    statuses = await store.read(lambda conn: conn.execute(select(tool_calls.c.status)).scalars().all())
    assert (list(states), list(statuses)) == (["pending", "pending"], ["pending"])


async def test_it_goes_on_when_something_cannot_be_removed(
    upkeep: Upkeep, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = anyio.Event()

    async def fail() -> None:
        failed.set()
        raise PermissionError("not yours")

    monkeypatch.setattr(upkeep, "clean", fail)
    async with anyio.create_task_group() as group:
        group.start_soon(upkeep.run)
        for seconds in (module.FIRST_AFTER_S, module.EVERY_S):
            failed = anyio.Event()
            await clock.someone_sleeps()
            clock.advance(seconds)
            with anyio.fail_after(20):
                await failed.wait()
        group.cancel_scope.cancel()


async def test_old_events_go_and_whoever_comes_back_is_told(
    upkeep: Upkeep, bus: EventBus, clock: FakeClock, store: Store
) -> None:
    seen = bus.publish("mcp.status", {}).seq
    bus.publish("mcp.status", {})
    clock.advance(20 * 86_400)
    bus.publish("mcp.status", {})
    await store.flush()
    assert (await upkeep.clean()).events == 2
    async with bus.subscribe(since=seen) as events:
        assert (await anext(events)).type == "gap"


def keep_result(home: Home, name: str, age_days: float, size: int, now: datetime) -> Path:
    path = home.results / name
    path.write_bytes(b"x" * size)
    moment = now.timestamp() - age_days * 86_400
    os.utime(path, (moment, moment))
    return path


async def test_large_results_go_by_age(upkeep: Upkeep, home: Home, clock: FakeClock) -> None:
    old = keep_result(home, "call_1.json", 31, 10, clock.now())
    partial = keep_result(home, "call_2.txt.partial", 2, 10, clock.now())
    young = keep_result(home, "call_3.json", 29, 10, clock.now())
    assert (await upkeep.clean()).results == 2
    assert [path.exists() for path in (old, partial, young)] == [False, False, True]


async def test_large_results_go_by_size_the_oldest_first(
    upkeep: Upkeep, home: Home, clock: FakeClock, settings: SettingsService
) -> None:
    paths = [keep_result(home, f"call_{age}.json", age, 1000, clock.now()) for age in (3, 2, 1)]
    await settings.patch({"retention_results_bytes": 1500})
    await upkeep.clean()
    assert [path.exists() for path in paths] == [False, False, True]


async def test_the_files_of_one_result_count_as_one_and_go_together(
    upkeep: Upkeep, home: Home, clock: FakeClock, settings: SettingsService
) -> None:
    for age in (2, 1):
        keep_result(home, f"call_{age}.txt", age, 1000, clock.now())
        keep_result(home, f"call_{age}.json", age, 100, clock.now())
    assert (await upkeep.measure()).results_count == 2
    await settings.patch({"retention_results_bytes": 1500})
    assert (await upkeep.clean()).results == 1
    assert sorted(path.name for path in home.results.iterdir()) == ["call_1.json", "call_1.txt"]


async def test_attachments_go_when_no_message_carries_them_any_more(
    upkeep: Upkeep, store: Store, home: Home, clock: FakeClock
) -> None:
    home.attachments.mkdir()
    carried, unused, fresh = (home.attachments / (letter * 64) for letter in "abc")
    for path, age_s in ((carried, 3 * 86_400), (unused, 3 * 86_400), (fresh, 60)):
        path.write_bytes(b"x")
        os.utime(path, (clock.now().timestamp() - age_s,) * 2)
    channel = Channel("ch_1", "one", None, "local", None, None, None, True, False, clock.now())
    message = Message("msg_1", "ch_1", "user", "look", clock.now(), attachments=[{"sha256": carried.name}])
    await store.write(lambda conn: insert_channel(conn, channel))
    await store.write(lambda conn: insert_messages(conn, [message]))
    assert (await upkeep.clean()).attachments == 1
    assert [path.exists() for path in (carried, unused, fresh)] == [True, False, True]


async def test_what_a_killed_backup_or_restore_has_left_goes(
    upkeep: Upkeep, home: Home, clock: FakeClock
) -> None:
    ages_s = {".backup-a": 2 * 86_400, ".restore-b": 2 * 86_400, ".restore-c": 60}
    for name, age_s in ages_s.items():
        (home.path / name).mkdir()
        (home.path / name / "manyhands.db").write_bytes(b"x")
        os.utime(home.path / name, (clock.now().timestamp() - age_s,) * 2)
    assert (await upkeep.clean()).staging == 2
    assert [(home.path / name).exists() for name in ages_s] == [False, False, True]


async def test_what_is_kept_is_measured(upkeep: Upkeep, store: Store, home: Home, clock: FakeClock) -> None:
    age = timedelta(days=3)
    await store.write(lambda conn: add_calls(conn, [age, timedelta(0)], clock.now()))
    keep_result(home, "call_1.json", 0, 1234, clock.now())
    (home.logs / "manyhands.log").write_text("x" * 50)
    kept = await upkeep.measure()
    assert (kept.calls_count, kept.results, kept.results_count, kept.logs) == (2, 1234, 1, 50)
    assert kept.oldest_call == clock.now() - age
    assert kept.database > 0
    assert kept.disk_free > 0


async def test_it_cleans_soon_after_the_start_and_then_every_few_hours(
    upkeep: Upkeep, store: Store, clock: FakeClock
) -> None:
    async def add_and_wait(seconds: float) -> None:
        await store.write(lambda conn: add_calls(conn, [timedelta(days=400)], clock.now()))
        await clock.someone_sleeps()
        clock.advance(seconds)
        with anyio.fail_after(20):
            while (await upkeep.measure()).calls_count:
                await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(upkeep.run)
        await add_and_wait(module.FIRST_AFTER_S)
        await add_and_wait(module.EVERY_S)
        group.cancel_scope.cancel()


async def test_event_numbers_are_renewed_while_it_runs(upkeep: Upkeep, bus: EventBus, store: Store) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(upkeep.run)
        await anyio.wait_all_tasks_blocked()
        for _ in range(2 * RESERVED_BLOCK):
            bus.publish("run.delta", {})
        with anyio.fail_after(20):
            while await store.read(reserved) < bus.seq + RESERVED_BLOCK:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()


def reserved(conn: Connection) -> int:
    return int(conn.execute(select(meta.c.value).where(meta.c.key == "events.reserved")).scalar_one())
