"""`fetch_url`: a page or file of the web as text, guarded on every hop, bounded in size.

How long it may take is the call's business.
"""

from __future__ import annotations

import base64
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.settings import CurrentSettings
from manyhands.tools.native.definition import FETCHES, define
from manyhands.tools.native.html_text import html_to_text
from manyhands.tools.native.image_header import HEADER_BYTES, read_header
from manyhands.tools.native.network_guard import resolve
from manyhands.tools.types import Invocation, ToolResult, text_result

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 5_000_000
MAX_IMAGE_BYTES = 3_500_000
MAX_REDIRECTS = 5
READ_TIMEOUT_S = 20.0
URL_LIMIT = 8000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXTUAL = re.compile(r"^(text/|application/(.*\+)?(json|xml|javascript|yaml|toml|x-ndjson))")

DEFINITION = define(
    "fetch_url",
    "Fetch a page or file by http or https. HTML is turned into readable text, images are shown, other text"
    " comes as it is. Private networks are out of reach.",
    {
        "url": {
            "type": "string",
            "maxLength": URL_LIMIT,
            "description": "The address, with http:// or https://.",
        },
        "raw": {
            "type": "boolean",
            "default": False,
            "description": "Give HTML as it is and not as readable text.",
        },
    },
    required=("url",),
    annotations=FETCHES,
)


@dataclass(frozen=True, slots=True)
class _Response:
    """What came back at the end of all redirects."""

    url: str
    status: int
    content_type: str
    body: bytes
    cut: bool


@dataclass(frozen=True, slots=True)
class FetchUrl:
    """The work of `fetch_url`."""

    settings: CurrentSettings

    async def __call__(self, arguments: Mapping[str, Any], invocation: Invocation) -> ToolResult:
        response = await self._fetch(arguments["url"])
        # In a thread: turning a large page into text takes longer than others should wait.
        return await anyio.to_thread.run_sync(_result, response, bool(arguments.get("raw")))

    async def _fetch(self, address: str) -> _Response:
        import httpx2

        # No proxies and no stored credentials from the environment: they would go round the guard.
        transport = httpx2.AsyncHTTPTransport(verify=ssl.create_default_context(), trust_env=False)
        async with httpx2.AsyncClient(transport=transport, timeout=READ_TIMEOUT_S, trust_env=False) as client:
            url = _parse(address)
            for _ in range(MAX_REDIRECTS + 1):
                try:
                    answer = await self._hop(client, url)
                except (httpx2.HTTPError, httpx2.InvalidURL, OSError, zlib.error) as error:
                    raise _unreachable(url, error) from error
                if isinstance(answer, _Response):
                    return answer
                url = answer
        raise ToolFault(
            f"{address} redirects more than {MAX_REDIRECTS} times.", hint="Use its final address."
        )

    async def _hop(self, client: httpx2.AsyncClient, url: httpx2.URL) -> _Response | httpx2.URL:
        """One request to a judged address: the response, or where it redirects to."""
        port = url.port or (443 if url.scheme == "https" else 80)
        host = url.raw_host.decode("ascii")
        address = await resolve(host, port, self.settings.current.fetch_allow)
        request = client.build_request(
            "GET",
            url.copy_with(host=address),
            headers={
                "Host": url.netloc.decode("ascii"),
                "Accept-Encoding": "gzip",
                "User-Agent": "manyhands",
            },
            extensions={"sni_hostname": host},
        )
        response = await client.send(request, stream=True)
        try:
            location = response.headers.get("location")
            if response.status_code in _REDIRECTS and location:
                return _parse(str(url.join(location)))
            body, cut = await _read(response)
        finally:
            await response.aclose()
        kind = response.headers.get("content-type", "")
        return _Response(str(url), response.status_code, kind, body, cut)


def _parse(address: str) -> httpx2.URL:
    import httpx2

    try:
        url = httpx2.URL(address.strip())
    except (httpx2.InvalidURL, ValueError, UnicodeError) as error:
        raise ToolFault(f"{address!r} is not an address: {error}.", hint="Correct it.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ToolRefusal(
            f"{address!r} is not a web address.", hint="Only http:// and https:// can be fetched."
        )
    if url.port is not None and not 0 < url.port < 65536:
        raise ToolFault(f"{address!r} is not an address: its port is wrong.", hint="Correct it.")
    if url.userinfo:
        raise ToolRefusal("The address holds a user name or password.", hint="Leave them out.")
    return url


async def _read(response: httpx2.Response) -> tuple[bytes, bool]:
    """The body up to the limit; unpacked here, because a packed one can grow a thousandfold."""
    unpack = zlib.decompressobj(47) if response.headers.get("content-encoding") == "gzip" else None
    body = bytearray()
    async for piece in _pieces(response):
        room = MAX_BYTES + 1 - len(body)
        body += piece[:room] if unpack is None else unpack.decompress(piece, room)
        if len(body) > MAX_BYTES:
            return bytes(body[:MAX_BYTES]), True
    return bytes(body), False


def _pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    encoding = response.headers.get("content-encoding", "identity")
    if encoding not in ("identity", "gzip", ""):
        raise ToolFault(f"The server packed its answer as {encoding!r}.", hint="It cannot be read.")
    return response.aiter_raw()


def _result(response: _Response, raw: bool) -> ToolResult:
    kind = response.content_type.partition(";")[0].strip().lower()
    note = f" (the first {MAX_BYTES} bytes)" if response.cut else ""
    head = f"{response.url}\n{response.status} {kind or 'unknown type'}, {len(response.body)} bytes{note}"
    structured = {
        "url": response.url,
        "status": response.status,
        "contentType": kind,
        "bytes": len(response.body),
        "cut": response.cut,
    }
    header = read_header(response.body[:HEADER_BYTES])
    if header is not None and not response.cut and len(response.body) <= MAX_IMAGE_BYTES:
        image = {"type": "image", "data": base64.b64encode(response.body).decode(), "mimeType": header.mime}
        return ToolResult([{"type": "text", "text": head}, image], structured=structured)
    if not _is_text(kind, response.body):
        raise ToolFault(f"{head}\nThis is neither text nor an image.", hint="It cannot be shown.")
    text, title = _decode(response), None
    if kind in ("text/html", "application/xhtml+xml") and not raw:
        text, title = html_to_text(text, response.url)
    structured["title"] = title
    lines = [head, *([title] if title else []), "", text]
    return text_result("\n".join(lines), structured=structured, is_error=response.status >= 400)


def _is_text(kind: str, body: bytes) -> bool:
    return bool(_TEXTUAL.match(kind)) or (not body) or (not kind and b"\0" not in body[:8192])


def _decode(response: _Response) -> str:
    declared = re.search(r"charset=[\"']?([\w.:-]+)", response.content_type, re.IGNORECASE)
    inside = re.search(rb"<meta[^>]+charset=[\"']?([\w.:-]+)", response.body[:4096], re.IGNORECASE)
    name = declared[1] if declared else inside[1].decode("ascii") if inside else "utf-8"
    try:
        return response.body.decode(name, "replace")
    except LookupError:
        return response.body.decode("utf-8", "replace")


def _unreachable(url: httpx2.URL, error: Exception) -> ToolFault:
    reason = str(error) or type(error).__name__
    return ToolFault(
        f"{url.host} could not be fetched: {reason}.", hint="Check the address or try again later."
    )
