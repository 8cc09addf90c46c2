"""`read_image`: images as content blocks, with kind and size from their headers."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from manyhands.errors import ToolFault, ToolRefusal
from manyhands.tools.native import read_image as module
from manyhands.tools.native.image_header import ImageHeader, read_header
from manyhands.tools.native.read_image import read_image


def png(width: int, height: int) -> bytes:
    """A whole, valid PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


GIF = b"GIF89a" + struct.pack("<HH", 7, 9) + b"\0" * 10
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    b"\xff\xff\xfe\x00\x04ab"
    b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 480, 640) + b"\x03" + b"\0" * 20
)
WEBP = b"RIFF\0\0\0\0WEBP"
VP8X = WEBP + b"VP8X\x0a\0\0\0\0\0\0\0" + (99).to_bytes(3, "little") + (49).to_bytes(3, "little")
VP8L = WEBP + b"VP8L\0\0\0\0\x2f" + (99 | 49 << 14).to_bytes(4, "little")
VP8 = WEBP + b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 100, 50)


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (png(3, 2), ImageHeader("image/png", 3, 2)),
        (GIF, ImageHeader("image/gif", 7, 9)),
        (JPEG, ImageHeader("image/jpeg", 640, 480)),
        (VP8X, ImageHeader("image/webp", 100, 50)),
        (VP8L, ImageHeader("image/webp", 100, 50)),
        (VP8, ImageHeader("image/webp", 100, 50)),
        (b"\x89PNG\r\n\x1a\n", ImageHeader("image/png", None, None)),
        (b"\xff\xd8\xff\xe0\x00\x10", ImageHeader("image/jpeg", None, None)),
        (b"\xff\xd8\xff\xe0\x00\x02garbage here", ImageHeader("image/jpeg", None, None)),
        (WEBP + b"VP8X", ImageHeader("image/webp", None, None)),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_kind_and_size_come_from_the_header(data: bytes, header: ImageHeader | None) -> None:
    assert read_header(data) == header


def test_an_image_is_a_content_block_with_its_kind_and_size(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(3, 2))
    result = read_image(str(tmp_path), {"path": "a.png"})
    label, image = result.content
    assert label["text"] == f"a.png: image/png, 3x2, {len(png(3, 2))} bytes"
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]) == png(3, 2)
    assert (result.structured["width"], result.structured["height"]) == (3, 2)


def test_a_file_that_only_has_the_name_of_an_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("not a picture")
    with pytest.raises(ToolFault, match="not a PNG"):
        read_image(str(tmp_path), {"path": "a.png"})


def test_an_image_over_the_limit_is_refused_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 50)
    (tmp_path / "a.png").write_bytes(png(100, 100))
    with pytest.raises(ToolFault, match=rf"has {len(png(100, 100))} bytes.*50 bytes"):
        read_image(str(tmp_path), {"path": "a.png"})


def test_images_outside_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolRefusal):
        read_image(str(tmp_path), {"path": "../a.png"})
