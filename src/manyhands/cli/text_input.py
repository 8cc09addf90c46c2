"""Text that a person gives in a file or on standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from manyhands.errors import InvalidError


def read_text(file: str) -> str:
    """All of a file, or of standard input for `-`."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        source = "What came on standard input" if file == "-" else file
        hint = "Save it as UTF-8, then try again."
        raise InvalidError(f"{source} is not text in UTF-8.", hint=hint) from error
