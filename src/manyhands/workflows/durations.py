"""Spans of time as people write them: `90s`, `2h30m`, `PT5M`, or a number of seconds."""

from __future__ import annotations

import re
from typing import Any

_SHORT = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_SIZES = (86_400, 3_600, 60, 1)
LONGEST_S = 366 * 86_400.0


def seconds(value: Any) -> float:
    """How many seconds that is. Raises `ValueError` in words."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("it must be a span such as 90s, 2h30m or PT5M, or a number of seconds")
    found = float(value) if isinstance(value, int | float) else _read(value.strip())
    if not 0 < found <= LONGEST_S:
        raise ValueError("it must be longer than nothing and at most a year")
    return found


def _read(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    found = _SHORT.fullmatch(text) if text else None
    found = found or _ISO.fullmatch(text.upper())
    if found is None or not any(found.groups()):
        raise ValueError(f"{text!r} is no span of time; write 90s, 2h30m or PT5M")
    return sum(float(part) * size for part, size in zip(found.groups(), _SIZES, strict=True) if part)
