"""What the terminal can show: colour, width, text of strangers made harmless. It knows no command."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0))}
# Invisible and direction-changing characters can make a text look like another one.
_HIDDEN = {
    code: f"\\u{code:04x}"
    for code in (
        0x00AD,
        0x061C,
        0x180E,
        0xFEFF,
        *range(0x200B, 0x2010),
        *range(0x2028, 0x202F),
        *range(0x2060, 0x2070),
    )
}
_HIDDEN.pop(0x200D)  # joins emoji
_TAGS = {code: f"\\U{code:08x}" for code in range(0xE0000, 0xE0080)}
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_ONE_LINE = {**_CONTROL, **_HIDDEN, **_TAGS}
_MANY_LINES = {code: shown for code, shown in _ONE_LINE.items() if chr(code) not in "\n\t"}


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it."""
    return stream.isatty()


def has_colour(stream: TextIO) -> bool:
    """Colour only where it is wanted: https://no-color.org."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """The text in these styles, where the stream (standard output unless told) shows them."""
    if not styles or not text or not has_colour(stream or sys.stdout):
        return text
    codes = ";".join(_STYLES[style] for style in styles)
    return f"\x1b[{codes}m{text}\x1b[0m"


def paint_error(text: str, *styles: str) -> str:
    """`paint` for standard error."""
    return paint(text, *styles, stream=sys.stderr)


def columns(stream: TextIO | None = None) -> int | None:
    """The width of the terminal; nothing where the text does not go to one."""
    if not is_terminal(stream or sys.stdout):
        return None
    import shutil

    return max(shutil.get_terminal_size().columns, 20)


def uncoloured(text: str) -> str:
    """Without colours, which change nothing of what is said; all else that a terminal would obey stays."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def one_line(text: str) -> str:
    """On one line, with control and hidden characters made visible."""
    line = " ".join(text.split())
    return line if line.isascii() and line.isprintable() else line.translate(_ONE_LINE)


def many_lines(text: str) -> str:
    """Line breaks stay; other control and hidden characters are made visible: no text moves the cursor."""
    return text.replace("\r\n", "\n").translate(_MANY_LINES)


def width_of(text: str) -> int:
    """How many columns it takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def fit(text: str, width: int) -> str:
    """Cut to the width, with … where something was cut."""
    if width_of(text) <= width:
        return text
    if text.isascii():
        return text[: width - 1].rstrip() + "…"
    kept, used = [], 0
    for char in text:
        used += width_of(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"
