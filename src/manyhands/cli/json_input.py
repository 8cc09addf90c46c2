"""JSON that a person gives on the command line: as an argument, in a file, on standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from manyhands.cli.client import Json
from manyhands.errors import InvalidError


def read_object(text: str) -> Json:
    """A JSON object from an argument, `@FILE` or `-` for standard input."""
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        text = Path(text[1:]).read_text(encoding="utf-8")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidError(
            f"This is not JSON: {error}.", hint='In a shell put it in single quotes: \'{"key": "value"}\'.'
        ) from error
    if not isinstance(value, dict):
        raise InvalidError(
            f"This is {type(value).__name__}, not an object.", hint='Write it as {"key": "value"}.'
        )
    return value
