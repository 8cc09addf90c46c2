"""Finding tools by what one wants to do: BM25 over names, titles, descriptions and parameters. Pure.

The index is built once for a set of definitions. A query looks only at the tools that share a word with it.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from manyhands.tools.types import ToolDefinition

K1 = 1.2
B = 0.5
# How much a word counts by where it stands.
NAME, TITLE, SERVER, DESCRIPTION, PARAMETER, PARAMETER_TEXT = 4.0, 3.0, 2.0, 1.0, 0.8, 0.3
LEADING = 1.5
"""The first sentence of a description says what the tool is for; the rest is detail."""
SYNONYM = 0.5
PARAMETER_DEPTH = 3
DESCRIPTION_WORDS = 400

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_EMPTY_WORDS = """
    a an and any are as at be by can do for from give has have how i if in into is it its me my of on or
    please some something tell that the their them these this to up use used using want what when where which
    who will with you your
"""
_STOP = frozenset(_EMPTY_WORDS.split())
_FAMILIES = (
    "add create make new insert register",
    "append attach",
    "big large size length",
    "ask query search find look lookup locate",
    "call invoke run execute start launch",
    "change edit update modify set patch alter",
    "close end stop cancel terminate kill",
    "copy duplicate clone",
    "delete remove erase drop destroy",
    "dir directory folder",
    "doc document documentation page",
    "download fetch get retrieve read load open view show",
    "email mail message",
    "file document",
    "history log",
    "image picture photo screenshot",
    "issue ticket bug",
    "link url address website web",
    "list enumerate all show",
    "move rename",
    "pr pull",
    "repo repository project",
    "save store write put upload",
    "send post publish share",
    "table database db sql",
    "time date clock hour timezone today now",
    "user person member people account",
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that was found, with how well it fits."""

    definition: ToolDefinition
    score: float


class ToolIndex:
    """An index over some tools."""

    def __init__(self, definitions: Iterable[ToolDefinition]) -> None:
        # By name, so that of equal scores the lower number comes first.
        self.definitions: Sequence[ToolDefinition] = sorted(definitions, key=lambda one: one.full_name)
        weights = [_weights(definition) for definition in self.definitions]
        lengths = [sum(counted.values()) for counted in weights]
        average = (sum(lengths) / len(lengths)) if lengths else 1.0
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, counted in enumerate(weights):
            norm = K1 * (1 - B + B * lengths[number] / (average or 1.0))
            for term, weight in counted.items():
                postings[term].append((number, weight * (K1 + 1) / (weight + norm)))
        total = len(self.definitions)
        self._postings: Mapping[str, Sequence[tuple[int, float]]] = {
            term: [(number, _rarity(total, len(found)) * weight) for number, weight in found]
            for term, found in postings.items()
        }
        # A word that only means the same as one of the query, and that many tools have, tells nothing.
        self._too_common = max(50, total // 6)
        self._named = {definition.full_name.lower(): n for n, definition in enumerate(self.definitions)}

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The tools that fit best, best first; none when no word is shared."""
        scores: dict[int, float] = {}
        score_of = scores.get
        for term, weight in query_terms(query).items():
            found = self._postings.get(term, ())
            if weight < 1.0 and len(found) > self._too_common:
                continue
            for number, score in found:
                scores[number] = score_of(number, 0.0) + weight * score
        exact = self._named.get(query.strip().lower())
        if exact is not None:
            scores[exact] = score_of(exact, 0.0) + 1000.0
        best = heapq.nsmallest(limit, [(-score, number) for number, score in scores.items()])
        return [Hit(self.definitions[number], -score) for score, number in best]


def query_terms(query: str) -> dict[str, float]:
    """The words of a query with their weight; words of the same meaning come in with less."""
    terms: dict[str, float] = {}
    words = list(_words(query))
    meant = [word for word in words if word not in _STOP] or words
    for word in meant:
        terms[stem(word)] = 1.0
    for word in meant:
        for other in _synonyms().get(stem(word), ()):
            terms.setdefault(other, SYNONYM)
    return terms


def _weights(definition: ToolDefinition) -> Counter[str]:
    counted: Counter[str] = Counter()
    for text, weight in _fields(definition):
        for word in _words(text):
            if word not in _STOP:
                counted[stem(word)] += weight  # type: ignore[assignment]
    return counted


def _fields(definition: ToolDefinition) -> Iterator[tuple[str, float]]:
    yield definition.name, NAME
    if definition.annotations.title:
        yield definition.annotations.title, TITLE
    if definition.server_id is not None:
        yield definition.server, SERVER
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


def _words(text: str) -> Iterator[str]:
    """Words of prose and of names: camelCase and snake_case are taken apart."""
    for part in _WORD.findall(_CAMEL.sub(" ", text)):
        yield part.lower()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its commonest endings; only equality of stems matters, not that they are words."""
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, put in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(ending):
            return word[: -len(ending)] + put
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ations", "ation", "ings", "ing", "edly", "ed", "ers", "er", "ors", "or"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@lru_cache(maxsize=1)
def _synonyms() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for family in _FAMILIES:
        members = {stem(word) for word in family.split(" ")}
        for member in members:
            found[member] |= members - {member}
    return {word: frozenset(others) for word, others in found.items()}


def _rarity(total: int, holding: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
