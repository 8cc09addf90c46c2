"""What kind of image some bytes are and how large it is, from its first bytes. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER_BYTES = 256 * 1024
"""How much is looked at: in a JPEG the size may stand behind embedded previews."""


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Kind and size; the size is nothing where the header does not tell it."""

    mime: str
    width: int | None
    height: int | None


def read_header(data: bytes) -> ImageHeader | None:
    """PNG, JPEG, GIF or WebP; nothing for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _sized("image/png", _unpack(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _sized("image/gif", _unpack("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return _sized("image/jpeg", _jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _sized("image/webp", _webp_size(data))
    return None


def _sized(mime: str, size: tuple[int, ...] | None) -> ImageHeader:
    return ImageHeader(mime, *size) if size else ImageHeader(mime, None, None)


def _unpack(form: str, data: bytes, offset: int) -> tuple[int, ...] | None:
    try:
        return struct.unpack_from(form, data, offset)
    except struct.error:
        return None


def _jpeg_size(data: bytes) -> tuple[int, ...] | None:
    """Walk the segments to the start of frame, which holds height and width."""
    position = 2
    while position + 9 < len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:  # filler
            position += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            size = _unpack(">HH", data, position + 5)
            return (size[1], size[0]) if size else None
        elif 0xD0 <= marker <= 0xD9 or marker == 0x01:
            position += 2
        else:
            position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None


def _webp_size(data: bytes) -> tuple[int, ...] | None:
    match data[12:16]:
        case b"VP8X" if len(data) >= 30:
            return (
                1 + int.from_bytes(data[24:27], "little"),
                1 + int.from_bytes(data[27:30], "little"),
            )
        case b"VP8L" if len(data) >= 25:
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)
        case b"VP8 ":
            size = _unpack("<HH", data, 26)
            return (size[0] & 0x3FFF, size[1] & 0x3FFF) if size else None
    return None
