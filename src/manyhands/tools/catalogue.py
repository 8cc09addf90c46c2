"""All tools as one: native ones and those of servers, found by name, listed with the reason for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from manyhands.chat.types import Channel
from manyhands.errors import ManyhandsError
from manyhands.tools.native.definition import NativeTool
from manyhands.tools.native_preferences import with_preference
from manyhands.tools.policy import Policy
from manyhands.tools.types import Effect, Listing, ServerPolicy, Tool, ToolSource

SERVER_PREFIX = "mcp__"
REMEMBERED = 4096
"""With more, all are forgotten."""


@dataclass(frozen=True, slots=True)
class Found:
    """A tool that was looked up. `tool` is absent when it cannot be called now; `server` for a native one."""

    listing: Listing
    tool: Tool | None
    server: ServerPolicy | None
    default: Effect = Effect.ASK


class ToolCatalogue:
    """Looks tools up."""

    def __init__(self, native: Mapping[str, NativeTool], source: ToolSource) -> None:
        self._native = native
        self._source = source
        self._version: object = None
        self._remembered: dict[tuple[str, str | None], Found] = {}

    async def find(self, name: str, channel: Channel | None) -> Found | None:
        native = self._native.get(name)
        if native is not None:
            return Found(_native_listing(native, channel), native, None, native.default)
        if not name.startswith(SERVER_PREFIX):
            return None
        remembered, key = self._memory(), (name, channel.dir_path if channel else None)
        found = remembered.get(key)
        if found is None and (found := await self._look_up(name, channel)) is not None:
            remembered[key] = found
        return found

    def _memory(self) -> dict[tuple[str, str | None], Found]:
        """What was found since something changed."""
        version = self._source.version()
        if version != self._version or len(self._remembered) >= REMEMBERED:
            self._version, self._remembered = version, {}
        return self._remembered

    async def _look_up(self, name: str, channel: Channel | None) -> Found | None:
        listing = await self._source.listing(name, channel)
        if listing is None:
            return None
        tool = self._source.tool(listing, channel) if listing.enabled else None
        server_id = listing.definition.server_id
        return Found(listing, tool, None if server_id is None else self._source.server_policy(server_id))

    async def find_for_call(self, name: str, channel: Channel | None) -> Found | None:
        """The same; a name that nothing known answers to is looked up again once its server is connected."""
        found = await self.find(name, channel)
        known = found is not None and (found.tool is not None or not found.listing.enabled)
        if known or not name.startswith(SERVER_PREFIX):
            return found
        await self._source.meet(name, channel)
        return await self.find(name, channel)

    def obstacle(self, found: Found) -> ManyhandsError | None:
        """Why it cannot be called before a person does something, if so."""
        server_id = found.listing.definition.server_id
        return None if server_id is None else self._source.obstacle(server_id)

    async def listings(self, channel: Channel | None, policy: Policy) -> list[Listing]:
        """Every tool, native ones first, in stable order; one that a rule denies outright is not offered."""
        native = [
            with_preference(_native_listing(tool, channel), policy.rules) for tool in self._native.values()
        ]
        channel_id = channel.id if channel else None
        return [
            with_denial(listing, policy, channel_id)
            for listing in [*native, *await self._source.listings(channel)]
        ]


def _native_listing(tool: NativeTool, channel: Channel | None) -> Listing:
    problem = tool.problem(channel)
    return Listing(tool.definition, problem is None, problem or "native")


def with_denial(listing: Listing, policy: Policy, channel_id: str | None) -> Listing:
    """The listing, not offered if a person has denied the tool whatever its arguments."""
    if listing.policy is Effect.DENY:
        return (
            replace(listing, offered=False, reason="this tool is set to deny") if listing.offered else listing
        )
    denial = policy.denial(listing.definition, channel_id) if listing.offered else None
    return listing if denial is None else replace(listing, offered=False, reason=denial.reason)
