"""Agents of a channel, and the messages that they send each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from manyhands.clock import rfc3339

OWNER = "owner"
"""Who a message is from when a person sends it; no agent can take this id."""


class Receipt(StrEnum):
    """What became of a message."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    READ = "read"
    EXPIRED = "expired"

    @property
    def open(self) -> bool:
        """Whether it may still be read."""
        return self in (Receipt.QUEUED, Receipt.DELIVERED)


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of one channel, as it last described itself."""

    channel_id: str
    id: str
    name: str
    status: str
    work_summary: str
    registered_at: datetime
    last_seen: datetime

    def wire(self) -> dict[str, Any]:
        """As `agent.*` events write it."""
        return {
            "id": self.id,
            "channel_id": self.channel_id,
            "name": self.name,
            "status": self.status,
            "work_summary": self.work_summary,
            "registered_at": rfc3339(self.registered_at),
            "last_seen": rfc3339(self.last_seen),
        }


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent at this moment. `listening`: messages reach it at once; `waiting`: how many do not yet."""

    agent: Agent
    listening: bool = False
    waiting: int = 0
    me: bool = False

    def wire(self) -> dict[str, Any]:
        """As the API shows it."""
        now = {"listening": self.listening, "waiting": self.waiting, "me": self.me}
        return self.agent.wire() | now


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A message from one agent to another. `seq` grows with every message of the hub."""

    id: str
    seq: int
    channel_id: str
    from_agent: str
    to_agent_id: str
    content: str
    state: Receipt
    at: datetime
    delivered_at: datetime | None = None
    ended_at: datetime | None = None
    """When it was read, or expired."""

    def wire(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            "id": self.id,
            "channel_id": self.channel_id,
            "from_agent": self.from_agent,
            "to_agent_id": self.to_agent_id,
            "content": self.content,
            "state": self.state.value,
            "at": rfc3339(self.at),
            "delivered_at": _moment(self.delivered_at),
            "ended_at": _moment(self.ended_at),
        }

    def frame(self) -> dict[str, Any]:
        """As it is pushed to its receiver, who answers with `{ack: id}`."""
        return {
            "id": self.id,
            "from_agent": self.from_agent,
            "content": self.content,
            "at": rfc3339(self.at),
        }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else rfc3339(at)
