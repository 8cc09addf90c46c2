"""The words of prose: which say something, their stems, and the label that a passage begins with. Pure."""

from __future__ import annotations

import re

from manyhands.english import EMPTY, stem

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHORTENED = re.compile(r"['’](?:s|t|re|ve|ll|d|m)$")
_LABEL = re.compile(
    r"[\s>*+\-_]*(?:\[[^\]\n]{1,30}\]\s*)?[*_]{0,2}"
    r"(?P<label>[^\W\d_][\w.'’-]{0,29}(?: [\w.'’-]{1,29}){0,3})[*_]{0,2}:[*_]{0,2}\s"
)


def spoken_words(text: str) -> list[str]:
    """All words, in small letters, without what an apostrophe shortens."""
    words: list[str] = _WORD.findall(text.lower())
    if "'" in text or "’" in text:
        return [_SHORTENED.sub("", word) for word in words]
    return words


def telling_words(text: str) -> list[str]:
    """The words that say something; all of them if none does."""
    words = spoken_words(text)
    return [word for word in words if word not in EMPTY] or words


def terms(text: str) -> list[str]:
    """The stems of the words that say something, as often as they occur."""
    return [stem(word) for word in spoken_words(text) if word not in EMPTY]


def meaning(text: str) -> str:
    """What of a text is given to word vectors: each telling word once, for they are a mean over words."""
    return " ".join(dict.fromkeys(telling_words(text)))


def label(text: str) -> str:
    """The name that a passage begins with, before a colon: who speaks, or what kind of entry it is."""
    found = _LABEL.match(text)
    return found["label"] if found else ""
