"""What of a tool's definition is searched, how much each part counts, which tools are of one kind. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
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
    words = [_telling_words(definition) for definition in definitions]
    spread = Counter(word for several in words for word in several)
    leaders: dict[_Place, list[int]] = defaultdict(list)
    found: list[int] = []
    for number, (definition, own) in enumerate(zip(definitions, words, strict=True)):
        arguments = _parameter_names(definition)
        rivals = _rivals(leaders, arguments, sorted(own, key=lambda word: (spread[word], word)))
        kind = min((rival for rival in rivals if _are_alike(own, words[rival])), default=number)
        if kind == number:
            for word in own:
                leaders[arguments, len(own), word].append(number)
        found.append(kind)
    return found


_Place = tuple[frozenset[str], int, str]
"""Where a leader of a kind is found: by its arguments, how many words it has, and each of them."""


def _rivals(
    leaders: Mapping[_Place, Sequence[int]], arguments: frozenset[str], rarest_first: Sequence[str]
) -> Iterator[int]:
    """The leaders that may be alike, and few others, however many there are.

    Whoever has n of the words has one of the rarest that are left when n - 1 are put aside.
    """
    count = len(rarest_first)
    for size in range((count + 1) // 2, 2 * count + 1):
        shared = math.ceil((count + size) / 3)  # what half of all their words amounts to
        for word in rarest_first[: count - shared + 1]:
            yield from leaders.get((arguments, size, word), ())


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)


def _telling_words(definition: ToolDefinition) -> frozenset[str]:
    text = f"{definition.name} {_head(definition)}"
    return frozenset(stem(word) for word in words_of(text) if word not in EMPTY) or frozenset({""})


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
