"""The built-in pages: a status page, the listing of the API, the word to a browser that is not signed in.

Everything they load comes from here. The page that a sign-in ends at is made here too.
"""

from __future__ import annotations

import html
from functools import cache
from importlib import resources

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

_KINDS = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}
_ASSETS = frozenset({"pages.css", "status.js", "docs.js"})


@cache
def _read(name: str) -> bytes:
    return (resources.files("manyhands.api") / "pages" / name).read_bytes()


def page(name: str, status: int = 200) -> Response:
    """One of the files in `pages/`."""
    kind = next(kind for suffix, kind in _KINDS.items() if name.endswith(suffix))
    return Response(_read(name), status, media_type=kind)


@router.get("/")
async def status_page() -> Response:
    return page("status.html")


@router.get("/api/docs")
async def docs_page() -> Response:
    return page("docs.html")


@router.get("/assets/{name}")
async def asset(name: str) -> Response:
    if name not in _ASSETS:
        raise HTTPException(404)
    return page(name)


def message_page(title: str, text: str, status: int = 200) -> Response:
    """A page with one message, for a browser that comes back from elsewhere."""
    return HTMLResponse(
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>Manyhands</title><h1>{html.escape(title)}</h1><p>{html.escape(text)}</p></html>",
        status,
    )
