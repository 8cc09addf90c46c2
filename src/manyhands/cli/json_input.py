"""JSON that a person gives on the command line: as an argument, in a file, on standard input."""

from __future__ import annotations

import json

from manyhands.cli.client import Json
from manyhands.cli.text_input import read_text
from manyhands.errors import InvalidError


def read_object(text: str) -> Json:
    """A JSON object from an argument, `@FILE` or `-` for standard input."""
    if text == "-" or text.startswith("@"):
        text = read_text(text.removeprefix("@"))
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidError(
            f"This is not JSON: {error}.", hint='In a shell put it in single quotes: \'{"key": "value"}\'.'
        ) from error
    if not isinstance(value, dict):
        raise InvalidError("This is JSON, but not an object.", hint='Write it as {"key": "value"}.')
    return value
