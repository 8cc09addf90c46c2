"""Files of this machine that go with a message."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path

from manyhands.cli.client import Json

LOOKED_AT = 4096


def read_attachment(name: str) -> Json:
    """A file as the API takes it."""
    path = Path(name).expanduser()
    data = path.read_bytes()
    mime = mimetypes.guess_type(path.name)[0] or _guess(data)
    return {"name": path.name, "mime": mime, "data": base64.b64encode(data).decode()}


def _guess(data: bytes) -> str:
    """Text or not, for a name that does not tell."""
    try:
        data[:LOOKED_AT].decode()
    except UnicodeDecodeError as error:
        # A character that the cut went through is no sign of a binary file.
        if len(data) <= LOOKED_AT or error.start < LOOKED_AT - 4:
            return "application/octet-stream"
    return "text/plain"
