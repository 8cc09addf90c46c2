"""The SQL of agents and messages, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from manyhands.agents import store as rows
from manyhands.agents.types import Agent, AgentMessage, Receipt
from manyhands.chat.service import ChannelService
from manyhands.clock import SystemClock
from manyhands.events import EventBus
from manyhands.store.engine import Store, open_store
from manyhands.store.event_log import StoredEventLog

pytestmark = pytest.mark.anyio

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["sqlite_url", "postgres_url"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    async with open_store(request.getfixturevalue(request.param)) as opened:
        yield opened


async def test_agents_and_messages_are_kept_as_they_are(store: Store) -> None:
    bus = EventBus(StoredEventLog(store))
    await bus.start()
    channel, _ = await ChannelService(store, bus, SystemClock()).find_or_create(name="work")
    agent = Agent(channel.id, "a", "A ü", "active", "", NOW, NOW)

    await store.write(lambda conn: rows.put_agent(conn, agent))
    await store.write(lambda conn: rows.put_agent(conn, replace(agent, status="idle")))
    assert await store.read(rows.select_agents) == [replace(agent, status="idle")]

    messages = [
        AgentMessage(
            f"m{n}", n, channel.id, "a", "b", f"text {n}\n✓", Receipt.QUEUED, NOW + timedelta(hours=n)
        )
        for n in (1, 2, 3, 4)
    ]
    for message in messages[:3]:
        await store.write_now(partial(rows.insert_message, message=message))
    assert await store.write(lambda conn: rows.insert_again(conn, messages[3])) is messages[3]
    assert await store.write(lambda conn: rows.insert_again(conn, messages[3])) == messages[3]
    assert await store.read(rows.select_queued) == messages
    assert await store.read(rows.last_seq) == 4

    await store.write(lambda conn: rows.set_delivered(conn, "m1", NOW))
    read = await store.write(lambda conn: rows.set_read(conn, channel.id, "b", ["m1", "m2"], NOW))
    assert [(one.id, one.state) for one in read] == [("m1", "delivered"), ("m2", "queued")]
    await store.write(lambda conn: rows.end_delivered(conn, ["m2"], NOW))
    await store.write(lambda conn: rows.set_expired(conn, ["m1", "m3"], NOW))
    history = await store.read(lambda conn: rows.select_history(conn, channel.id, "b", 10, None))
    assert [one.state.value for one in history] == ["queued", "expired", "read", "read"]
    assert await store.read(lambda conn: rows.select_history(conn, channel.id, "a", 10, 3)) == history[2:]

    gone = await store.write(lambda conn: rows.delete_old(conn, NOW + timedelta(hours=9)))
    assert gone == 3, "what still waits is not forgotten"
    await store.write(lambda conn: rows.delete_agent(conn, channel.id, "a"))
    assert await store.read(rows.select_agents) == []
