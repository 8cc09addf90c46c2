"""`read_image`: an image file as something that a model can look at."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from typing import Any

from manyhands.errors import ToolFault
from manyhands.tools.native.definition import READS, define
from manyhands.tools.native.image_header import HEADER_BYTES, read_header
from manyhands.tools.native.paths import explained, find_place
from manyhands.tools.native.read_file import open_for_reading
from manyhands.tools.types import ToolResult

MAX_BYTES = 3_500_000
"""Encoded this is just under 5 MB, the most that model providers take."""

DEFINITION = define(
    "read_image",
    "Look at an image of the channel's directory: PNG, JPEG, GIF or WebP, up to 3.5 MB.",
    {"path": {"type": "string", "description": "Path inside the channel's directory."}},
    required=("path",),
    annotations=READS,
)


def read_image(root: str, arguments: Mapping[str, Any]) -> ToolResult:
    place = find_place(root, arguments["path"])
    with explained(place.shown), open_for_reading(place) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(MAX_BYTES + 1)
    header = read_header(data[:HEADER_BYTES])
    if header is None:
        raise ToolFault(
            f"{place.shown!r} is not a PNG, JPEG, GIF or WebP image.", hint="Read text files with read_file."
        )
    if len(data) > MAX_BYTES:
        raise ToolFault(
            f"{place.shown!r} has {size} bytes; images of up to {MAX_BYTES} bytes can be read.",
            hint="Make it smaller first.",
        )
    dimensions = f"{header.width}x{header.height}, " if header.width else ""
    label = f"{place.shown}: {header.mime}, {dimensions}{len(data)} bytes"
    structured = {
        "path": place.shown,
        "mimeType": header.mime,
        "width": header.width,
        "height": header.height,
        "bytes": len(data),
    }
    image = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": header.mime}
    return ToolResult([{"type": "text", "text": label}, image], structured=structured)
