"""References within a JSON document, as JSON Schema writes them: `#/$defs/Place`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote


def look_up(root: Mapping[str, Any], reference: Any) -> Any:
    """What a reference within the document points at; nothing when it points elsewhere or nowhere."""
    if not isinstance(reference, str) or (reference != "#" and not reference.startswith("#/")):
        return None
    target: Any = root
    for step in unquote(reference).split("/")[1:]:
        part = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(part)
        elif isinstance(target, list) and part.isdecimal() and int(part) < len(target):
            target = target[int(part)]
        else:
            return None
    return target
