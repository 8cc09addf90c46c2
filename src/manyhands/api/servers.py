"""Servers over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Body, Query
from starlette.requests import Request
from starlette.responses import Response

from manyhands.api import schemas
from manyhands.api.access import ChannelOf, Cursor, HubOf, Limit, items, slice_page, while_connected
from manyhands.api.pages import message_page
from manyhands.api.tools import shape_tool
from manyhands.clock import rfc3339
from manyhands.errors import InvalidError, ManyhandsError
from manyhands.hub import Hub
from manyhands.paging import MAX_LIMIT
from manyhands.servers.config import ServerInput
from manyhands.servers.sign_in import CALLBACK_PATH
from manyhands.servers.views import ImportItem, Outcome, ServerView, config_wire
from manyhands.tools.types import Effect

router = APIRouter(prefix="/servers", tags=["servers"])

_CONFIG = schemas.described_body(ServerInput)
Config = Annotated[dict[str, Any], Body()]
Wait = Annotated[bool, Query(description="Answer when the attempt is over; false answers at once.")]


def shape(view: ServerView) -> schemas.Server:
    return schemas.Server(**view.wire())


def shape_outcome(outcome: Outcome) -> schemas.ServerOutcome:
    return schemas.ServerOutcome(**outcome.wire())


# --- all of them


@router.get("")
async def list_servers(
    hub: HubOf, channel: ChannelOf, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[schemas.Server]:
    """Every server; with a channel, those that it can see."""
    page, next_cursor = slice_page(await hub.servers.list(channel), limit, cursor)
    return items(page, next_cursor, shape)


@router.post("", status_code=201, openapi_extra=_CONFIG)
async def save_server(hub: HubOf, config: Config, wait: Wait = True) -> schemas.ServerOutcome:
    """Save a server and connect it; a name that exists replaces that server's config.

    A config that fails to connect is kept.
    """
    await _check_channel(hub, config)
    return shape_outcome(await hub.servers.save(config, wait=wait))


async def _check_channel(hub: Hub, config: dict[str, Any]) -> None:
    """A server is allowed for a channel that is there."""
    channel_id = config.get("channel_push")
    if isinstance(channel_id, str):
        await hub.channels.get(channel_id)


@router.post("/reconnect-all")
async def reconnect_all(hub: HubOf, wait: Wait = True) -> schemas.Items[schemas.ServerOutcome]:
    """Connect every enabled server anew, side by side."""
    return items(await hub.servers.reconnect_all(wait=wait), None, shape_outcome)


@router.post("/test", openapi_extra=_CONFIG)
async def test_server(hub: HubOf, config: Config, request: Request) -> schemas.ServerTest:
    """Connect once without saving; with `id`, what is not given is that server's."""
    server_id = config.get("id")
    if server_id is not None and not isinstance(server_id, int):
        raise InvalidError(f"id is {server_id!r}.", hint="Server ids are numbers.")
    rest = {name: value for name, value in config.items() if name != "id"}
    report = await while_connected(request, lambda: hub.servers.test(rest, server_id=server_id))
    return schemas.ServerTest(**report.wire())


@router.post("/import")
async def import_servers(hub: HubOf, body: schemas.ServerImport, wait: Wait = True) -> schemas.ServerImported:
    """Take over the `mcpServers` JSON of another client: a whole file, or one entry."""
    content = body.text if body.text is not None else body.config or {}
    report = await hub.servers.import_json(
        content, body.source, name=body.name, trust=body.trust, dry_run=body.dry_run
    )
    found = await _imported(hub, report.items, wait=wait and not body.dry_run)
    return schemas.ServerImported(source=report.source, items=found, warnings=list(report.notes))


async def _imported(
    hub: Hub, entries: Sequence[ImportItem], *, wait: bool
) -> list[schemas.ServerImportedItem]:
    outcomes: dict[int, Outcome] = {}

    async def await_connection(server_id: int) -> None:
        outcomes[server_id] = await hub.servers.connect(server_id, wait=wait)

    async with anyio.create_task_group() as group:
        for entry in entries:
            if wait and entry.server_id is not None and entry.action != "skipped":
                group.start_soon(await_connection, entry.server_id)
    return [await _imported_item(hub, entry, outcomes.get(entry.server_id or 0)) for entry in entries]


async def _imported_item(hub: Hub, entry: ImportItem, outcome: Outcome | None) -> schemas.ServerImportedItem:
    view = outcome.view if outcome else await hub.servers.get(entry.server_id) if entry.server_id else None
    return schemas.ServerImportedItem(
        name=entry.name,
        action=entry.action,
        reason=entry.reason,
        notes=list(entry.notes),
        ok=outcome.ok if outcome else entry.action != "skipped" or view is not None,
        error=outcome.error if outcome else None if view else entry.reason,
        server=shape(view) if view else None,
        config=config_wire(entry.config) if entry.config else None,
    )


@router.get("/export")
async def export_servers(
    hub: HubOf,
    name: Annotated[list[str], Query(default_factory=list, description="Only these.")],
) -> schemas.Json:
    """The global servers as `mcpServers` JSON for other clients, without secrets."""
    return (await hub.servers.export(name)).wire()


@router.get(CALLBACK_PATH.removeprefix("/api/servers"), include_in_schema=False)
async def finish_sign_in(hub: HubOf, request: Request, state: str | None = None) -> Response:
    """Where a browser comes back from signing in. It needs no token: only we know `state`."""
    try:
        outcome = await hub.servers.finish_login(state or "", str(request.url))
    except ManyhandsError as error:
        return message_page("The sign-in did not work", str(error), error.status)
    name = outcome.view.server.config.name
    if not outcome.ok:
        return message_page(f"Signed in to {name}", f"It cannot be connected yet: {outcome.error}")
    return message_page(f"Signed in to {name}", "You can close this window.")


# --- one of them


@router.get("/{server_id}")
async def get_server(hub: HubOf, server_id: int) -> schemas.Server:
    """One server."""
    return shape(await hub.servers.get(server_id))


@router.put("/{server_id}", openapi_extra=_CONFIG)
async def change_server(
    hub: HubOf, server_id: int, config: Config, wait: Wait = True
) -> schemas.ServerOutcome:
    """Change its config; what is not sent stays, a masked secret is kept, and it reconnects if it must."""
    await _check_channel(hub, config)
    return shape_outcome(await hub.servers.save(config, server_id=server_id, wait=wait))


@router.delete("/{server_id}", status_code=204)
async def remove_server(hub: HubOf, server_id: int) -> None:
    """End it and forget it, with its sign-in, its secrets and what was allowed to it."""
    await hub.remove_server(server_id)


@router.post("/{server_id}/connect")
async def connect_server(hub: HubOf, server_id: int, wait: Wait = True) -> schemas.ServerOutcome:
    """Connect it, also one that was disconnected by hand."""
    return shape_outcome(await hub.servers.connect(server_id, wait=wait))


@router.post("/{server_id}/reconnect")
async def reconnect_server(hub: HubOf, server_id: int, wait: Wait = True) -> schemas.ServerOutcome:
    """End what is there and connect anew."""
    return shape_outcome(await hub.servers.reconnect(server_id, wait=wait))


@router.post("/{server_id}/disconnect")
async def disconnect_server(hub: HubOf, server_id: int) -> schemas.ServerOutcome:
    """Disconnect it; only a person connects it again."""
    return shape_outcome(await hub.servers.disconnect(server_id))


@router.post("/{server_id}/enable")
async def enable_server(hub: HubOf, server_id: int, wait: Wait = True) -> schemas.ServerOutcome:
    """Let it be connected, now and at every start."""
    return shape_outcome(await hub.servers.enable(server_id, True, wait=wait))


@router.post("/{server_id}/disable")
async def disable_server(hub: HubOf, server_id: int) -> schemas.ServerOutcome:
    """Disconnect it and do not connect it again until it is enabled."""
    return shape_outcome(await hub.servers.enable(server_id, False))


@router.get("/{server_id}/log")
async def read_log(hub: HubOf, server_id: int) -> schemas.ServerLog:
    """The end of what it wrote to its standard error, and how its process is."""
    return schemas.ServerLog(**(await hub.servers.log(server_id)).wire())


# --- signing in


@router.post("/{server_id}/login")
async def start_sign_in(hub: HubOf, server_id: int) -> schemas.SignIn:
    """Begin a sign-in: a person opens `url`."""
    start = await hub.servers.login(server_id)
    return schemas.SignIn(
        server_id=start.server_id,
        url=start.url,
        state=start.state,
        redirect_uri=start.redirect_uri,
        expires_at=rfc3339(start.expires_at),
    )


@router.post("/{server_id}/login/finish")
async def paste_sign_in(hub: HubOf, server_id: int, body: schemas.SignInEnd) -> schemas.ServerOutcome:
    """End a sign-in with the address that the browser ended at, when it runs on another machine."""
    answer = body.callback_url or body.code
    if not answer:
        raise InvalidError("Nothing was pasted.", hint="Send `callback_url` (or `code` with `state`).")
    return shape_outcome(await hub.servers.finish_login(body.state, answer, server_id=server_id))


@router.post("/{server_id}/logout")
async def sign_out(hub: HubOf, server_id: int) -> schemas.ServerOutcome:
    """Forget its tokens."""
    return shape_outcome(await hub.servers.logout(server_id))


# --- what it offers


@router.get("/{server_id}/tools")
async def list_server_tools(
    hub: HubOf, server_id: int, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[schemas.Tool]:
    """Its tools, from the last list that is known."""
    page, next_cursor = slice_page(await hub.servers.tools(server_id), limit, cursor)
    return items(page, next_cursor, shape_tool)


@router.patch("/{server_id}/tools/{tool:path}")
async def change_tool(
    hub: HubOf, server_id: int, tool: str, body: schemas.ToolPreference
) -> schemas.ToolPreferred:
    """Switch a tool on or off, or say what calls of it need; kept by name across reconnects."""
    kept = await hub.servers.set_preference(server_id, tool, enabled=body.enabled, policy=body.policy)
    policy = Effect(kept.policy) if kept.policy else None
    return schemas.ToolPreferred(tool=tool, enabled=kept.enabled, policy=policy)


@router.post("/{server_id}/tools/{tool:path}/accept", status_code=204)
async def accept_tool(hub: HubOf, server_id: int, tool: str) -> None:
    """A person has seen how the tool's definition changed: pin it as it is now."""
    await hub.servers.accept_definition(server_id, tool)


@router.get("/{server_id}/resources")
async def list_resources(
    hub: HubOf, server_id: int, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Resources:
    """Its resources, as MCP writes them, and the templates for more of them."""
    page, next_cursor = slice_page(await hub.servers.resources(server_id), limit, cursor)
    templates = [dict(template) for template in await hub.servers.resource_templates(server_id)]
    return schemas.Resources(
        items=[dict(resource) for resource in page], next_cursor=next_cursor, templates=templates
    )


@router.get("/{server_id}/prompts")
async def list_prompts(
    hub: HubOf, server_id: int, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[schemas.Json]:
    """Its prompts; `command` is how a person calls one."""
    page, next_cursor = slice_page(await hub.servers.prompts(server_id), limit, cursor)
    return items(page, next_cursor, dict)


@router.get("/{server_id}/skills")
async def list_skills(
    hub: HubOf, server_id: int, limit: Limit = MAX_LIMIT, cursor: Cursor = None
) -> schemas.Items[schemas.Json]:
    """Its skills."""
    page, next_cursor = slice_page(await hub.servers.skills(server_id), limit, cursor)
    return items(page, next_cursor, dict)


@router.post("/{server_id}/resources/read")
async def read_resource(hub: HubOf, server_id: int, body: schemas.ResourceRequest) -> schemas.Json:
    """Read a resource now; connects the server if need be."""
    return dict(await hub.servers.read_resource(server_id, body.uri, await hub.channel(body.channel_id)))


@router.post("/{server_id}/resources/subscribe", status_code=204)
async def subscribe_resource(hub: HubOf, server_id: int, body: schemas.ResourceRequest) -> None:
    """Be told of changes by the event `mcp.resource_updated`."""
    await hub.servers.subscribe_resource(server_id, body.uri, await hub.channel(body.channel_id))


@router.post("/{server_id}/resources/unsubscribe", status_code=204)
async def unsubscribe_resource(hub: HubOf, server_id: int, body: schemas.ResourceRequest) -> None:
    """Be told no more."""
    await hub.servers.unsubscribe_resource(server_id, body.uri, await hub.channel(body.channel_id))


@router.post("/{server_id}/prompts/get")
async def get_prompt(hub: HubOf, server_id: int, body: schemas.PromptRequest) -> schemas.Json:
    """Fill in a prompt."""
    channel = await hub.channel(body.channel_id)
    return dict(await hub.servers.get_prompt(server_id, body.name, body.arguments, channel))


@router.post("/{server_id}/complete")
async def complete(hub: HubOf, server_id: int, body: schemas.CompletionRequest) -> schemas.Json:
    """Suggestions for an argument of a prompt or of a resource template."""
    channel = await hub.channel(body.channel_id)
    argument = {"name": body.argument, "value": body.value}
    return dict(await hub.servers.complete(server_id, body.kind, body.of, argument, body.context, channel))
