"""Keeping secrets out of what is shown: values that are known to be secret, and texts that look like one.

It changes copies: for logs and listings, and of what servers and tools say. What is sent to a server never
goes through here.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "••••••"
HIDDEN = "[hidden-by-manyhands]"
"""In place of a secret in what is worked with; nobody else writes this, so it is known when it comes back."""

# Shorter values would blank out ordinary words.
_SHORTEST = 6
# Values that configurations are full of and that nobody keeps secret.
_COMMON = frozenset(
    {"application/json", "default", "development", "disabled", "enabled", "localhost", "127.0.0.1"}
    | {"production", "staging", "verbose", "warning"}
)
# Tokens are renewed for as long as the daemon lives; those of long ago are worth nothing.
_MOST_VALUES = 2000
_MOST_SURE = 500
# A private key is often printed line by line.
_SHORTEST_LINE = 16


def mask(value: str) -> str:
    """What is shown in place of a secret; it says nothing about it."""
    del value
    return MASK


def is_mask(value: str) -> bool:
    """Whether this is what `mask` gave, sent back."""
    return value.strip() == MASK


class _Shape:
    """Something that looks like a secret. `needles`: without one of them in the text there is none."""

    def __init__(self, needles: str, pattern: str, replacement: str = MASK) -> None:
        self.needles = tuple(needles.split())
        self.pattern = re.compile(pattern)
        self.replacement = replacement


_FIELDS = r"(?:access_|refresh_|id_)?token|(?:client_)?secret|api[-_]?key|password|passwd"
_SHAPES = (
    _Shape(
        "authorization",
        r"(?i)(authorization[\"']?\s*[:=,]\s*[\"']?(?:basic|bearer|token|digest|apikey|negotiate)\s+)[^\s\"',]+",
        rf"\g<1>{MASK}",
    ),
    _Shape(
        "bearer",
        r"(?i)(\bbearer\s+)(?:(?=[\w.~+/=-]*\d)[\w.~+/=-]{6,}|[\w.~+/=-]{16,})",
        rf"\g<1>{MASK}",
    ),
    _Shape("sk- sk_ rk_ pk_", r"(?i)\b[srp]k[-_][A-Za-z0-9_-]{16,}"),
    _Shape("ghp_ gho_ ghu_ ghs_ ghr_", r"(?i)\bgh[pousr]_[A-Za-z0-9]{16,}"),
    _Shape(
        "github_pat_ glpat- npm_ hf_ xox",
        r"(?i)\b(?:github_pat_|glpat-|npm_|hf_|xox[a-z]-)[A-Za-z0-9_-]{16,}",
    ),
    _Shape("akia aiza", r"\b(?:AKIA[0-9A-Z]{16}\b|AIza[\w-]{30,})"),
    _Shape("eyj", r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]+)*"),
    _Shape("://", r"(://[^\s/:@\"'<>]*:)[^\s/@\"'<>]+(?=@)", rf"\g<1>{MASK}"),
    _Shape("://", r"(://)[^\s/:@\"'<>]{16,}(?=@)", rf"\g<1>{MASK}"),
    _Shape(
        "token secret key password passwd",
        rf"(?i)(?<![\w-])((?:{_FIELDS})=)[^\s&#;\"'<>]{{6,}}",
        rf"\g<1>{MASK}",
    ),
    _Shape("key= code= sig=", r"(?i)([?&](?:key|code|sig)=)[^\s&#;\"'<>]{12,}", rf"\g<1>{MASK}"),
    _Shape(
        "token secret key password passwd",
        rf"(?i)(\\?[\"'](?:{_FIELDS})\\?[\"']\s*:\s*\\?[\"'])[^\"'\\]{{6,}}",
        rf"\g<1>{MASK}",
    ),
    _Shape(
        "-----begin",
        r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]+?(?=-----END|\Z)",
        rf"\g<1>{MASK}",
    ),
)


_SHORT = 2000
"""Up to here one search for all needles at once is quicker than one for each."""
_LONG = 20_000
"""From here on looking for one value after the other is quicker than a pattern for all of them."""
_OUR_MARK = "mha_"
_OUR_TOKEN = re.compile(rf"\b{_OUR_MARK}[\w-]{{40,}}")
_NEEDLE = re.compile("|".join(sorted({re.escape(needle) for shape in _SHAPES for needle in shape.needles})))


class _Values:
    """Values to look for, however they are spelled. Safe to use from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: dict[str, None] = {}
        self._spellings: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None
        self._shortest = _SHORTEST
        self._digits = False
        self._stale = False

    def add(self, values: Iterable[str | None]) -> None:
        """Remember them, but not what is short or common."""
        with self._lock:
            for value in values:
                if value is not None and _is_worth_hiding(value):
                    self._values.pop(value, None)
                    self._values[value] = None
                    self._stale = True
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]

    def replaced(self, text: str, by: str) -> str:
        """The text with something else in place of every value."""
        if self._stale:
            with self._lock:
                self._compile()
        pattern = self._pattern
        if pattern is None or len(text) < self._shortest:
            return text
        if len(text) > _LONG:
            pattern = _any_of([spelling for spelling in self._spellings if spelling in text])
        return text if pattern is None else pattern.sub(by, text)

    def replaced_number(self, number: float, by: str) -> Any:
        """The same for a number, which a value may consist of."""
        if not self._digits and not self._stale:
            return number
        text = str(number)
        cleaned = self.replaced(text, by)
        return number if cleaned == text else cleaned

    def _compile(self) -> None:
        self._spellings = frozenset(spelling for value in self._values for spelling in _spellings(value))
        self._pattern = _any_of(self._spellings)
        self._shortest = min(map(len, self._spellings), default=_SHORTEST)
        self._digits = any(any(c.isdigit() for c in value) for value in self._values)
        self._stale = False


class Redactor:
    """Takes secrets out of texts. Safe to use from any thread.

    `redact` is for what is shown: it takes out every value that may be a secret, and what looks like one.
    `hide` is for what is worked with, such as the answer of a tool: it takes out what surely is one.
    """

    def __init__(self) -> None:
        self._shown = _Values(_MOST_VALUES)
        self._sure = _Values(_MOST_SURE)

    def register(self, *secrets: str | None) -> None:
        """Remember values that must not be shown; what is short or common is left alone."""
        self._shown.add(secrets)

    def guard(self, *secrets: str | None) -> None:
        """Remember values that nobody may get, not even whoever called the tool that says them."""
        self._shown.add(secrets)
        self._sure.add(secrets)

    def redact(self, text: str) -> str:
        """The text without secrets."""
        text = self._shown.replaced(text, MASK)
        lowered = text.lower()
        if len(lowered) <= _SHORT and _NEEDLE.search(lowered) is None:
            return text
        for shape in _SHAPES:
            if any(needle in lowered for needle in shape.needles):
                text = shape.pattern.sub(shape.replacement, text)
        return text

    def redact_json(self, value: Any) -> Any:
        """A copy of a JSON value without secrets, in keys too."""
        return _changed(value, self.redact, lambda number: self._shown.replaced_number(number, MASK))

    def hide(self, text: str) -> str:
        """The text without values that surely are secrets, and without tokens of our own."""
        text = self._sure.replaced(text, HIDDEN)
        return _OUR_TOKEN.sub(HIDDEN, text) if _OUR_MARK in text else text

    def hide_json(self, value: Any) -> Any:
        """A copy of a JSON value without them, in keys too."""
        return _changed(value, self.hide, lambda number: self._sure.replaced_number(number, HIDDEN))


def _changed(value: Any, text: Callable[[str], str], number: Callable[[float], Any]) -> Any:
    if isinstance(value, str):
        return text(value)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, (dict, Mapping)):
        return {_changed(key, text, number): _changed(item, text, number) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_changed(item, text, number) for item in value]
    return number(value) if isinstance(value, (int, float)) else value


def _is_worth_hiding(value: str) -> bool:
    # A value with the mask's own character in it could appear in what redaction leaves.
    return len(value.strip()) >= _SHORTEST and value.lower() not in _COMMON and MASK[0] not in value


def _spellings(value: str) -> Iterable[str]:
    """How a value may appear: as it is, trimmed, in JSON, in a Python repr, in a URL, one line of many."""
    forms = {value, value.strip()}
    forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    forms |= {quote(value, safe="", errors="replace"), quote(value, errors="replace")}
    forms |= {quote_plus(value, errors="replace")}
    if "\n" in value:
        forms |= {line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE}
    return (form for form in forms if len(form) >= _SHORTEST)


def _any_of(texts: Collection[str]) -> re.Pattern[str] | None:
    return re.compile(_alternation(texts)) if texts else None


def _alternation(texts: Iterable[str], depth: int = 2) -> str:
    """A pattern for any of these texts, the longest first, branching on their first characters for speed."""
    if not depth:
        return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
    branches: dict[str, list[str]] = {}
    for text in texts:
        branches.setdefault(text[0], []).append(text[1:])
    return "|".join(
        f"{re.escape(first)}(?:{_alternation(rest, depth - 1)})" for first, rest in branches.items()
    )


_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class RedactingFilter(logging.Filter):
    """Cleans records before a handler writes them: message, arguments, extras, exception and stack.

    Add it to handlers: a logger's own filters do not see what its children log.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        self._clean_message(record)
        self._clean_exception(record)
        for name, value in list(vars(record).items()):
            if name not in _STANDARD_FIELDS:
                setattr(record, name, self._clean_extra(value))
        return True

    def _clean_extra(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, Mapping, list, tuple, int, float)):
            return self._redactor.redact_json(value)
        text = str(value)
        redacted = self._redactor.redact(text)
        return value if redacted == text else redacted

    def _clean_message(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError, IndexError):
            # Logging would print the arguments as they are when it reports that they do not fit.
            record.msg, record.args = self._redactor.redact(f"{record.msg} {record.args!r}"), None
            return
        redacted = self._redactor.redact(message)
        if redacted != message:
            record.msg, record.args = redacted, None

    def _clean_exception(self, record: logging.LogRecord) -> None:
        if record.exc_info and not record.exc_text and record.exc_info[0] is not None:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            redacted = self._redactor.redact(record.exc_text)
            if redacted != record.exc_text:
                # The exception itself still holds the secret, so no formatter may get at it.
                record.exc_text, record.exc_info = redacted, None
        if record.stack_info:
            record.stack_info = self._redactor.redact(record.stack_info)
