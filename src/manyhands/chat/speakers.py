"""Connected servers as a run hears them: their instructions, their skills, who is still on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from manyhands.chat.prompt import Skill
from manyhands.chat.types import Channel
from manyhands.errors import NotFoundError
from manyhands.events import EventBus
from manyhands.servers.service import ServerService


class ServerSpeakers:
    """`Speakers` on the server service."""

    def __init__(self, servers: ServerService, bus: EventBus) -> None:
        self._servers = servers
        self._bus = bus

    async def instructions(self, channel: Channel | None) -> Sequence[tuple[str, str]]:
        return [
            (server.config.name, catalogue.instructions)
            for server, catalogue in self._servers.connected(channel)
            if catalogue.instructions
        ]

    async def all_skills(self, channel: Channel | None) -> Sequence[Skill]:
        return [
            _skill(server.config.name, item)
            for server, catalogue in self._servers.connected(channel)
            for item in catalogue.skills
        ]

    async def read_skill(self, name: str, channel: Channel | None) -> str:
        """The text of a skill, by its name or `server:name`."""
        for server, catalogue in self._servers.connected(channel):
            for item in catalogue.skills:
                skill = _skill(server.config.name, item)
                if name in (skill.name, f"{skill.server}:{skill.name}", skill.uri):
                    return _text(await self._servers.read_resource(server.id, skill.uri, channel))
        raise NotFoundError(f"There is no skill {name!r}.", hint="Use a name from the list of skills.")

    async def settled(self, timeout_s: float) -> Sequence[str]:
        with anyio.move_on_after(timeout_s):
            async with self._bus.subscribe() as events:
                while self._servers.connecting():
                    async for event in events:
                        if event.type == "mcp.status":
                            break
        return self._servers.connecting()

    async def up_to_date(self, timeout_s: float) -> None:
        await self._servers.up_to_date(timeout_s)


def _skill(server: str, item: Mapping[str, Any]) -> Skill:
    uri = str(item.get("uri", ""))
    about = item.get("frontmatter") or item
    name = str(about.get("name") or uri.removeprefix("skill://").partition("/")[0])
    return Skill(server, name, str(about.get("description") or ""), uri)


def _text(resource: Mapping[str, Any]) -> str:
    parts = [str(content["text"]) for content in resource.get("contents", ()) if "text" in content]
    return "\n".join(parts)
