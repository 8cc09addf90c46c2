"""Reading what people paste: JSON, JSON with comments, a fragment without its braces, TOML. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manyhands.errors import InvalidError

MAX_CHARS = 5_000_000
# Strings are matched first, so that what looks like a comment inside one stays.
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_TOML_TABLE = re.compile(r"^\s*\[{1,2}[\w.\"' -]+\]{1,2}\s*(#.*)?$", re.MULTILINE)
_YAML_KEY = re.compile(r"^[\w-]+:\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says; `doubles` are keys that one object holds twice."""

    value: Any
    doubles: tuple[str, ...] = ()
    toml: bool = False


def read_document(content: str | Mapping[str, Any], source: str) -> Document:
    """Parse it; an error names the source, line and column."""
    if not isinstance(content, str):
        return Document(content)
    if len(content) > MAX_CHARS:
        raise InvalidError(f"{source}: it has {len(content)} characters.", hint="This is no list of servers.")
    text = content.removeprefix("\ufeff")
    if not text.strip():
        raise InvalidError(
            f"{source}: it is empty.", hint='Write {"mcpServers": {"name": {"command": "…"}}}.'
        )
    try:
        return _json(text)
    except json.JSONDecodeError as error:
        return _loose(text, source, error)
    except RecursionError:
        raise InvalidError(
            f"{source}: it is nested too deeply.", hint="This is no list of servers."
        ) from None


def _loose(text: str, source: str, first: json.JSONDecodeError) -> Document:
    plain = _TRAILING_COMMA.sub(_unless_string, _COMMENT.sub(_unless_string, text))
    attempts = [plain]
    if plain.lstrip().startswith('"'):
        attempts.append("{" + plain.strip().rstrip(",") + "}")
    for attempt in attempts:
        try:
            return _json(attempt)
        except json.JSONDecodeError:
            continue
    if _TOML_TABLE.search(text):
        try:
            return Document(tomllib.loads(text), toml=True)
        except tomllib.TOMLDecodeError as error:
            raise InvalidError(f"{source}: not valid TOML: {error}.", hint="Correct it.") from error
    where = f"line {first.lineno}, column {first.colno}: {first.msg}"
    hint = "YAML is not read: write it as JSON." if _YAML_KEY.search(text) else "Correct it and try again."
    raise InvalidError(f"{source}: not valid JSON ({where}).", hint=hint) from first


def _json(text: str) -> Document:
    doubles: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            seen: set[str] = set()
            doubles.extend(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return found

    return Document(json.loads(text, object_pairs_hook=pairs), tuple(doubles))


def _unless_string(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else ""
