"""Keeping secrets out of what is shown: values that are known to be secret, and texts that look like one.

It changes copies for logs and listings; what is stored or sent to a server never goes through here.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "••••••"

# Shorter values would blank out ordinary words.
_SHORTEST = 6
# Values that configurations are full of and that nobody keeps secret.
_COMMON = frozenset(
    {"application/json", "default", "development", "disabled", "enabled", "localhost", "127.0.0.1"}
    | {"production", "staging", "verbose", "warning"}
)
# Tokens are renewed for as long as the daemon lives; those of long ago are worth nothing.
_MOST_VALUES = 2000
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
_NEEDLE = re.compile("|".join(sorted({re.escape(needle) for shape in _SHAPES for needle in shape.needles})))


class Redactor:
    """Takes secrets out of texts. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, None] = {}
        self._known: re.Pattern[str] | None = None
        self._digits = False
        self._stale = False

    def register(self, *secrets: str | None) -> None:
        """Remember values that must not be shown; what is short or common is left alone."""
        with self._lock:
            for secret in secrets:
                if secret is not None and _is_worth_hiding(secret):
                    self._values.pop(secret, None)
                    self._values[secret] = None
                    self._stale = True
            while len(self._values) > _MOST_VALUES:
                del self._values[next(iter(self._values))]

    def redact(self, text: str) -> str:
        """The text without secrets."""
        known = self._pattern()
        if known is not None:
            text = known.sub(MASK, text)
        lowered = text.lower()
        if len(lowered) <= _SHORT and _NEEDLE.search(lowered) is None:
            return text
        for shape in _SHAPES:
            if any(needle in lowered for needle in shape.needles):
                text = shape.pattern.sub(shape.replacement, text)
        return text

    def redact_json(self, value: Any) -> Any:
        """A copy of a JSON value without secrets, in keys too."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            return {self.redact_json(key): self.redact_json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.redact_json(item) for item in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._redact_number(value)
        return value

    def _redact_number(self, value: float) -> Any:
        known = self._pattern()
        if known is None or not self._digits:
            return value
        text = str(value)
        redacted = known.sub(MASK, text)
        return value if redacted == text else redacted

    def _pattern(self) -> re.Pattern[str] | None:
        if self._stale:
            with self._lock:
                self._compile()
        return self._known

    def _compile(self) -> None:
        spellings = {spelling for value in self._values for spelling in _spellings(value)}
        self._known = re.compile(_alternation(spellings)) if spellings else None
        self._digits = any(any(c.isdigit() for c in value) for value in self._values)
        self._stale = False


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
