"""Our MCP server on the official SDK's low-level one, over streamable HTTP, in every revision that it speaks.

It imports the SDK, which takes its time: `endpoint.py` brings it in when the first agent comes.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskStatus
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from sse_starlette import sse
from starlette.types import Receive, Scope, Send

from manyhands import __version__
from manyhands.access.types import PRINCIPAL, Principal
from manyhands.api.security import MAX_BODY
from manyhands.bridge.words import instructions_for
from manyhands.events import Event
from manyhands.hub import Hub
from manyhands.mcp_server import gateway, toolbox
from manyhands.mcp_server.entries import ToolEntry
from manyhands.mcp_server.toolbox import Outcome
from manyhands.tools.types import Listing

SESSION_IDLE_S = 24 * 3600.0
MOST_SESSIONS = 2000
TELL_S = 5.0

Context = ServerRequestContext[Any, Any]


class _HubServer(Server[Any]):
    """Says that its list of tools may change: the SDK's HTTP side gives no other way to say so."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True),
            experimental_capabilities,
            extensions,
        )


class AgentEndpoint:
    """The server of one hub. Serves requests while `run` runs."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._changes = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._changes)
        self._sessions: dict[str, ServerSession] = {}
        self._manager = StreamableHTTPSessionManager(
            self._make_server(),
            # The gate before us has looked at host and origin already.
            security_settings=None,
            session_idle_timeout=SESSION_IDLE_S,
            max_request_body_size=MAX_BODY,
            max_sessions=MOST_SESSIONS,
        )

    def _make_server(self) -> Server[Any]:
        return _HubServer(
            "manyhands",
            version=__version__,
            title="Manyhands",
            instructions=instructions_for(agent=False),
            # None of our schemas asks for headers of its own; without this every call would list all tools.
            get_tool_input_schema=lambda name: None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_subscriptions_listen=self._listening,
        )

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Keep sessions, and tell them when the list of tools changes, until cancelled."""
        _end_streams_ourselves()
        async with self._manager.run(), self._hub.bus.subscribe() as events:
            task_status.started()
            async for event in events:
                if _changes_tools(event):
                    await self._tell_all()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; a session can be used only by whoever opened it."""
        principal: Principal = scope[PRINCIPAL]
        token = AccessToken(token="", client_id=principal.id, scopes=[], subject=principal.channel_id)
        await self._manager.handle_request({**scope, "user": AuthenticatedUser(token)}, receive, send)

    # --- tools

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        principal = self._principal(context)
        tools = [_tool(entry) for entry in toolbox.offered(principal)]
        if gateway.takes_part(principal):
            tools += [_server_tool(one) for one in await gateway.listings(self._hub, principal)]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        principal = self._principal(context)
        if params.name.startswith(gateway.PREFIX) and gateway.takes_part(principal):
            outcome = await gateway.call(
                self._hub, principal, params.name, params.arguments, _report(context)
            )
        else:
            outcome = await toolbox.call(self._hub, principal, params.name, params.arguments)
        return _result(outcome, context.protocol_version)

    def _principal(self, context: Context) -> Principal:
        """Who asks; also the moment to remember a session that wants to hear of changes."""
        assert context.request is not None, "every request comes over HTTP"
        principal: Principal = context.request.scope[PRINCIPAL]
        session_id = context.request.headers.get("mcp-session-id")
        if session_id is not None and gateway.takes_part(principal):
            self._sessions[session_id] = context.session
        return principal

    async def _tell_all(self) -> None:
        await self._changes.publish(ToolsListChanged())
        open_sessions = self._manager._server_instances  # the SDK has no other list of them
        for session_id, session in list(self._sessions.items()):
            if session_id not in open_sessions:
                del self._sessions[session_id]
                continue
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                with anyio.move_on_after(TELL_S):  # one that does not read must not hold up the others
                    await session.send_tool_list_changed()


def _end_streams_ourselves() -> None:
    """Keep the library that writes SSE from starting a task of its own that polls for the end for ever.

    Streams end with the crowd that they are in, and it has no other switch for this.
    """
    sse._get_shutdown_state().watcher_started = True


def _changes_tools(event: Event) -> bool:
    return event.type in gateway.CHANGES


def _tool(entry: ToolEntry) -> types.Tool:
    return types.Tool(
        name=entry.name,
        title=entry.title,
        description=entry.description,
        input_schema=dict(entry.input_schema),
        output_schema=dict(entry.output_schema),
        annotations=types.ToolAnnotations.model_validate({"title": entry.title, **entry.annotations}),
    )


def _server_tool(listing: Listing) -> types.Tool:
    definition = listing.definition
    return types.Tool(
        name=definition.full_name,
        title=definition.annotations.title,
        description=definition.description,
        input_schema=dict(definition.input_schema),
        output_schema=dict(definition.output_schema) if definition.output_schema else None,
        annotations=types.ToolAnnotations.model_validate(definition.annotations.wire()),
    )


def _result(outcome: Outcome, protocol_version: str) -> types.CallToolResult:
    structured = outcome.structured
    if protocol_version not in MODERN_PROTOCOL_VERSIONS and not isinstance(structured, dict):
        structured = None  # older revisions know only objects
    return types.CallToolResult.model_validate(
        {
            "content": list(outcome.content),
            "structuredContent": structured,
            "isError": outcome.is_error,
            "_meta": outcome.meta or None,
        }
    )


def _report(context: Context) -> gateway.Report | None:
    """How progress goes back to whoever asked for it."""
    token = (context.meta or {}).get("progress_token")
    if token is None:
        return None

    async def report(progress: float, total: float | None, message: str | None) -> None:
        await context.session.send_progress_notification(
            token, progress, total, message, related_request_id=str(context.request_id)
        )

    return report
