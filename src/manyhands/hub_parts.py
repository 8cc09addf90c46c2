"""Small parts that the hub is put together with."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from manyhands.access.service import AccessService
from manyhands.access.types import Grant
from manyhands.chat.runs import RunService
from manyhands.guardian import Guardian, guardian
from manyhands.home import Home
from manyhands.models.types import Model
from manyhands.system import kill_marked

log = logging.getLogger(__name__)


class ChannelTokens:
    """`Tokens` of command agents."""

    def __init__(self, access: AccessService) -> None:
        self._access = access

    async def issue(self, channel_id: str, author_id: str) -> tuple[str, str]:
        secret, token = await self._access.issue_token(
            Grant(channel_id, author_id=author_id, flags=frozenset({"run"}))
        )
        return secret, token.id

    async def revoke(self, token_id: str) -> None:
        await self._access.revoke(token_id)


class Said:
    """What the hub says by itself, and corrects."""

    def __init__(self, runs: RunService) -> None:
        self.tell = runs.writer.tell
        self.edit = runs.edit


class OneModel:
    """Whatever model is asked for, it is this one."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def resolve(self, wanted: str | None = None) -> Model:
        return self._model

    async def warm(self, wanted: str | None = None) -> None:
        """It is here."""


@asynccontextmanager
async def background() -> AsyncIterator[TaskGroup]:
    """The hub's one task group; what still runs at the end is cancelled."""
    async with anyio.create_task_group() as group:
        try:
            yield group
        finally:
            group.cancel_scope.cancel()


@asynccontextmanager
async def guarded(home: Home) -> AsyncIterator[Guardian]:
    """A guardian for the servers of this home; what an earlier one could not end is ended first."""
    marker = hashlib.sha256(str(home.path).encode()).hexdigest()[:16]
    if left := await anyio.to_thread.run_sync(kill_marked, marker):
        log.warning("ended %d processes that an earlier hub left behind", left)
    async with guardian(marker) as guard:
        yield guard
