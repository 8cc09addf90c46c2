"""The tools of the connected servers, for callers whose token says so: same policy, same inbox, same log.

Owns how a listing and a record look to an MCP client. Who may call what is decided in `tools/`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio

from manyhands.access.types import Principal
from manyhands.chat.types import Channel
from manyhands.errors import NotFoundError
from manyhands.events import Event
from manyhands.hub import Hub
from manyhands.ids import new_id
from manyhands.mcp_server.toolbox import Outcome, refused
from manyhands.tools.types import NATIVE, CallContext, CallRecord, Listing

PREFIX = "mcp__"
CHANGES = frozenset({"mcp.tools_changed", "mcp.status"})
"""Events after which the list may be another one."""
LAST_REPORTS_S = 0.5
"""How long an ended call waits for its last progress to be handed on."""

Report = Callable[[float, float | None, str | None], Awaitable[None]]


def takes_part(principal: Principal) -> bool:
    """Whether this caller uses the servers' tools."""
    return "gateway" in principal.flags


async def listings(hub: Hub, principal: Principal) -> list[Listing]:
    """The tools of connected servers that are offered in the caller's channel."""
    found = await hub.tools.list(await _channel(hub, principal))
    return [one for one in found if one.offered and one.definition.server != NATIVE]


async def call(
    hub: Hub, principal: Principal, name: str, arguments: object, report: Report | None = None
) -> Outcome:
    """Call one; it is asked about, run and logged like a call of the hub's own loop."""
    listing = await hub.tools.find(name, await _channel(hub, principal))
    if listing is None or listing.definition.server == NATIVE or not listing.enabled:
        return refused(
            NotFoundError(f"There is no tool {name!r}.", hint="tools/list shows those that there are.")
        )
    context = CallContext(channel_id=principal.channel_id, author_id=principal.author, call_id=new_id("call"))
    return await _outcome(hub, await _call_and_report(hub, name, arguments, context, report))


async def _channel(hub: Hub, principal: Principal) -> Channel | None:
    return await hub.channel(principal.channel_id)


async def _call_and_report(
    hub: Hub, name: str, arguments: object, context: CallContext, report: Report | None
) -> CallRecord:
    """The call, with its progress handed on while it runs if somebody wants it."""
    if report is None:
        return await hub.tools.call(name, arguments, context)
    async with anyio.create_task_group() as group:
        told = anyio.Event()
        async with hub.bus.subscribe() as events:
            group.start_soon(_hand_on, events, context.call_id, report, told)
            record = await hub.tools.call(name, arguments, context)
            with anyio.move_on_after(LAST_REPORTS_S):
                await told.wait()
            group.cancel_scope.cancel()
    return record


async def _hand_on(
    events: AsyncIterator[Event], call_id: str | None, report: Report, told: anyio.Event
) -> None:
    async for event in events:
        if event.data.get("id") != call_id:
            continue
        if event.type == "tool.progress":
            await report(event.data["progress"], event.data.get("total"), event.data.get("message"))
        elif event.type == "tool.finished":
            told.set()


async def _outcome(hub: Hub, record: CallRecord) -> Outcome:
    meta: dict[str, Any] = {"manyhands/call_id": record.id}
    if record.result_file is not None:
        whole = await hub.tools.whole_result(record.id)
        return Outcome(whole.content, whole.structured, whole.is_error, meta)
    content = record.content or [{"type": "text", "text": record.result or record.error or ""}]
    return Outcome(content, record.structured_content, record.is_error, meta)
