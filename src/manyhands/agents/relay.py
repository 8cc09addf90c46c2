"""Servers that take part in a channel: what they push is said there, approvals that wait there reach them.

Only where a person has let a server do so. What a server pushes is said by no person, so it carries nobody's
authority. An approval that was relayed to a server can be answered through it, once, by its short id; those
of its own calls are not relayed to it, and nothing else that it says answers anything.
"""

from __future__ import annotations

import json
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import anyio
from anyio.abc import TaskStatus

from manyhands.agents.short_ids import new_short_id
from manyhands.approvals.service import ApprovalService
from manyhands.approvals.types import ApprovalState
from manyhands.clock import Clock
from manyhands.errors import ManyhandsError
from manyhands.events import Event, EventBus
from manyhands.paging import MAX_LIMIT
from manyhands.servers.service import ServerService
from manyhands.servers.types import ChannelNotice, Pushed, Server

log = logging.getLogger(__name__)

ASK = "notifications/claude/channel/permission_request"
RELAYED = frozenset({"tool", "sampling", "workflow", "budget"})
"""What a yes or no can answer; forms need more than that."""
CONTENT_LIMIT = 100_000
PREVIEW_LIMIT = 200
PUSHES_A_MINUTE = 120
QUEUE = 1000
TELL_S = 5.0
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Say = Callable[[str, str, str], Awaitable[object]]
"""Says a text in a channel under a name: channel, text, name."""
CallServer = Callable[[str], Awaitable[int | None]]
"""The server whose tool a call is of."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """An approval that waits, under its short id, and the servers that were told of it."""

    approval_id: str
    servers: frozenset[int]


class ChannelRelay:
    """Carries between servers and the channels that they are allowed for."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        approvals: ApprovalService,
        servers: ServerService,
        say: Say,
        call_server: CallServer,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._approvals = approvals
        self._servers = servers
        self._say = say
        self._call_server = call_server
        self._asked: dict[str, _Asked] = {}
        self._pushed: dict[int, deque[float]] = {}
        self._refused: set[int] = set()
        self._send, self._receive = anyio.create_memory_object_stream[Callable[[], Awaitable[None]]](QUEUE)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Carry until cancelled."""
        self._servers.on_notice(self._noticed)
        self._bus.observe(self._follow, "approval.", "mcp.")
        task_status.started()
        with self._send, self._receive:
            async for work in self._receive:
                try:
                    await work()
                except ManyhandsError as error:
                    log.warning("a server's part in a channel: %s", error)

    # --- what happens, told in the tasks of others

    def _noticed(self, server_id: int, notice: ChannelNotice) -> None:
        if isinstance(notice, Pushed):
            self._soon(lambda: self._take_message(server_id, notice.content, notice.meta))
        else:
            self._soon(lambda: self._take_verdict(server_id, notice.request_id, notice.allow))

    def _follow(self, event: Event) -> None:
        data = event.data
        if event.type == "approval.requested" and event.channel_id is not None:
            self._soon(lambda: self._relay(data))
        elif event.type == "approval.resolved":
            self._forget(data["id"])
        elif event.type == "mcp.status" and data.get("status") == "connected":
            self._soon(lambda: self._catch_up(data["server_id"]))
        elif event.type == "mcp.updated":
            self._refused.discard(data["server_id"])

    def _soon(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            self._send.send_nowait(work)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            log.warning("too much comes from servers for channels at once; something was left out")

    # --- messages

    async def _take_message(self, server_id: int, content: str, meta: Mapping[str, str]) -> None:
        server = self._servers.speaker(server_id)
        if server is None:
            return
        channel_id = server.config.channel_push
        if channel_id is None:
            if server_id not in self._refused:
                self._refused.add(server_id)
                self._explain(server_id, "It wants to push messages, and no channel is set for it.")
        elif not content.strip() or len(content) > CONTENT_LIMIT:
            self._explain(server_id, f"A message of {len(content):,} characters was not taken.")
        elif not self._in_time(server_id):
            self._explain(server_id, f"More than {PUSHES_A_MINUTE} messages in a minute; one was not taken.")
        else:
            name = server.config.name
            await self._say(channel_id, wrapped(name, content, meta), f"server:{name}")

    def _in_time(self, server_id: int) -> bool:
        now = self._clock.monotonic()
        times = self._pushed.setdefault(server_id, deque())
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= PUSHES_A_MINUTE:
            return False
        times.append(now)
        return True

    def _explain(self, server_id: int, text: str) -> None:
        about = {"server_id": server_id, "level": "warning", "logger": "manyhands"}
        self._bus.publish("mcp.log", {**about, "data": text})

    # --- approvals

    async def _relay(self, approval: Mapping[str, Any], only: int | None = None) -> None:
        """Tell the servers of its channel of an approval, but not the one whose call it is."""
        if approval["kind"] not in RELAYED or any(
            asked.approval_id == approval["id"] and (only is None or only in asked.servers)
            for asked in self._asked.values()
        ):
            return
        told = [one for one in await self._listeners(approval) if only in (None, one.id)]
        if not told:
            return
        request_id, before = self._short_id(approval["id"])
        # Before it is told: the answer may come at once.
        self._asked[request_id] = _Asked(approval["id"], before | {one.id for one in told})
        for server in told:
            with anyio.move_on_after(TELL_S):
                await self._servers.notify(server.id, ASK, question(request_id, approval))

    def _short_id(self, approval_id: str) -> tuple[str, frozenset[int]]:
        for request_id, asked in self._asked.items():
            if asked.approval_id == approval_id:
                return request_id, asked.servers
        return new_short_id(self._asked), frozenset()

    async def _listeners(self, approval: Mapping[str, Any]) -> list[Server]:
        """Whoever may answer it. What belongs to no call says in its detail which server it is about."""
        call_id = approval["call_id"]
        if approval["kind"] == "tool" and call_id is None:
            return []  # whether a server may start at all is not for servers
        own = await self._call_server(call_id) if call_id else None
        about = approval["detail"].get("server")
        return [
            server
            for server in self._servers.speakers_in(approval["channel_id"])
            if server.id != own and server.config.name != about
        ]

    async def _catch_up(self, server_id: int) -> None:
        """A server that comes is told of what waits already."""
        server = self._servers.speaker(server_id)
        if server is None or server.config.channel_push is None:
            return
        page = await self._approvals.list(ApprovalState.PENDING, MAX_LIMIT)
        for approval in reversed(page.items):
            if approval.question.channel_id == server.config.channel_push:
                await self._relay(approval.wire(), only=server_id)

    async def _take_verdict(self, server_id: int, request_id: str, allow: bool) -> None:
        asked = self._asked.get(request_id.strip().lower())
        server = self._servers.speaker(server_id)
        if asked is None or server is None or server_id not in asked.servers:
            self._explain(server_id, "It answered a request that does not wait, or is not its to answer.")
            return
        approval = await self._approvals.get(asked.approval_id)
        if server.config.channel_push != approval.question.channel_id:
            self._explain(server_id, "It answered for a channel that it is no longer allowed for.")
            return
        reason = f"Answered through the server {server.config.name!r}."
        await self._approvals.answer(asked.approval_id, allow, "once", None, reason)

    def _forget(self, approval_id: str) -> None:
        self._asked = {
            request_id: asked for request_id, asked in self._asked.items() if asked.approval_id != approval_id
        }


def wrapped(server: str, content: str, meta: Mapping[str, str]) -> str:
    """A pushed message with where it comes from, so that nobody takes it for a person's."""
    known = {name: value for name, value in meta.items() if _ATTRIBUTE.fullmatch(name) and name != "source"}
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in known.items())
    inside = re.sub(r"<(/?)channel\b", r"<\1 channel", content, flags=re.IGNORECASE)
    return f"<channel source={quoteattr(server)}{attributes}>\n{inside}\n</channel>"


def question(request_id: str, approval: Mapping[str, Any]) -> dict[str, str]:
    """An approval as it is relayed."""
    detail = approval["detail"]
    preview = json.dumps(detail.get("arguments", detail), ensure_ascii=False, default=str)
    cut = preview if len(preview) <= PREVIEW_LIMIT else preview[: PREVIEW_LIMIT - 1] + "…"
    return {
        "request_id": request_id,
        "tool_name": str(detail.get("full_name") or detail.get("tool") or approval["kind"]),
        "description": str(approval["title"]),
        "input_preview": cut,
    }
