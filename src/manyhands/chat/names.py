"""Who can be mentioned in a channel: the hub by its name, and the agents that are there."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from manyhands.chat.mentions import Named
from manyhands.chat.types import Channel, Message
from manyhands.errors import ManyhandsError
from manyhands.settings import CurrentSettings

log = logging.getLogger(__name__)

TellAgent = Callable[[Message, str], Awaitable[object]]
"""Puts a message into the box of an agent."""
AgentsOf = Callable[[str], Awaitable[Sequence[tuple[str, str]]]]
"""Id and name of every agent of a channel."""


class NamesHere:
    """`Names` of a hub. An agent that takes the hub's name is not the hub."""

    def __init__(self, settings: CurrentSettings, agents_of: AgentsOf, tell_agent: TellAgent) -> None:
        self._settings = settings
        self._agents_of = agents_of
        self._tell_agent = tell_agent

    async def names(self, channel: Channel) -> Sequence[Named]:
        hub = Named("hub", "hub", self._settings.current.hub_name)
        agents = await self._agents_of(channel.id)
        return [
            hub,
            *(Named("agent", agent_id, name) for agent_id, name in agents if name.strip()),
            *(Named("agent", agent_id, agent_id) for agent_id, _ in agents),
        ]

    async def tell(self, message: Message) -> None:
        mentioned = {one.id for one in message.mentions if one.kind == "agent"} - {message.author_id}
        for agent_id in sorted(mentioned):
            try:
                await self._tell_agent(message, agent_id)
            except ManyhandsError as error:  # its box may be full, or the writer no agent of the channel
                log.info("%s was not told of a mention: %s", agent_id, error)
