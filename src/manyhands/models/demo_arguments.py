"""Pure rules that find a tool's arguments in a sentence: good guesses, and none where unsure.

What was used for one argument is not used for the next: `rename a.txt to b.txt` has two paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from manyhands.models.demo_places import find_places

_QUOTED = re.compile(r"[\"“`]([^\"”`]+)[\"”`]|(?<!\w)'([^']+)'(?!\w)")
_URL = re.compile(r"https?://[^\s\"'<>`]*[^\s\"'<>`.,;:!?)]")
_PATH = re.compile(
    r"(?<![\w/@.-])(?:~?\.{0,2}/)?[\w.@-]+(?:/[\w.@-]+)*(?:\.[A-Za-z]\w{0,7}|/)(?!\w)|(?<![\w/])\.{0,2}/[\w./-]+"
)
_NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:/])")
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3]):([0-5]\d)(?!\d)")
_NAMED = re.compile(r"\b(?:named|called)\s+([\w./-]*\w)", re.IGNORECASE)
_SOUGHT = re.compile(r"\b(?:for|about)\s+(.+?)(?:\s+in\s+(?:this|the|my|our)\b.*)?[\s?.!]*$", re.IGNORECASE)
_HERE = re.compile(r"\b(?:director(?:y|ies)|folders?|here|project|repo(?:sitory)?)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w+-]+")
_QUERIES = frozenset({"query", "q", "pattern", "term", "keyword", "keywords", "search"})


def fill_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments for this schema, or nothing when a required one is not in the text."""
    properties = schema.get("properties") or {}
    required = set(schema.get("required") or ())
    found = _Found(text, only_one=len(required) <= 1)
    filled: dict[str, Any] = {}
    for name, wanted in properties.items():
        value = found.value(name, wanted if isinstance(wanted, Mapping) else {}, name in required)
        if value is not None:
            filled[name] = value
    return filled if required <= set(filled) else None


class _Found:
    """What a sentence holds; each thing is given out once."""

    def __init__(self, text: str, *, only_one: bool) -> None:
        self._text = text.strip()
        self._only_one = only_one
        bare = _QUOTED.sub(" ", _URL.sub(" ", text))
        self._quoted = [one or other for one, other in _QUOTED.findall(text)]
        self._urls: list[str] = _URL.findall(text)
        self._paths: list[str] = _PATH.findall(bare) + _NAMED.findall(bare)
        self._numbers: list[str] = _NUMBER.findall(bare)
        self._clocks = [f"{int(hour):02}:{minute}" for hour, minute in _CLOCK.findall(text)]
        self._places = find_places(text)

    def value(self, name: str, wanted: Mapping[str, Any], required: bool) -> Any:
        if choices := wanted.get("enum"):
            return self._choice(choices) or (choices[0] if required else None)
        if "default" in wanted and not required:
            return None
        match wanted.get("type", "string"):
            case "string":
                return self._string(name.lower(), required)
            case "integer" | "number" as kind if required or name.lower() in self._text.lower():
                number = _next(self._numbers)
                return (
                    number if number is None else int(float(number)) if kind == "integer" else float(number)
                )
            case "boolean" if required:
                return False
            case "array" if required and self._quoted:
                given, self._quoted = self._quoted, []
                return given
        return None

    def _choice(self, choices: Any) -> Any:
        words = {word.lower() for word in _WORD.findall(self._text)}
        return next((choice for choice in choices if str(choice).lower() in words), None)

    def _string(self, name: str, required: bool) -> str | None:
        words = re.split(r"[_\W]+", name)
        if "zone" in name or "tz" in words:
            return self._zone(name) or ("UTC" if required else None)
        if "url" in words or "uri" in words:
            return _next(self._urls)
        if {"path", "file", "filename", "directory", "dir", "folder", "destination"} & set(words):
            return _next(self._paths) or self._quoted_path() or self._here(required)
        if not required:
            return None
        if "time" in words:
            return _next(self._clocks)
        if name in _QUERIES:
            return _next(self._quoted) or self._sought() or self._text or None
        if name in ("name", "title") and (named := _NAMED.search(self._text)):
            return named[1]
        return _next(self._quoted) or (self._text if self._only_one else None) or None

    def _zone(self, name: str) -> str | None:
        """The place that fits: after “to” for a target, before it for a source."""
        is_target = bool({"target", "to", "destination"} & set(name.split("_")))
        fitting = [place for place in self._places if place.after_to is is_target] or self._places
        if not fitting:
            return None
        self._places.remove(fitting[0])
        return fitting[0].zone

    def _quoted_path(self) -> str | None:
        path = next((text for text in self._quoted if " " not in text), None)
        if path is not None:
            self._quoted.remove(path)
        return path

    def _here(self, required: bool) -> str | None:
        return "." if required and _HERE.search(self._text) else None

    def _sought(self) -> str | None:
        found = _SOUGHT.search(self._text)
        return None if found is None else found[1]


def _next(values: list[str]) -> str | None:
    return values.pop(0) if values else None
