"""HTTP on the wire for the client under the HTTP and SSE transports: aiohttp's, behind httpx2's interface.

The SDK wants an httpx2 client. Its own pool looks at every open connection with every request, which with
many calls in flight costs more than the calls. Requests, answers and errors are httpx2's; what they mean is
decided above.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import httpx2

# Shorter than the five seconds after which many servers close an idle connection: a request that is sent
# at that very moment would be lost.
KEEP_ALIVE_S = 3.0
CONNECTIONS = 256
HEADER_BYTES = 64 * 1024
_OWN_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """The connections of one client; opened by the first request."""

    def __init__(self, *, trust_env: bool) -> None:
        self._trust_env = trust_env
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(
                f"{request.url.scheme!r} is not spoken here: http and https are."
            )
        if self._session is None:
            self._session = self._opened()
        body = await request.aread()
        with _as_httpx2(request):
            answer = await self._session.request(
                request.method,
                str(request.url),
                headers=request.headers.multi_items(),
                data=body or None,
                allow_redirects=False,
                timeout=_timeout(request.extensions.get("timeout") or {}),
            )
        return httpx2.Response(
            answer.status, headers=list(answer.raw_headers), stream=_Body(answer, request), request=request
        )

    def _opened(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_OWN_HEADERS,
            auto_decompress=False,
            trust_env=self._trust_env,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()


class _Body(httpx2.AsyncByteStream):
    """The body as it arrives. Closed before its end, it closes the connection, which tells the server."""

    def __init__(self, answer: aiohttp.ClientResponse, request: httpx2.Request) -> None:
        self._answer = answer
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx2(self._request):
            async for piece in self._answer.content.iter_any():
                yield piece

    async def aclose(self) -> None:
        if self._answer.content.at_eof():
            self._answer.release()
        else:
            self._answer.close()


def _timeout(limits: dict[str, Any]) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None,
        connect=limits.get("pool"),
        sock_connect=limits.get("connect"),
        sock_read=limits.get("read"),
    )


@contextmanager
def _as_httpx2(request: httpx2.Request) -> Iterator[None]:
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        kind = _kind(error)
        raise kind(str(error) or type(error).__name__, request=request) from error


def _kind(error: Exception) -> type[httpx2.RequestError]:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return httpx2.ConnectTimeout
    if isinstance(error, TimeoutError):
        return httpx2.ReadTimeout
    if isinstance(error, aiohttp.ClientConnectorError):
        return httpx2.ConnectError
    return httpx2.ReadError if isinstance(error, OSError) else httpx2.RemoteProtocolError
