"""Who may speak to the hub: names of the host, origins, tokens, sizes, and headers that protect a browser.

It stands before every route, also those of WebSockets, and knows none of them but the few that need no token
and the few that take an agent's limited one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyhands.access.types import PRINCIPAL, Principal
from manyhands.api.pages import policy, words_page
from manyhands.api.problems import for_path, problem_of, unexpected
from manyhands.errors import (
    InvalidError,
    ManyhandsError,
    NotAllowedError,
    NotFoundError,
    TooLargeError,
    UnauthorizedError,
)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_BODY = 32 * 1024 * 1024
COOKIE_DAYS = 30
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN = frozenset({("GET", "/api/health"), ("HEAD", "/api/health")})
MCP_PATH = "/mcp"
AGENT_SOCKET = "/api/ws/agent-channel"
AGENTS = "/api/agents/"

_HEADERS = {
    "Content-Security-Policy": policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


Who = Callable[[str], Awaitable[Principal | None]]
"""Whose limited token this is."""


async def nobody(token: str) -> Principal | None:
    """There are no limited tokens."""
    return None


class Gate:
    """ASGI middleware: lets through what is allowed and answers the rest itself."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        hosts: Iterable[str] = (),
        open_paths: Iterable[str] = (),
        who: Who = nobody,
    ) -> None:
        self._app = app
        self._who = who
        self._token = token.encode()
        self._cookie = hmac.new(self._token, b"browser", hashlib.sha256).hexdigest()
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, _Guarded(send))
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: _Guarded) -> None:
        try:
            answer = await self._check(scope)
        except UnauthorizedError as error:
            refusal = for_path(scope["path"], problem_of(error))
            answer = words_page("welcome.html", 401) if _wants_page(scope) else refusal
        except ManyhandsError as error:
            answer = for_path(scope["path"], problem_of(error))
            answer.headers["Connection"] = "close"  # its body was not looked at, nor what follows it
        if answer is not None:
            await answer(scope, receive, send)
            return
        try:
            await self._app(scope, _Bounded(receive), send)
        except Exception as error:  # border: whatever happens in a request ends in an answer
            if send.started:
                raise
            await for_path(scope["path"], unexpected(error))(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._check(scope)
        except ManyhandsError as error:
            await _deny(problem_of(error), scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _check(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = self._check_host(headers)
        method = scope.get("method", "")
        changes = scope["type"] == "websocket" or method not in _READING
        if changes:
            _check_origin(headers, host)
        if scope["type"] == "http":
            _check_length(headers)
            if method == "GET" and (answer := self._take_token(scope)) is not None:
                return answer
            if (method, scope["path"]) in _OPEN or scope["path"] in self._open_paths:
                return None
        scope[PRINCIPAL] = await self._identify(scope, headers, changes=changes)
        return None

    def _check_host(self, headers: Headers) -> str:
        host = headers.get("host", "")
        if (_host_name(host) or "") not in self._hosts:
            raise NotAllowedError(
                f"The host {host!r} is not one of ours.",
                hint="Use the address that `manyhands up` printed, or name the host when the daemon starts.",
            )
        return host

    async def _identify(self, scope: Scope, headers: Headers, *, changes: bool) -> Principal:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            if _same(token.strip().encode(), self._token):
                return Principal()
            if (agent := await self._who(token.strip())) is not None:
                _check_reach(scope, agent)
                return agent
        if self._has_cookie(scope, headers):
            # A browser says where a change comes from; without that word it is not the page of ours.
            if changes and "origin" not in headers:
                raise NotAllowedError(
                    "A change by cookie came without an origin.", hint="Send the token instead."
                )
            return Principal()
        raise UnauthorizedError(
            "This needs the owner's token.",
            hint="Send `Authorization: Bearer TOKEN`, or open the address that `manyhands up` printed.",
        )

    def _has_cookie(self, scope: Scope, headers: Headers) -> bool:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(cookie_name(scope))
        except CookieError:
            return False
        return morsel is not None and _same(morsel.value.encode(), self._cookie.encode())

    def _take_token(self, scope: Scope) -> Response | None:
        """`/?token=…` becomes a cookie, and the token leaves the address."""
        if scope["path"].startswith("/api") or b"token=" not in scope["query_string"]:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), None)
        if given is None:
            return None
        if not _same(given.encode(), self._token):
            raise UnauthorizedError(
                "The token in the address is not the right one.",
                hint="Open the address that `manyhands up` printed last.",
            )
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        answer.set_cookie(
            cookie_name(scope),
            self._cookie,
            max_age=COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=scope.get("scheme") == "https",
        )
        return answer


def cookie_name(scope: Scope) -> str:
    """One for each port: browsers share cookies between the ports of a host."""
    server = scope.get("server")
    return f"manyhands_{server[1] if server else 0}"


class _Guarded:
    """`send` that adds the protecting headers and remembers whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)


class _Bounded:
    """`receive` that stops a body that is too large, whatever its length was said to be."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > MAX_BODY:
            # The framework hands on only its own kind of error while it reads a body.
            raise HTTPException(413, _too_large().message)
        return message


def _too_large() -> TooLargeError:
    return TooLargeError(f"The body is larger than {MAX_BODY} bytes.", hint="Send less at once.")


def _check_length(headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if "content-length" in headers and "transfer-encoding" in headers:
        # A proxy in front of us may believe the other one, and take the rest for a request of its own.
        raise InvalidError("The body's length is told in two ways.", hint="Send only one of them.")
    if length.isdecimal() and int(length) > MAX_BODY:
        raise _too_large()


def _check_origin(headers: Headers, host: str) -> None:
    """Only pages of our own may change anything or listen; programs send no origin."""
    ours = {f"{scheme}://{host}".lower() for scheme in ("http", "https")}
    for origin in headers.getlist("origin"):
        if origin.lower() not in ours:
            raise NotAllowedError(f"The origin {origin!r} may not do this.", hint="Use the hub's own pages.")


def _check_reach(scope: Scope, agent: Principal) -> None:
    """A limited token is good for the MCP endpoint and for the agent's own entry in the registry."""
    path = scope["path"]
    if scope["type"] == "http" and path == MCP_PATH:
        return
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    if agent.agent_id is not None and query.get("channel_id") == agent.channel_id:
        if scope["type"] == "websocket" and path == AGENT_SOCKET and query.get("agent_id") == agent.agent_id:
            return
        if scope.get("method") in ("PATCH", "DELETE") and path == AGENTS + agent.agent_id:
            return
    raise NotFoundError("There is nothing here for this token.", hint="Agents speak to /mcp.")


def _host_name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
    except ValueError:
        return None
    return parts.hostname if "@" not in host and parts.netloc == host else None


def _wants_page(scope: Scope) -> bool:
    accepts = Headers(scope=scope).get("accept", "")
    return not scope["path"].startswith("/api") and "text/html" in accepts


def _same(given: bytes, expected: bytes) -> bool:
    return hmac.compare_digest(given, expected)


async def _deny(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a WebSocket with an HTTP answer where the server can, else by closing it."""
    if "websocket.http.response" in scope.get("extensions", {}):
        await send(
            {
                "type": "websocket.http.response.start",
                "status": answer.status_code,
                "headers": answer.raw_headers,
            }
        )
        await send({"type": "websocket.http.response.body", "body": answer.body})
    else:
        await send({"type": "websocket.close", "code": 1008})
