"""Pinned tool definitions: what of a definition counts, and how a change of it reads. Pure.

Counted are name, title, description, schemas and annotations: all that a person or a policy relied on when
the tool was allowed. What else a server puts into a definition (icons, `_meta`) may change freely.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Any

PINNED_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
MAX_LINES = 400
MAX_LINE = 2000


def definition_hash(definition: Mapping[str, Any]) -> str:
    """The same for the same definition, however its keys are ordered."""
    text = json.dumps(pinned_part(definition), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def pinned_part(definition: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a definition so that a later one can be compared with it."""
    return {key: definition[key] for key in PINNED_KEYS if definition.get(key) is not None}


def readable_diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A unified diff for people; characters that cannot be seen are spelled out."""
    lines = list(difflib.unified_diff(_lines(old), _lines(new), "allowed", "now", lineterm="", n=2))
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES} more lines"]
    return "\n".join(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines)


def visible(text: str) -> str:
    """The text with invisible, bidirectional and control characters spelled out; line breaks stay."""
    return "".join(c if c == "\n" or not _is_hidden(c) else f"⟨U+{ord(c):04X}⟩" for c in text)


def _is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Zl", "Zp") or (category == "Zs" and character != " ")


def _lines(definition: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for key, value in pinned_part(definition).items():
        text = (
            value
            if isinstance(value, str)
            else json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
        )
        lines += [f"{key}:", *(f"  {line}" for line in visible(text).split("\n"))]
    return lines
