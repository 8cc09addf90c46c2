"""Notices when a run goes in circles: the same tool, the same arguments, the same result."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

TELL_AFTER = 3
STOP_AFTER = 6
WARNING = (
    "[You have made this same call {count} times with the same result. It will not change: "
    "use what you have, try something else, or answer.]"
)
_TOLD = re.compile(r"\n\n" + re.escape(WARNING).replace(r"\{count\}", r"\d+") + r"\Z")


class Repeats:
    """Counts identical calls of one run."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def count(self, tool: str, arguments: str, result: str) -> int:
        """How often exactly this has happened now, this time included."""
        key = hashlib.sha256("\0".join((tool, arguments, result)).encode("utf-8", "surrogatepass")).digest()
        self._seen[key] += 1
        return self._seen[key]


def told(text: str, count: int) -> str:
    """A result with a word to the model when it goes in circles."""
    return text if count < TELL_AFTER else f"{text}\n\n{WARNING.format(count=count)}"


def untold(text: str) -> str:
    """A result as the tool gave it; one from a record may have been told already."""
    return _TOLD.sub("", text)
