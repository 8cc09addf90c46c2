"""Which tools fit a sentence, by the words they share. Pure, small, and good enough for a demonstration."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

from manyhands.models.types import ToolSpec

_WORD = re.compile(r"[a-z0-9]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FILE = re.compile(r"[\w-]\.[a-z]\w{0,5}\b", re.IGNORECASE)
_SAID_OTHERWISE: Mapping[str, Sequence[str]] = {
    "which": ["list"],
    "show": ["list", "read"],
    "see": ["list", "read"],
    "open": ["read"],
    "folder": ["directory"],
    "dir": ["directory"],
    "project": ["file"],
    "code": ["file"],
    "page": ["fetch", "url"],
    "https": ["fetch", "url"],
}
_EMPTY = frozenset(
    _WORD.findall(
        "a an and are as at be by can could do does for from has have how i in is it me my of on or our"
        " please so some that the their them there these they this to us want was we were what when where"
        " will with would you your mcp tool tools use using"
    )
)
NAME_WEIGHT = 3.0
CLOSE = 0.6


def rank_by_words(text: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Tools that fit the text by its words, best first; what fits much less than the best is left out."""
    asked = _asked(text)
    names = [set(_words(tool.name)) for tool in tools]
    told = [set(_words(tool.description)) for tool in tools]
    spread = Counter(word for name, said in zip(names, told, strict=True) for word in name | said)

    def score(index: int) -> float:
        def worth(word: str) -> float:
            return log(1 + len(tools) / spread[word])

        in_name = asked.keys() & names[index]
        in_description = (asked.keys() & told[index]) - in_name
        if not in_name and len(in_description) < 2 and not any(spread[word] == 1 for word in in_description):
            return 0.0  # one common word in a description says nothing
        return sum(
            asked[word] * worth(word) * weight
            for words, weight in ((in_name, NAME_WEIGHT), (in_description, 1.0))
            for word in sorted(words)
        )

    scores = [score(index) for index in range(len(tools))]
    order = sorted(range(len(tools)), key=lambda index: (-scores[index], index))
    enough = CLOSE * max(scores, default=0.0)
    return [tools[index] for index in order if scores[index] > 0 and scores[index] >= enough]


def _asked(text: str) -> dict[str, float]:
    """The words of a question and their weight; who names a file wants it read, unless they say otherwise."""
    asked = {"file": 1.0, "read": 0.5} if _FILE.search(text) else {}
    words = _words(text)
    meant = {other for word in words for other in _SAID_OTHERWISE.get(word, ())}
    return asked | dict.fromkeys([*words, *(meant - {"list"} if asked else meant)], 1.0)


def _words(text: str) -> list[str]:
    found = _WORD.findall(_HUMPS.sub(" ", text).lower())
    return [_root(word) for word in found if word not in _EMPTY and len(word) > 1]


def _root(word: str) -> str:
    """Files and file, directories and directory are the same to whoever asks."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
