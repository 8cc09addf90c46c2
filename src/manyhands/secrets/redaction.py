"""Keeping secrets out of what is shown: values that are known to be secret, and texts that look like one.

It changes copies: for logs and listings, and of what servers and tools say. What is sent to a server never
goes through here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from manyhands.secrets.pieces import BytePieces, TextPieces
from manyhands.secrets.values import Values

MASK = "••••••"
HIDDEN = "[hidden-by-manyhands]"
"""In place of a secret in what is worked with; nobody else writes this, so it is known when it comes back."""


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


_OUR_MARK = "mha_"
_OUR_TOKEN = re.compile(rf"{_OUR_MARK}[A-Za-z0-9_-]{{43}}")
_OUR_LONGEST = 64
_LEAST_TOKEN = 47
_LEAST_SHAPE = 7
"""No shape fits a shorter text."""
_LEFT_OUT = re.compile(r"\s?\[…[^\]\n]*\]\s?|\s?…\s?|\.\.\.")
_MOST_CUTS = 500
_OUR_TOKEN_BEGUN = re.compile(rf"(?:m|mh|mha|{_OUR_MARK}[A-Za-z0-9_-]{{0,42}})\Z")
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
        "github_pat_ glpat- hf_ xox",
        r"(?i)\b(?:github_pat_|glpat-|hf_|xox[a-z]-)[A-Za-z0-9_-]{16,}",
    ),
    _Shape("npm_", r"\bnpm_[A-Za-z0-9]{30,}"),  # and not npm's many variables, such as npm_config_cache
    _Shape("akia aiza", r"\b(?:AKIA[0-9A-Z]{16}\b|AIza[\w-]{30,})"),
    _Shape(_OUR_MARK, _OUR_TOKEN.pattern),
    _Shape(
        "--",
        r"(?i)((?<![\w-])--(?:[\w-]*-)?(?:key|token|password|passwd|secret)[= ])(?![-/~.])[^\s\"']{6,}",
        rf"\g<1>{MASK}",
    ),
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
    # Pydantic quotes what it refuses, and cuts it: of a secret in it a part would be left that nobody knows.
    _Shape("input_value=", r"(input_value=).{1,4000}(?=, input_type=)", rf"\g<1>{MASK}"),
)


_SHORT = 2000
"""Up to here one search for all needles at once is quicker than one for each."""
_NEEDLE = re.compile("|".join(sorted({re.escape(needle) for shape in _SHAPES for needle in shape.needles})))


class Redactor:
    """Takes secrets out of texts. Safe to use from any thread.

    `redact` is for what is shown: it takes out every value that may be a secret, and what looks like one.
    `hide` is for what is worked with, such as the answer of a tool: it takes out what surely is one.
    """

    def __init__(self) -> None:
        self._shown = Values(foreign=MASK[0])
        self._sure = Values(foreign=MASK[0])

    def register(self, *secrets: str | None) -> None:
        """Remember values that must not be shown; what is short or common is left alone."""
        self._shown.add(secrets)

    def guard(self, *secrets: str | None, of: str | None = None) -> None:
        """Remember values that nobody may get, not even whoever called the tool that says them.

        `of`: whose secrets they are, if it gets new ones again and again; then the old ones are forgotten.
        """
        self._shown.add(secrets, of)
        self._sure.add(secrets, of)

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
        least = min(_LEAST_SHAPE, self._shown.least)
        return _changed(value, least, self.redact, lambda number: self._shown.replaced_number(number, MASK))

    def hide(self, text: str) -> str:
        """The text without values that surely are secrets, and without tokens of our own."""
        text = self._sure.replaced(text, HIDDEN)
        return _OUR_TOKEN.sub(HIDDEN, text) if _OUR_MARK in text else text

    def hide_json(self, value: Any) -> Any:
        """A copy of a JSON value without them, in keys too."""
        least = min(_LEAST_TOKEN, self._sure.least)
        return _changed(value, least, self.hide, lambda number: self._sure.replaced_number(number, HIDDEN))

    def hide_cut(self, text: str) -> str:
        """The same for a text that was cut, maybe in a secret: at its end, and where it says `…`."""
        text = self.hide(text)
        told, last = [], 0
        for found in islice(_LEFT_OUT.finditer(text), _MOST_CUTS):
            if found.start() >= last:
                told += [_without_cut_end(text[last : found.start()], self._sure), found[0]]
                last = found.end()
                if length := self._sure.cut_start(text[last : last + _OUR_LONGEST]):
                    told.append(HIDDEN)
                    last += length
        return "".join(told) + _without_cut_end(text[last:], self._sure)

    def hide_cut_json(self, value: Any) -> Any:
        """The same for all texts of a JSON value."""
        return _changed(value, 0, self.hide_cut, lambda number: self._sure.replaced_number(number, HIDDEN))

    def hidden_pieces(self) -> TextPieces:
        """For a text that comes in pieces."""
        return TextPieces(
            self.hide,
            lambda text: max(self._sure.open_end(text), len(_our_token_begun(text))),
            lambda text: _without_cut_end(text, self._sure),
        )

    def hidden_bytes(self) -> BytePieces:
        """For bytes that come in pieces."""
        return BytePieces(self.hidden_pieces())


def _our_token_begun(text: str) -> str:
    begun = _OUR_TOKEN_BEGUN.search(text, max(0, len(text) - _OUR_LONGEST))
    return begun[0] if begun else ""


def _without_cut_end(text: str, values: Values) -> str:
    """The text without what is most of a secret at its end."""
    ours = len(_our_token_begun(text))
    length = max(values.cut_end(text), ours if ours > _OUR_LONGEST // 2 else 0)
    return text[: len(text) - length] + HIDDEN if length else text


def _changed(value: Any, least: int, text: Callable[[str], str], number: Callable[[float], Any]) -> Any:
    """A copy with other texts and numbers; texts of fewer characters than `least` stay as they are."""
    if isinstance(value, str):
        return value if len(value) < least else text(value)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, (dict, Mapping)):
        # Most texts are short, and every message of a server comes by here: they need no call of their own.
        return {
            key if type(key) is str and len(key) < least else _changed(key, least, text, number): (
                item if type(item) is str and len(item) < least else _changed(item, least, text, number)
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_changed(item, least, text, number) for item in value]
    return number(value) if isinstance(value, (int, float)) else value


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
