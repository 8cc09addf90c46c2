"""Who speaks to the hub, and what an agent's token is good for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from manyhands.clock import rfc3339

PRINCIPAL = "manyhands.principal"
"""The key under which a request carries its `Principal`."""
TOKEN_MARK = "mha_"  # noqa: S105 - how one begins
"""How every limited token begins, so that nobody takes it for the owner's."""

Flag = Literal["memory", "gateway", "run"]
"""What is offered beside the rest; `run`: it was issued to the agent that does a run of its channel."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who speaks. An agent has a channel and reaches nothing outside of that channel's project."""

    id: str = "owner"
    kind: Literal["owner", "agent"] = "owner"
    channel_id: str | None = None
    project: str | None = None
    agent_id: str | None = None
    author_id: str | None = None
    flags: frozenset[Flag] = frozenset()

    @property
    def author(self) -> str:
        """The name under which everything that it makes is recorded."""
        return self.author_id or self.agent_id or ("owner" if self.kind == "owner" else "agent")

    @property
    def is_in_run(self) -> bool:
        """Whether it speaks from within a run of its channel."""
        return "run" in self.flags


@dataclass(frozen=True, slots=True)
class Grant:
    """What a limited token is to be good for. Without `expires_at` it holds until it is revoked."""

    channel_id: str
    agent_id: str | None = None
    author_id: str | None = None
    flags: frozenset[Flag] = frozenset()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A limited token as it is kept: the token itself is not."""

    id: str
    hash: str
    channel_id: str
    project: str | None
    agent_id: str | None
    author_id: str | None
    flags: frozenset[Flag]
    created_at: datetime
    expires_at: datetime | None

    @property
    def principal(self) -> Principal:
        return Principal(
            self.id, "agent", self.channel_id, self.project, self.agent_id, self.author_id, self.flags
        )

    def wire(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            "id": self.id,
            "channel_id": self.channel_id,
            "project": self.project,
            "agent_id": self.agent_id,
            "author_id": self.author_id,
            "memory": "memory" in self.flags,
            "gateway": "gateway" in self.flags,
            "created_at": rfc3339(self.created_at),
            "expires_at": None if self.expires_at is None else rfc3339(self.expires_at),
        }
