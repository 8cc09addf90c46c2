"""The HTTP client under the HTTP and SSE transports: one failed request stays that request's failure.

The SDK lets an exception of one request end the whole connection, so nothing is raised for a POST: it gets an
answer that says what went wrong. Bodies are bounded. What a refusal or a lost session means is decided above.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import httpx2
from mcp.types import INVALID_REQUEST, METHOD_NOT_FOUND, JSONRPCError
from pydantic import ValidationError

from manyhands.errors import ManyhandsError
from manyhands.servers.transports.awaited_answers import AwaitedAnswers, AwaitedEvents, RequestId
from manyhands.servers.transports.types import (
    CANCELLED,
    FRAME_TOO_LARGE,
    STALE_SESSION,
    TRANSPORT_FAILED,
    UNAUTHORIZED,
    Unauthorized,
)
from manyhands.servers.transports.wire import AiohttpTransport

log = logging.getLogger(__name__)

SESSION_HEADER = "mcp-session-id"
_TIMEOUT = httpx2.Timeout(connect=10.0, read=None, write=30.0, pool=30.0)
_ONE_WAY_TIMEOUT = httpx2.Timeout(30.0, connect=10.0)
_FAREWELL_TIMEOUT = httpx2.Timeout(2.0)
_EXCERPT = 200
# Under these names a request carries the id of the JSON-RPC request in it, or of the one that it cancels.
_ASKS, _CANCELS = "mcp_asks", "mcp_cancels"
_METHOD = "mcp_method"
# Each asks for one thing, which may be forbidden while all else is allowed.
_SINGLE = frozenset(
    {
        "tools/call",
        "prompts/get",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "completion/complete",
    }
)
_TOO_MANY, _UNAVAILABLE = 429, 503
_PIECE = 1024 * 1024


class BodyTooLarge(httpx2.StreamError):
    """A body went over the limit."""


class BodyLost(httpx2.StreamError):
    """A body broke off or could not be decoded."""


@dataclass(frozen=True, slots=True)
class HttpListener:
    """Who is told of answers that concern the whole connection."""

    unauthorized: Callable[[Unauthorized], None]
    stale_session: Callable[[], None]
    stream: Callable[[bool], None] = lambda is_open: None


class IsolatingClient(httpx2.AsyncClient):
    """An HTTP client for one MCP endpoint."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        auth: httpx2.Auth | None,
        listener: HttpListener,
        max_body: int,
        hide: Callable[[str], str] = str,
    ) -> None:
        """`hide` takes secrets out of what is told of an answer."""
        super().__init__(
            # Compressed, the bound on a body would not bound what it unpacks to.
            headers={"accept-encoding": "identity", **headers},
            auth=auth,
            timeout=_TIMEOUT,
            transport=AiohttpTransport(trust_env=not is_loopback(url)),
        )
        self._listener = listener
        self._max_body = max_body
        self._hide = hide
        self._awaited = AwaitedAnswers()

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:
        body = options.pop("json", None)
        if body is None:
            return super().build_request(method, url, **options)
        # Escapes carry what UTF-8 cannot (half surrogate pairs), which otherwise raises inside the SDK.
        options["content"] = json.dumps(body, separators=(",", ":"))
        options["headers"] = {"content-type": "application/json", **(options.get("headers") or {})}
        asks = "id" in body and "method" in body
        if not asks:
            options["timeout"] = _ONE_WAY_TIMEOUT  # the SDK writes nothing else until it is through
        request = super().build_request(method, url, **options)
        request.extensions |= {_ASKS: body["id"]} if asks else {_CANCELS: _cancelled_id(body)}
        request.extensions[_METHOD] = body.get("method")
        return request

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method == "DELETE":
            request.extensions["timeout"] = _FAREWELL_TIMEOUT.as_dict()
        if request.method == "GET":
            return await self._open_stream(request, options)
        if request.method != "POST":
            response = await super().send(request, **options)
            self._bound(response)
            self._note_refusal(response)
            return response
        return await self._post(request, options)

    async def _post(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        answer = self._awaited.begin(request.extensions.get(_ASKS))
        try:
            response = await answer.wait_for(lambda: self._answered(request, options))
            if (cancelled := request.extensions.get(_CANCELS)) is not None:
                self._awaited.give_up(cancelled)
        except BaseException:
            answer.forget()
            raise
        if response is not None and answer.request_id is not None and _is_events(response):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = AwaitedEvents(response.stream, answer)
        else:
            answer.forget()
        return response or failure(request, CANCELLED, "The request was cancelled.")

    async def _answered(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        try:
            response = await super().send(request, **options)
            self._bound(response)
            return await self._examined(request, response)
        except BodyTooLarge as error:
            return failure(request, FRAME_TOO_LARGE, str(error))
        except Exception as error:  # the border of one request: refused, reset, timed out, no sign-in
            log.info("A request to %s failed", shown_url(str(request.url)), exc_info=True)
            return failure(request, TRANSPORT_FAILED, _told(error))

    async def _open_stream(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        """The stream of the server's own messages. A server that has none (405) is as good as any other."""
        try:
            response = await super().send(request, **options)
        except httpx2.HTTPError:
            self._listener.stream(False)
            raise
        self._bound(response)
        self._note_refusal(response)
        if response.status_code == 200:
            self._listener.stream(True)
        elif response.status_code != 405:
            self._listener.stream(False)
        return response

    def _bound(self, response: httpx2.Response) -> None:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        is_events = _is_events(response)  # bounded event by event
        if is_events and encoding == "identity":
            return
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedBody(response.stream, None if is_events else self._max_body, encoding)

    async def _examined(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """The response; where it is a refusal or a failure, one that says so in JSON-RPC."""
        if _wants_sign_in(request, response):
            self._note_refusal(response)
            excerpt = await self._excerpt(response)
            text = f"The server wants a sign-in (HTTP {response.status_code}{excerpt})."
            return failure(request, UNAUTHORIZED, text, response.status_code)
        if await self._is_stale(request, response):
            self._listener.stale_session()
            await response.aclose()
            return failure(request, STALE_SESSION, "The server does not know this session any more.", 404)
        if _content_type(response) == "application/json":
            await response.aread()
        if response.status_code >= 400 and not _is_rpc_error(response):
            return await self._failed(request, response)
        return response

    async def _failed(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status, excerpt = response.status_code, await self._excerpt(response)
        text = f"The server answered HTTP {status}{excerpt}.{self._hide(_when_again(response))}"
        return failure(request, _code(status), text, status)

    async def _excerpt(self, response: httpx2.Response) -> str:
        if _is_events(response):  # it may never end
            await response.aclose()
            return ""
        try:
            text = self._hide((await response.aread()).decode("utf-8", "replace")).strip()
        except httpx2.StreamError:
            text = ""
        return f": {' '.join(text.split())[:_EXCERPT]}" if text else ""

    def _note_refusal(self, response: httpx2.Response) -> None:
        if response.status_code in (401, 403):
            challenge = response.headers.get("www-authenticate")
            self._listener.unauthorized(Unauthorized(response.status_code, challenge))

    async def _is_stale(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """404 by the specification; many servers say 400 and explain."""
        if SESSION_HEADER not in request.headers or response.status_code not in (400, 404, 410):
            return False
        body = await response.aread()
        if response.status_code == 400:
            return b"session" in body.lower()
        return f'"code":{METHOD_NOT_FOUND}'.encode() not in body.replace(b" ", b"")


class _BoundedBody(httpx2.AsyncByteStream):
    """A body of at most `limit` bytes when unpacked; however it fails, it fails one request."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int | None, encoding: str) -> None:
        self._inner = inner
        self._limit = limit
        self._encoding = encoding

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async with aclosing(self._unpacked()) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    self._check(size)
                    yield piece
        except (httpx2.TransportError, zlib.error) as error:
            raise BodyLost(f"{type(error).__name__}: {error}") from error

    def _check(self, size: int) -> None:
        if self._limit is not None and size > self._limit:
            raise BodyTooLarge(
                f"The server's answer is over the limit of {self._limit} bytes for one message, so it was"
                " thrown away. Ask for less at a time."
            )

    async def _unpacked(self) -> AsyncGenerator[bytes, None]:
        if self._encoding in ("identity", ""):
            async for piece in self._inner:
                yield piece
            return
        if self._encoding not in ("gzip", "x-gzip", "deflate"):
            raise BodyLost(f"The body is packed as {self._encoding!r}, which was not asked for.")
        unpacker = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, by its header
        async for piece in self._inner:
            packed = piece
            while packed:
                yield unpacker.decompress(packed, _PIECE)
                packed = unpacker.unconsumed_tail
        yield unpacker.flush()

    async def aclose(self) -> None:
        await self._inner.aclose()


def failure(request: httpx2.Request, code: int, text: str, status: int = 503) -> httpx2.Response:
    """An HTTP response that fails the JSON-RPC request it answers, and nothing else."""
    error = {"jsonrpc": "2.0", "id": request_id(request), "error": {"code": code, "message": text}}
    return httpx2.Response(status, json=error, request=request)


def _wants_sign_in(request: httpx2.Request, response: httpx2.Response) -> bool:
    """A 403 to one request forbids that request, unless it says that a sign-in would give more rights."""
    if response.status_code == 403 and request.extensions.get(_METHOD) in _SINGLE:
        return "insufficient_scope" in response.headers.get("www-authenticate", "")
    return response.status_code in (401, 403)


def _is_rpc_error(response: httpx2.Response) -> bool:
    """Whether the body is an error that the SDK passes on as it is."""
    if _content_type(response) != "application/json":
        return False
    try:
        JSONRPCError.model_validate_json(response.content)
    except ValidationError:
        return False
    return True


def _code(status: int) -> int:
    """What a bare HTTP status means for its request: try later, no such thing, or wrong as it is."""
    if status >= 500 or status == _TOO_MANY:
        return TRANSPORT_FAILED
    return METHOD_NOT_FOUND if status == 404 else INVALID_REQUEST


def _when_again(response: httpx2.Response) -> str:
    """`Retry-After` is a number of seconds or a date."""
    when = response.headers.get("retry-after", "").strip()[:_EXCERPT]
    if not when or response.status_code not in (_TOO_MANY, _UNAVAILABLE):
        return ""
    return f" It wants no more requests for {when} s." if when.isdigit() else f" It wants none before {when}."


def _told(error: Exception) -> str:
    """Ours say what to do; of others the kind helps."""
    kind = "" if isinstance(error, ManyhandsError) else f"{type(error).__name__}: "
    return f"{kind}{error}".rstrip(": ")


def request_id(request: httpx2.Request) -> int | str | None:
    """The JSON-RPC id in a request's body."""
    try:
        message = json.loads(request.content)
    except (ValueError, httpx2.RequestNotRead):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, int | str) else None


def _cancelled_id(message: Mapping[str, Any]) -> RequestId | None:
    if message.get("method") != "notifications/cancelled":
        return None
    found = (message.get("params") or {}).get("requestId")
    return found if isinstance(found, int | str) else None


def _is_events(response: httpx2.Response) -> bool:
    return _content_type(response) == "text/event-stream"


def _content_type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def is_loopback(url: str) -> bool:
    """Whether a URL stays on this machine, so that no proxy may see it."""
    host = httpx2.URL(url).host
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def shown_url(url: str) -> str:
    """A URL without what may be secret in it: the user part and the query."""
    parsed = httpx2.URL(url)
    return str(parsed.copy_with(userinfo=b"", query=None, fragment=None)) + ("?…" if parsed.query else "")
