"""Hubs whose model follows a script, and what tests do with their runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from manyhands import Hub
from manyhands.events import Event
from manyhands.models.types import ModelInfo
from manyhands.testing.scripted import SCRIPTED, ScriptedModel
from tests.homes import ready_home


@asynccontextmanager
async def hub_with(
    tmp_path: Path, *script: Any, info: ModelInfo = SCRIPTED, repeat: bool = False
) -> AsyncIterator[tuple[Hub, ScriptedModel]]:
    model = ScriptedModel(script, info=info, repeat=repeat)
    async with Hub(await ready_home(tmp_path / "home"), model=model) as hub:
        yield hub, model


async def channel_of(hub: Hub, project: Path) -> str:
    channel, _ = await hub.channels.find_or_create(dir_path=str(project))
    return channel.id


async def events_of(hub: Hub, channel_id: str, prompt: str, **options: Any) -> list[Event]:
    """Everything that a run tells, from its start to its end."""
    return [event async for event in hub.run(prompt, channel_id=channel_id, **options)]
