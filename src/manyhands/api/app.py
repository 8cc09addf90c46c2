"""The HTTP API as one ASGI app: routers, the gate before them, errors as problems.

It serves a hub that somebody else has opened and will close.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route

from manyhands import __version__
from manyhands.api import (
    agents,
    approvals,
    channels,
    conversations,
    live,
    memory,
    models,
    openai,
    pages,
    playgrounds,
    problems,
    quality,
    runs,
    servers,
    system,
    tasks,
    threads,
    tokens,
    tool_calls,
    tools,
    workflows,
)
from manyhands.api.access import Crowd, Crowds
from manyhands.api.metrics import CallMetrics
from manyhands.api.schemas import Problem
from manyhands.api.security import MCP_PATH, Gate
from manyhands.hub import Hub
from manyhands.mcp_server.endpoint import McpDoor
from manyhands.servers.sign_in import CALLBACK_PATH

LISTENERS = 100
AGENTS_LISTENING = 1000
CALLS_AT_ONCE = 256
_OPEN_PATHS = (CALLBACK_PATH,)
_ABOUT = (
    "A hub for MCP servers. Send `Authorization: Bearer TOKEN` with everything but `GET /api/health`. "
    "Errors are `application/problem+json`; decide by their `code`."
)
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "content": {problems.MEDIA_TYPE: {}}},
    "5XX": {"model": Problem, "content": {problems.MEDIA_TYPE: {}}},
}


def describe_app() -> FastAPI:
    """The routes and what OpenAPI says of them; without a hub it answers nothing."""
    app = FastAPI(
        title="Manyhands",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for module in (
        agents,  # first, since they send most often, and a route is looked for from the top
        servers,
        tool_calls,
        tools,
        models,
        conversations,
        channels,
        threads,
        runs,
        approvals,
        system,
        live,
        playgrounds,
        memory,
        tasks,
        workflows,
        quality,
        tokens,
    ):
        app.include_router(module.router, prefix="/api", responses=_ERRORS)
    app.include_router(openai.router)
    app.include_router(pages.router)
    app.router.routes.append(pages.client_route)
    return app


def create_app(
    hub: Hub, *, hosts: Iterable[str] = (), on_shutdown: Callable[[], None] | None = None
) -> FastAPI:
    """The app for an open hub. `hosts`: names besides loopback under which it may be reached."""
    app = describe_app()
    app.state.hub = hub
    app.state.on_shutdown = on_shutdown
    app.state.metrics = CallMetrics(hub.bus)
    app.state.crowds = Crowds(
        live=Crowd(LISTENERS, "listeners"),
        calls=Crowd(CALLS_AT_ONCE, "calls"),
        agents=Crowd(AGENTS_LISTENING, "streams of agents"),
    )
    app.router.routes.insert(0, Route(MCP_PATH, endpoint=McpDoor(hub, app.state.crowds)))
    problems.register(app)
    token = hub.home.token()
    hub.secrets.redactor.guard(token)
    app.add_middleware(Gate, token=token, hosts=tuple(hosts), open_paths=_OPEN_PATHS, who=hub.access.who)
    return app
