"""Notices when a run goes in circles: the same tool, the same arguments, the same result."""

from __future__ import annotations

import hashlib
from collections import Counter

TELL_AFTER = 3
STOP_AFTER = 6


class Repeats:
    """Counts identical calls of one run."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def count(self, tool: str, arguments: str, result: str) -> int:
        """How often exactly this has happened now, this time included."""
        key = hashlib.sha256("\0".join((tool, arguments, result)).encode("utf-8", "surrogatepass")).digest()
        self._seen[key] += 1
        return self._seen[key]


def warning(count: int) -> str | None:
    """What the model is told along with the result."""
    if count < TELL_AFTER:
        return None
    return (
        f"[You have made this same call {count} times with the same result. It will not change: "
        "use what you have, try something else, or answer.]"
    )
