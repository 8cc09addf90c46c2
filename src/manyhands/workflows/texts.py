"""What both databases can keep of what steps give. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_BAD = re.compile("[\0\ud800-\udfff]")


def storable(value: Any) -> Any:
    """The same JSON value; what no database can keep is replaced by a sign."""
    if isinstance(value, str):
        return _BAD.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value
