"""A service with two agents in one channel, on a clock that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
import pytest

from manyhands.agents.service import AgentService
from manyhands.chat.service import ChannelService
from manyhands.events import EventBus
from manyhands.settings import Settings
from manyhands.store.engine import Store
from manyhands.testing.clock import FakeClock


@dataclass
class Chosen:
    """Settings as a test wants them."""

    current: Settings


@pytest.fixture
def settings() -> Chosen:
    return Chosen(Settings(agent_mailbox_limit=20, agent_message_ttl_s=600))


@pytest.fixture
def made_url(made_sqlite_url: str) -> str:
    """One database is enough here; `test_store.py` has what differs between them."""
    return made_sqlite_url


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def channel(store: Store, bus: EventBus, clock: FakeClock) -> str:
    made, _ = await ChannelService(store, bus, clock).find_or_create(name="work")
    return made.id


@pytest.fixture
async def service(
    store: Store, bus: EventBus, clock: FakeClock, settings: Chosen
) -> AsyncIterator[AgentService]:
    service = AgentService(store, bus, clock, settings)
    await service.start()
    async with anyio.create_task_group() as group:
        await group.start(service.run)
        yield service
        group.cancel_scope.cancel()


@pytest.fixture
async def pair(service: AgentService, channel: str) -> tuple[str, str]:
    await service.register(channel, "builder", "Builder")
    await service.register(channel, "tester", "Tester")
    return "builder", "tester"
