"""What a browser is shown: the web UI as it was built, the listing of the API, and pages with one message.

The files of the UI are made from `web/` by `./dev` and lie in `ui/`; everything they load comes from here.
"""

from __future__ import annotations

import html
import secrets
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from mimetypes import guess_type

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

router = APIRouter(include_in_schema=False)

_ASSETS = frozenset({"pages.css", "docs.js"})
_KINDS = {".css": "text/css", ".js": "text/javascript", ".html": "text/html", ".svg": "image/svg+xml"}
_ENCODINGS = {"br": ".br", "gzip": ".gz"}
_NONCE = b"MANYHANDS_NONCE"
_LONGEST_NAME = 100  # of a file of ours; a file system refuses one far longer with an error
_FOR_EVER = "private, max-age=31536000, immutable"
# What is never a page of the UI, so that a wrong path or method there keeps its own answer.
_NOT_PAGES = ("/api", "/v1", "/mcp", "/assets", "/ui")


def policy(nonce: str | None = None, frames: str = "'none'") -> str:
    """What a page of ours may load: from here only, nothing inline but styles that carry the nonce.

    `frames`: the one other origin, that of playgrounds.
    """
    styles = f"'self' 'nonce-{nonce}'" if nonce else "'self'"
    return (
        f"default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data: blob:; "
        f"font-src 'self'; connect-src 'self'; frame-src {frames}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@cache
def _read(name: str) -> bytes:
    return (resources.files("manyhands.api") / "pages" / name).read_bytes()


def _built() -> Traversable:
    return resources.files("manyhands.api") / "ui"


def page(name: str, status: int = 200) -> Response:
    """One of the files in `pages/`; what carries a nonce in it gets a new one."""
    content, kind = _read(name), _kind(name)
    return _with_nonce(content, status) if _NONCE in content else Response(content, status, media_type=kind)


def _kind(name: str) -> str:
    suffix = name[name.rfind(".") :]
    return _KINDS.get(suffix) or guess_type(name)[0] or "application/octet-stream"


def _with_nonce(content: bytes, status: int = 200, frames: str = "'none'") -> Response:
    nonce = secrets.token_urlsafe(16)
    headers = {"Content-Security-Policy": policy(nonce, frames)}
    return Response(content.replace(_NONCE, nonce.encode()), status, headers, "text/html")


@router.get("/api/docs")
def docs_page() -> Response:
    """The listing of the API."""
    return page("docs.html")


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    """What the built-in pages load."""
    if name not in _ASSETS:
        raise HTTPException(404)
    return page(name)


@router.get("/ui/{name}")
def built_asset(name: str, request: Request) -> Response:
    """A file whose name changes with its content: a browser may keep it."""
    found = _file(_built() / "ui", name, request.headers)
    found.headers["Cache-Control"] = _FOR_EVER
    return found


def client_page(request: Request) -> Response:
    """The UI, under every path that is its own; it finds out itself what to show there."""
    name = request.path_params["path"]
    if name and "/" not in name and "." in name:
        return _file(_built(), name, request.headers)
    index = _built() / "index.html"
    if not index.is_file():
        return words_page("not-built.html", 503)
    return _with_nonce(index.read_bytes(), frames=_playgrounds_of(request))


def _playgrounds_of(request: Request) -> str:
    """The origin of playgrounds, under the name by which the browser reached us."""
    port, name = request.app.state.hub.playgrounds.port, request.url.hostname or "127.0.0.1"
    return "'none'" if port is None else f"http://{f'[{name}]' if ':' in name else name}:{port}"


class _ClientRoute(Route):
    """Every path but those that belong to somebody else."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        if any(path == taken or path.startswith(f"{taken}/") for taken in _NOT_PAGES):
            return Match.NONE, {}
        return super().matches(scope)


# The last route of the app; a router would make a plain one of it.
client_route = _ClientRoute("/{path:path}", client_page, methods=["GET"], include_in_schema=False)


def _file(folder: Traversable, name: str, asked: Headers) -> Response:
    """One built file, as small as the browser can take it."""
    if len(name) > _LONGEST_NAME or name.startswith(".") or "\\" in name:
        raise HTTPException(404)
    if not (plain := folder / name).is_file():
        raise HTTPException(404)
    headers = {"Vary": "Accept-Encoding"}
    for encoding, suffix in _ENCODINGS.items():
        smaller = folder / f"{name}{suffix}"
        if encoding in asked.get("accept-encoding", "") and smaller.is_file():
            return Response(smaller.read_bytes(), 200, headers | {"Content-Encoding": encoding}, _kind(name))
    return Response(plain.read_bytes(), 200, headers, _kind(name))


def words_page(name: str, status: int = 200) -> Response:
    """A page with a few words of ours, from one of the files in `pages/`."""
    return _framed(_read(name), status)


def message_page(title: str, text: str, status: int = 200) -> Response:
    """A page with one message, for a browser that comes back from elsewhere."""
    return _framed(f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(text)}</p>".encode(), status)


def _framed(words: bytes, status: int) -> Response:
    return _with_nonce(_read("frame.html").replace(b"MANYHANDS_WORDS", words), status)
