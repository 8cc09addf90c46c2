"""The notifications by which a server takes part in a conversation, as they come over the wire.

It pushes messages, and answers approvals that were relayed to it. What may come of that is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

from mcp.client import ClientExtension, NotificationBinding
from mcp.types import ClientNotification, Notification
from pydantic import BaseModel

from manyhands.servers.types import ChannelNotice, Pushed, Verdict

MESSAGE = "notifications/claude/channel"
VERDICT = "notifications/claude/channel/permission"


class _Message(BaseModel):
    content: str
    meta: dict[str, Any] | None = None


class _Verdict(BaseModel):
    request_id: str
    behavior: Literal["allow", "deny"]


class ChannelNotices(ClientExtension):
    """Listens for them on one connection."""

    identifier = "claude/channel"

    def __init__(self, listener: Callable[[ChannelNotice], None]) -> None:
        self._listener = listener

    def notifications(self) -> Sequence[NotificationBinding[Any]]:
        return (
            NotificationBinding(method=MESSAGE, params_type=_Message, handler=self._pushed),
            NotificationBinding(method=VERDICT, params_type=_Verdict, handler=self._answered),
        )

    async def _pushed(self, params: _Message) -> None:
        meta = {str(name): str(value) for name, value in (params.meta or {}).items()}
        self._listener(Pushed(params.content, meta))

    async def _answered(self, params: _Verdict) -> None:
        self._listener(Verdict(params.request_id, params.behavior == "allow"))


def custom_notification(method: str, params: Mapping[str, Any]) -> ClientNotification:
    """A notification that the protocol itself does not know."""
    return cast("ClientNotification", Notification[dict[str, Any], str](method=method, params=dict(params)))
