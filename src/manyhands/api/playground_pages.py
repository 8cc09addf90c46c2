"""The pages of playgrounds, on a port of their own: an origin that is not the hub's, and a strict policy.

The first part of an address is the capability: whoever was given it sees the page, nobody else. Every answer
is sandboxed without an origin, so that a page has no cookies and no storage, whoever opens it and however.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

import anyio
from anyio.abc import TaskStatus
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from manyhands.api.security import LOOPBACK
from manyhands.api.serving import HttpServer
from manyhands.errors import ManyhandsError, NotFoundError, TooLargeError
from manyhands.hub import Hub
from manyhands.playgrounds.console import LARGEST_POST
from manyhands.playgrounds.rules import RESERVED

log = logging.getLogger(__name__)

GRACE_S = 1
BACKLOG = 128
CONSOLE_PATH = f"{RESERVED}/console"
SCRIPT_PATH = f"{RESERVED}/console.js"

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    # A page without an origin loads even its own files from elsewhere, as a browser sees it.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=()",
}


def page_policy(base: str, hub_origin: str, hosts: Iterable[str] = ()) -> str:
    """What a page may do: run its own scripts, load its own files, and nothing else."""
    sources = " ".join([base, *hosts])
    return (
        "sandbox allow-scripts allow-forms allow-modals allow-pointer-lock allow-downloads; "
        "default-src 'none'; "
        f"script-src {sources} 'unsafe-inline' 'unsafe-eval' blob:; "
        f"style-src {sources} 'unsafe-inline'; img-src {sources} data: blob:; "
        f"font-src {sources} data:; media-src {sources} data: blob:; "
        f"connect-src {sources} data: blob:; worker-src {base} blob:; manifest-src {base}; "
        f"form-action {base}; base-uri 'none'; frame-src 'none'; frame-ancestors {hub_origin}"
    )


class PlaygroundPages:
    """The ASGI app of the other origin."""

    def __init__(self, hub: Hub, hub_port: int, hosts: Iterable[str] = ()) -> None:
        self._hub = hub
        self._hub_port = hub_port
        self._hosts = LOOPBACK | {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ManyhandsError as error:
            answer = PlainTextResponse(str(error), error.status)
        except Exception:  # border: whatever happens in a request ends in an answer
            log.exception("a page of a playground could not be served")
            answer = PlainTextResponse("This could not be shown. The hub's log says why.", 500)
        answer.headers.update(_HEADERS)
        answer.headers.setdefault("Content-Security-Policy", "sandbox; default-src 'none'")
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        host = self._host(request.headers)
        capability, slash, path = request.url.path.removeprefix("/").partition("/")
        key = await self._hub.playgrounds.behind(capability)
        if not slash:
            return RedirectResponse(f"/{capability}/", 307)
        if path == CONSOLE_PATH and request.method == "POST":
            self._hub.playgrounds.take_console(key, await _body(request))
            return Response(status_code=204)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("Pages are read only.", 405)
        if path == SCRIPT_PATH:
            return Response(_console_script(), media_type="text/javascript")
        found = await self._hub.playgrounds.serve(key, path, f"/{capability}/{SCRIPT_PATH}")
        answer = Response(found.content, media_type=found.kind)
        answer.headers["Content-Security-Policy"] = self._policy(host, request, capability)
        return answer

    def _host(self, headers: Headers) -> str:
        """The name under which it was asked for, if it is one of ours: it goes into the policy."""
        try:
            name = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._hosts:
            raise NotFoundError("There is no such page.", hint="Use the address that the hub gave.")
        return f"[{name}]" if ":" in name else name

    def _policy(self, host: str, request: Request, capability: str) -> str:
        origin = f"{request.url.scheme}://{request.headers['host']}"
        hosts = self._hub.settings.current.playground_hosts
        return page_policy(f"{origin}/{quote(capability)}/", f"http://{host}:{self._hub_port}", hosts)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_POST:
            raise TooLargeError(f"More than {LARGEST_POST} bytes at once.", hint="Post less.")
    return bytes(body)


def _console_script() -> bytes:
    from importlib import resources

    return (resources.files("manyhands.playgrounds") / "console.js").read_bytes()


# --- its port


async def serve_playgrounds(
    hub: Hub,
    host: str,
    hub_port: int,
    hosts: Iterable[str] = (),
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serve the pages until cancelled, and say in the service where."""
    with listen(host, hub.settings.current.playground_port, hub_port) as listener:
        server = HttpServer(PlaygroundPages(hub, hub_port, hosts), GRACE_S)
        async with anyio.create_task_group() as group:
            group.start_soon(_shielded, server, listener)
            try:
                await server.listening.wait()
                hub.playgrounds.port = listener.getsockname()[1]
                task_status.started()
                await anyio.sleep_forever()
            finally:
                hub.playgrounds.port = None
                server.stop()


async def _shielded(server: HttpServer, listener: socket.socket) -> None:
    # It ends by itself soon after `stop`; cut in the middle it would leave connections open.
    with anyio.CancelScope(shield=True):
        await server.serve_on(listener)


def listen(host: str, wanted: int, hub_port: int) -> socket.socket:
    """The port that was set, else the one after the hub's, else any that is free."""
    for port in dict.fromkeys((wanted or hub_port + 1, 0)):
        try:
            return _bound(host, port)
        except OSError as error:
            if port == 0:
                raise
            if wanted:
                reason = error.strerror or errno.errorcode.get(error.errno or 0, "")
                log.warning("port %s cannot be used for playgrounds (%s); another one is taken", port, reason)
    raise AssertionError("a free port is always the last choice")


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise OSError(errno.EADDRNOTAVAIL, "there is no such port")
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
