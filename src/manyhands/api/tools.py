"""Tools, their calls, the call log and the rules, over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from manyhands.api import schemas
from manyhands.api.access import (
    PAGE,
    ChannelOf,
    Cursor,
    HubOf,
    Limit,
    PrincipalOf,
    crowds_of,
    items,
    slice_page,
    while_connected,
)
from manyhands.chat.context import weight
from manyhands.chat.hands import to_spec
from manyhands.clock import rfc3339
from manyhands.errors import NotFoundError, UnavailableError
from manyhands.hub import Hub
from manyhands.paging import MAX_LIMIT
from manyhands.tools.call_log import CallFilter
from manyhands.tools.policy import Rule
from manyhands.tools.types import NATIVE, CallContext, CallRecord, CallStatus, Listing, ToolMatch

router = APIRouter(tags=["tools"])


def shape_tool(listing: Listing) -> schemas.Tool:
    definition = listing.definition
    return schemas.Tool(
        fullName=definition.full_name,
        name=definition.name,
        description=definition.description,
        inputSchema=dict(definition.input_schema),
        outputSchema=dict(definition.output_schema) if definition.output_schema is not None else None,
        serverName=definition.server,
        serverId=definition.server_id,
        project=definition.project,
        annotations=definition.annotations.wire(),
        saysDestructive=definition.annotations.says_destructive,
        saysOpenWorld=definition.annotations.says_open_world,
        tokens=weight([to_spec(listing)]),
        offered=listing.offered,
        reason=listing.reason,
        enabled=listing.enabled,
        policy=listing.policy,
        changed=listing.changed,
        diff=listing.diff,
        status=listing.status,
        repair=listing.repair,
    )


def shape_match(match: ToolMatch) -> schemas.FoundTool:
    return schemas.FoundTool(score=round(match.score, 3), **shape_tool(match.listing).model_dump())


def shape_call(record: CallRecord) -> schemas.Call:
    return schemas.Call(**record.wire())


def shape_rule(rule: Rule) -> schemas.Rule:
    return schemas.Rule(
        id=rule.id,
        effect=rule.effect,
        server=rule.server,
        tool=rule.tool,
        arguments=dict(rule.arguments),
        project=rule.project,
        channel_id=rule.channel_id,
        session_id=rule.session_id,
        note=rule.note,
        description=rule.describe(),
        created_at=rfc3339(rule.created_at) if rule.created_at else None,
    )


@router.get("/tools")
async def list_tools(
    hub: HubOf,
    channel: ChannelOf,
    server: Annotated[str | None, Query(description="Only those of this server.")] = None,
    limit: Limit = MAX_LIMIT,
    cursor: Cursor = None,
) -> schemas.Items[schemas.Tool]:
    """Every tool that is known, offered to a model or not, and why."""
    found = await hub.tools.list(channel)
    if server is not None:
        found = [listing for listing in found if listing.definition.server == server]
    page, next_cursor = slice_page(found, limit, cursor)
    return items(page, next_cursor, shape_tool)


@router.patch("/tools/{name}")
async def change_native_tool(hub: HubOf, name: str, body: schemas.ToolPreference) -> schemas.ToolPreferred:
    """Switch a native tool on or off, or say what calls of it need; kept as rules."""
    kept = await hub.tools.prefer_native(name, enabled=body.enabled, policy=body.policy)
    return schemas.ToolPreferred(tool=name, enabled=kept.enabled, policy=kept.policy)


@router.get("/tools/why")
async def why_tool(hub: HubOf, channel: ChannelOf, name: str) -> schemas.Json:
    """Why a tool is offered or not, and what would happen when it is called."""
    answer = await hub.why(name, channel)
    return {"fullName": answer["full_name"], **answer}


@router.get("/tools/search")
async def search_tools(
    hub: HubOf, channel: ChannelOf, q: Annotated[str, Query(min_length=1)], limit: Limit = 10
) -> schemas.Items[schemas.FoundTool]:
    """Tools by what one wants to do, the best first."""
    return items(await hub.tools.search(q, limit, channel), None, shape_match)


@router.post("/tools/call")
async def call_tool(
    hub: HubOf, principal: PrincipalOf, body: schemas.ToolCall, request: Request
) -> schemas.Call:
    """Call a tool. The owner's own call is its own approval; a tool that fails is an answer with `isError`.

    When the client hangs up, the call is cancelled and its server told.
    """
    name = body.name or await _name_of(hub, body)
    context = CallContext(channel_id=body.channel_id, author_id=principal.id, direct=True)
    record: CallRecord | None = None
    with crowds_of(request).calls.enter():
        record = await while_connected(request, lambda: hub.tools.call(name, body.arguments, context))
    if record is None:
        raise UnavailableError("The hub is shutting down.", hint="The call log says how it ended.")
    return shape_call(record)


async def _name_of(hub: Hub, body: schemas.ToolCall) -> str:
    """`server` and `tool` as one name; the number of a server works whatever its name."""
    assert body.tool is not None
    server = str(body.server)
    if server == NATIVE:
        return body.tool
    if server.isdecimal():
        return f"mcp__{server}__{body.tool}"
    channel = await hub.channel(body.channel_id)
    project = channel.dir_path if channel else None
    views = [view for view in await hub.servers.list(channel) if view.server.config.name == server]
    # The project's server wins inside its channel.
    chosen = next((view for view in views if view.server.project == project), views[0] if views else None)
    if chosen is None:
        raise NotFoundError(f"There is no server {server!r}.", hint="`manyhands servers list` shows them.")
    return f"mcp__{chosen.server.id}__{body.tool}"


@router.get("/tool-calls")
async def list_calls(
    hub: HubOf,
    server: str | None = None,
    tool: str | None = None,
    status: CallStatus | None = None,
    run: str | None = None,
    channel_id: str | None = None,
    q: Annotated[str | None, Query(description="A text in the call: names, arguments, result.")] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[schemas.Call]:
    """The call log, newest first.

    With `q` a page may hold fewer calls than asked for, even none, and still have a `next_cursor`: each
    request looks through a bounded part of the log.
    """
    wanted = CallFilter(server, tool, status, run, channel_id, q)
    page = await hub.tools.calls(wanted, limit, cursor)
    return items(page.items, page.next_cursor, shape_call)


@router.get("/tool-calls/{call_id}")
async def get_call(hub: HubOf, call_id: str) -> schemas.Call:
    """One call."""
    return shape_call(await hub.tools.get_call(call_id))


@router.get("/tool-calls/{call_id}/result")
async def read_result(
    hub: HubOf,
    call_id: str,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000_000)] = 30_000,
) -> schemas.CallResult:
    """Part of the text of a result, also of one that was too large for the log."""
    page = await hub.tools.result_page(call_id, offset, limit)
    return schemas.CallResult(
        call_id=page.call_id, offset=page.offset, text=page.text, size=page.size, next_offset=page.next_offset
    )


@router.get("/rules")
async def list_rules(
    hub: HubOf, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[schemas.Rule]:
    """What is allowed, asked or denied, newest first."""
    page, next_cursor = slice_page(await hub.tools.rules(), limit, cursor)
    return items(page, next_cursor, shape_rule)


@router.post("/rules", status_code=201)
async def add_rule(hub: HubOf, body: schemas.NewRule) -> schemas.Rule:
    """Add a rule; it holds from the next call on."""
    return shape_rule(await hub.tools.add_rule(body.effect, **body.model_dump(exclude={"effect"})))


@router.delete("/rules/{rule_id}", status_code=204)
async def remove_rule(hub: HubOf, rule_id: str) -> None:
    """Revoke a rule."""
    await hub.tools.remove_rule(rule_id)
