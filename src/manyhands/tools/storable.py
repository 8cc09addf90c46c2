"""What both databases can keep of what strangers send: text without NUL and half surrogates, numbers that are
numbers. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from manyhands.errors import ToolFault

MAX_DEPTH = 200

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable_text(text: str) -> str:
    """The same text, with a sign in place of what cannot be stored."""
    if text.isascii():
        return text.replace("\0", "␀") if "\0" in text else text
    return _SURROGATE.sub("�", text.replace("\0", "␀"))


def storable(value: Any, depth: int = 0) -> Any:
    """The same JSON value, with texts and numbers that can be stored."""
    if isinstance(value, str):
        return storable_text(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= MAX_DEPTH:
        raise ToolFault(f"A value is nested more than {MAX_DEPTH} levels deep.", hint="Make it flatter.")
    if isinstance(value, Mapping):
        return {storable_text(str(key)): storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item, depth + 1) for item in value]
    return storable_text(str(value))
