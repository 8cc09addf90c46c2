"""A small authorization server with an MCP endpoint behind it, whose behaviour tests can change."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


@dataclass
class AuthorizationServer:
    """What it has seen is in `seen`; what it holds valid is in `access`, `refresh` and `clients`."""

    url: str = ""
    seen: Counter[str] = field(default_factory=Counter)
    access: dict[str, str] = field(default_factory=dict)
    refresh: set[str] = field(default_factory=set)
    clients: dict[str, str] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)
    authentications: list[str] = field(default_factory=list)

    # What tests change.
    expires_in: int | None = 3600
    open_registration: bool = True
    methods: tuple[str, ...] = ("client_secret_post", "client_secret_basic", "none")
    refresh_status: int = 200
    refresh_body: bytes | None = None
    rotate: bool = True
    accepts: bool = True
    consents: bool = True
    wants_sign_in: bool = True
    needed_scope: str = "basic"
    metadata_changes: dict[str, object] = field(default_factory=dict)
    resource_changes: dict[str, list[str]] = field(default_factory=dict)
    token_arrived: anyio.Event = field(default_factory=anyio.Event)
    token_gate: anyio.Event = field(default_factory=anyio.Event)
    slow_arrived: anyio.Event = field(default_factory=anyio.Event)
    slow_gate: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.token_gate.set()

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def forget_access(self) -> None:
        """End every access token before its time."""
        self.access.clear()

    # --- metadata and registration

    async def resource(self, _: Request) -> Response:
        found = {"resource": self.mcp, "authorization_servers": [f"{self.url}/as"]}
        return JSONResponse({**found, **self.resource_changes})

    async def metadata(self, _: Request) -> Response:
        base = f"{self.url}/as"
        return JSONResponse(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "revocation_endpoint": f"{base}/revoke",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": list(self.methods),
                **self.metadata_changes,
            }
        )

    async def register(self, request: Request) -> Response:
        self.seen["register"] += 1
        if not self.open_registration:
            return JSONResponse({"error": "access_denied"}, 403)
        client_id, secret = f"client-{len(self.clients)}", secrets.token_urlsafe(12)
        self.clients[client_id] = secret
        wanted = await request.json()
        granted = {"client_id": client_id, "client_secret": secret}
        return JSONResponse({**wanted, **granted, "token_endpoint_auth_method": "client_secret_post"}, 201)

    # --- tokens

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.scopes.append(asked.get("scope", ""))
        answer = {"error": "access_denied", "error_description": "The person said no"}
        if self.consents:
            answer = {"code": secrets.token_urlsafe(16)}
            self.codes[answer["code"]] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer | {'state': asked['state']})}")

    async def token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        if (refusal := self._wrong_client(request, form)) is not None:
            return refusal
        if form["grant_type"] == "refresh_token":
            return await self._refreshed(form)
        if form["grant_type"] == "client_credentials":
            self.seen["machine"] += 1
            return self._tokens(form.get("scope") or "basic", "none")
        asked = self.codes.pop(form["code"], None)
        if asked is None or not _proves(form["code_verifier"], asked["code_challenge"]):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return self._tokens(asked.get("scope", ""))

    async def _refreshed(self, form: dict[str, str]) -> Response:
        self.seen["refresh"] += 1
        self.token_arrived.set()
        await self.token_gate.wait()
        if self.refresh_body is not None:
            return Response(self.refresh_body, self.refresh_status, media_type="application/json")
        if self.refresh_status != 200:
            return JSONResponse({"error": "temporarily_unavailable"}, self.refresh_status)
        if form["refresh_token"] not in self.refresh or form["resource"] != self.mcp:
            self.seen["refused refresh"] += 1
            return JSONResponse({"error": "invalid_grant"}, 400)
        return self._tokens(self.needed_scope, None if self.rotate else form["refresh_token"])

    def _tokens(self, scope: str, kept: str | None = None) -> Response:
        access, refresh = secrets.token_urlsafe(24), kept or secrets.token_urlsafe(24)
        if self.accepts:
            self.access[access] = scope
        self.refresh.add(refresh)
        body: dict[str, object] = {"access_token": access, "token_type": "bearer", "scope": scope}
        if kept is None:
            body["refresh_token"] = refresh
        if self.expires_in is not None:
            body["expires_in"] = self.expires_in
        return JSONResponse(body)

    def _wrong_client(self, request: Request, form: dict[str, str]) -> Response | None:
        client_id, secret, method = form.get("client_id", ""), form.get("client_secret", ""), "post"
        if header := request.headers.get("authorization"):
            client_id, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
            method = "basic"
        self.authentications.append(method)
        if self.clients.get(client_id) == secret:
            return None
        return JSONResponse({"error": "invalid_client"}, 401)

    async def revoke(self, request: Request) -> Response:
        form = await request.form()
        self.seen["revoke"] += 1
        self.access.pop(str(form["token"]), None)
        self.refresh.discard(str(form["token"]))
        return Response()

    # --- the MCP server

    async def endpoint(self, request: Request) -> Response:
        if request.query_params.get("slow"):
            self.slow_arrived.set()
            await self.slow_gate.wait()
        authorization = request.headers.get("authorization", "")
        self.seen["signed" if authorization else "unsigned"] += 1
        if not self.wants_sign_in:
            return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})
        scope = self.access.get(authorization.removeprefix("Bearer "))
        metadata = f'Bearer resource_metadata="{self.url}/.well-known/oauth-protected-resource/mcp"'
        if scope is None:
            return Response(status_code=401, headers={"WWW-Authenticate": f'{metadata}, scope="basic"'})
        if request.method == "POST" and self.needed_scope not in scope.split():
            more = f'{metadata}, error="insufficient_scope", scope="{self.needed_scope}"'
            return Response(status_code=403, headers={"WWW-Authenticate": more})
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self.resource),
                Route("/.well-known/oauth-authorization-server/as", self.metadata),
                Route("/as/register", self.register, methods=["POST"]),
                Route("/as/authorize", self.authorize),
                Route("/as/token", self.token, methods=["POST"]),
                Route("/as/revoke", self.revoke, methods=["POST"]),
                Route("/mcp", self.endpoint, methods=["GET", "POST"]),
            ]
        )


TOOL = {"name": "look_up", "description": "Looks it up.", "inputSchema": {"type": "object"}}
ANSWERS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "docs", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "ping": {},
}


class DocsServer(AuthorizationServer):
    """Behind the sign-in stands a server with one tool."""

    async def endpoint(self, request: Request) -> Response:
        refused = await super().endpoint(request)
        if refused.status_code != 200:
            return refused
        if request.method == "GET":
            return Response(status_code=405)
        message = await request.json()
        if "id" not in message:
            return Response(status_code=202)
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] not in ANSWERS:
            return JSONResponse({**answer, "error": {"code": -32601, "message": "no such method"}})
        return JSONResponse({**answer, "result": ANSWERS[message["method"]]})


def _proves(verifier: str, challenge: str) -> bool:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") == challenge


@asynccontextmanager
async def running_authorization_server(
    kind: type[AuthorizationServer] = AuthorizationServer,
) -> AsyncIterator[AuthorizationServer]:
    """One that serves until the block is left."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = kind(f"http://127.0.0.1:{listener.getsockname()[1]}")
        config = uvicorn.Config(
            made.app(), lifespan="off", ws="none", log_config=None, timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            try:
                yield made
            finally:
                made.token_gate.set()
                made.slow_gate.set()
                server.should_exit = True
