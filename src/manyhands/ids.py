"""Identifiers: `kind_` plus 26 characters that sort by the time they were made."""

from __future__ import annotations

import os
import threading
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_lock = threading.Lock()
_last = [0]


def new_id(kind: str) -> str:
    """A new identifier such as `call_01jc…`; later ones of this process always sort after earlier ones."""
    return f"{kind}_{_encode(_next_value())}"


def _next_value() -> int:
    candidate = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    with _lock:
        _last[0] = candidate if candidate > _last[0] else _last[0] + 1
        return _last[0]


def _encode(value: int) -> str:
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in range(120, -10, -10)])
