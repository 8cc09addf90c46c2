"""What of a tool's definition is searched, how much each part counts, which tools are of one kind. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyhands.english import EMPTY, stem
from manyhands.tools.types import ToolDefinition
from manyhands.tools.wording import spoken, words_of

# How much a word counts by where it stands.
NAME, TITLE, SERVER, DESCRIPTION, PARAMETER, PARAMETER_TEXT = 4.0, 3.0, 2.0, 1.0, 0.8, 0.3
LEADING = 1.5
"""The first sentence of a description says what the tool is for; the rest is detail."""
PARAMETER_DEPTH = 3
DESCRIPTION_WORDS = 400
ALIKE = 0.5
"""Two tools that take the same arguments are of one kind if they share that part of their words."""
_DEPRECATED = re.compile(r"\bdeprecated\b", re.IGNORECASE)
_NOTED_EARLY = 200


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A definition as the index sees it."""

    counts: Mapping[str, float]
    """Stems with their weights, all fields together."""
    surfaces: Mapping[str, str]
    """A whole word for each stem."""
    name: Sequence[str]
    gist: str
    """Server, name and first sentence: what its vector is made of."""
    deprecated: bool


def searched_text(definition: ToolDefinition) -> SearchedText:
    """Everything of a definition that is searched."""
    counts: dict[str, float] = defaultdict(float)
    surfaces: dict[str, str] = {}
    for text, weight in _fields(definition):
        for word in words_of(text):
            if word not in EMPTY:
                stemmed = stem(word)
                counts[stemmed] += weight
                surfaces.setdefault(stemmed, word)
    return SearchedText(
        dict(counts),
        surfaces,
        [stem(word) for word in words_of(definition.name) if word not in EMPTY],
        f"{_server(definition)} {spoken(definition.name)} {spoken(_head(definition))}".strip(),
        _DEPRECATED.search(definition.description[:_NOTED_EARLY]) is not None,
    )


def kinds(definitions: Sequence[ToolDefinition]) -> list[int]:
    """A number for each tool: near copies (a server twice, a tool for each sort of thing) share theirs."""
    leaders: dict[frozenset[str], list[tuple[int, frozenset[str]]]] = defaultdict(list)
    found: list[int] = []
    for number, definition in enumerate(definitions):
        words = frozenset(
            stem(word) for word in words_of(f"{definition.name} {_head(definition)}") if word not in EMPTY
        )
        rivals = leaders[_parameter_names(definition)]
        kind = next((kind for kind, led in rivals if len(words & led) >= ALIKE * len(words | led)), None)
        if kind is None:
            rivals.append((number, words))
        found.append(number if kind is None else kind)
    return found


def _server(definition: ToolDefinition) -> str:
    return "" if definition.server_id is None else spoken(definition.server)


def _head(definition: ToolDefinition) -> str:
    """The first sentence."""
    return definition.description.strip().partition("\n")[0].partition(". ")[0]


def _parameter_names(definition: ToolDefinition) -> frozenset[str]:
    properties = definition.input_schema.get("properties")
    return frozenset(map(str, properties)) if isinstance(properties, Mapping) else frozenset()


def _fields(definition: ToolDefinition) -> Iterator[tuple[str, float]]:
    yield definition.name, NAME
    if definition.annotations.title:
        yield definition.annotations.title, TITLE
    yield _server(definition), SERVER
    words = definition.description.split(None, DESCRIPTION_WORDS)[:DESCRIPTION_WORDS]
    head, _, rest = " ".join(words).partition(". ")
    yield head, LEADING
    yield rest, DESCRIPTION
    yield from _parameters(definition.input_schema, 0)


def _parameters(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, float]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth >= PARAMETER_DEPTH:
        return
    for name, spec in properties.items():
        yield str(name), PARAMETER
        if isinstance(spec, Mapping):
            yield str(spec.get("description") or "")[:500], PARAMETER_TEXT
            yield from _parameters(spec, depth + 1)
