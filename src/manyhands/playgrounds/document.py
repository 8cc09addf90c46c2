"""A page as it is served: its import map and the script that collects its console come before all else.

Pure; it changes nothing that the page itself says.
"""

from __future__ import annotations

import json
import re
from typing import Any

from manyhands.errors import InvalidError

# Everything that may stand before the first element of a head; each piece is optional, so it always fits.
_SPACE = r"(?:\s|<!--.*?-->)*"
_OPENING = re.compile(
    rf"\ufeff?{_SPACE}(?:<!doctype[^>]*>)?{_SPACE}(?:<html(?:\s[^>]*)?>)?{_SPACE}(?:<head(?:\s[^>]*)?>)?",
    re.IGNORECASE | re.DOTALL,
)
_SCRIPT = re.compile(r"<script(?=\s[^>]*\bsrc\s*=)(?![^>]*\bcrossorigin)", re.IGNORECASE)


def read_import_map(content: bytes) -> dict[str, Any]:
    """An import map, if it is one."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidError(f"importmap.json is not valid JSON: {error}.", hint="Correct it.") from None
    if not isinstance(found, dict):
        raise InvalidError("importmap.json is no object.", hint='Write {"imports": {"name": "./file.js"}}.')
    return found


def place_first(html: str, markup: str) -> str:
    """`markup` as the first thing in the head, before any script of the page."""
    opening = _OPENING.match(html)
    at = opening.end() if opening else 0
    return html[:at] + markup + html[at:]


def import_map_markup(import_map: dict[str, Any]) -> str:
    return f'<script type="importmap">{safe_json(import_map)}</script>'


def safe_json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value).replace("<", "\\u003c")


def tell_errors(html: str) -> str:
    """Scripts with `crossorigin`: without it a page that has no origin is told nothing of their errors."""
    return _SCRIPT.sub('<script crossorigin="anonymous"', html)


def as_served(html: str, import_map: dict[str, Any] | None, console_script: str) -> str:
    """The page with what it needs to run and to be watched."""
    markup = f'<script src="{console_script}" crossorigin="anonymous"></script>'
    if import_map is not None:
        markup += import_map_markup(import_map)
    return place_first(tell_errors(html), markup)
