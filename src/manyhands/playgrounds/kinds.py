"""Which kind of content a file is, by its name."""

from __future__ import annotations

from mimetypes import guess_type

_KINDS = {
    "html": "text/html",
    "htm": "text/html",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "cjs": "text/javascript",
    "css": "text/css",
    "json": "application/json",
    "map": "application/json",
    "md": "text/markdown",
    "txt": "text/plain",
    "csv": "text/csv",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "ico": "image/x-icon",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "ttf": "font/ttf",
    "wasm": "application/wasm",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "glsl": "text/plain",
    "xml": "text/xml",
}


def kind_of(path: str) -> str:
    """Its media type; the table of the machine is asked only for what is rare."""
    suffix = path.rpartition(".")[2].lower()
    return _KINDS.get(suffix) or guess_type(path, strict=True)[0] or "application/octet-stream"


def is_html(path: str) -> bool:
    return kind_of(path) == "text/html"
