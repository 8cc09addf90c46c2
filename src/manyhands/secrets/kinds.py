"""Which values are secrets and which are settings: by what they are called, then by how they look. Pure.

In logs and listings every value of an environment or a header is hidden. What a tool answers is used to work
with, so only what is surely a secret is taken out of that: a path or a region must stay readable.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from enum import Enum
from urllib.parse import unquote


class _Kind(Enum):
    """What a word in a name says of the value. An address may hold a secret, as those of webhooks do."""

    SECRET = "secret"  # noqa: S105 - a kind of word
    OFTEN = "often a secret"
    ADDRESS = "address"
    ABOUT = "about a secret, and none"
    KNOWN = "what anybody may know"


_SECRET_ENDINGS = (
    *("apikey", "authorization", "credential", "jwt", "passcode", "passphrase", "passwd", "password"),
    *("private", "pwd", "secret", "token"),
)
# Names that are used for plain words as well: `AUTH=required`, `KEY=name`.
_OFTEN_ENDINGS = ("auth", "cookie", "key", "pass", "session", "signature")
_ADDRESSES = frozenset({"endpoint", "uri", "url"})
# `TOKEN_LIMIT`, `ACCESS_KEY_ID`.
_ABOUT = frozenset(
    {"algorithm", "budget", "count", "dir", "directory", "enabled", "expiry", "file", "format", "header"}
    | {"host", "id", "issuer", "length", "limit", "max", "method", "min", "mode", "name", "path", "port"}
    | {"prefix", "provider", "scope", "size", "timeout", "ttl", "type", "username", "version"}
)
# `PROJECT`, but not `PROJECT_TOKEN` or `TOKEN_PROJECT`.
_KNOWN = frozenset(
    {"email", "region", "root", "user"}
    | {"account", "app", "branch", "bucket", "channel", "cluster", "collection", "commit", "context"}
    | {"database", "date", "db", "doc", "domain", "env", "environment", "folder", "home", "index", "lang"}
    | {
        "level",
        "locale",
        "model",
        "namespace",
        "org",
        "organisation",
        "organization",
        "owner",
        "page",
        "profile",
        "project",
    }
    | {"queue", "repo", "repository", "schema", "server", "sha", "sheet", "site", "space", "spreadsheet"}
    | {"stage", "table", "team", "tenant", "topic", "workspace", "zone"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST_WORD = 16
_FEWEST_DIGITS = 8

_PLACE = re.compile(r"(?:~|\.{1,2})?/(?:[^/\0]+/)+[^/\0]*|[A-Za-z]:[\\/].*|~|\.{1,2}[\\/].*")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_JOINT = re.compile(r"[-._/@:+, ]+")
_SHORT_MIX = 6

_SCHEME = re.compile(r"(?i)(basic|bearer|token|digest|apikey)\s+(\S+)")
_USER_INFO = re.compile(r"(?<![\w+.-])[A-Za-z][\w+.-]*://([^\s/:@]*)(?::([^\s/]*))?@")
_LONG_USER = 16
_PAIR = re.compile(r"(?:^|(?<=[;&?,\s]))([\w.-]+)=\"?([^;&,\s\"]+)")
_PAIR_OF_MANY = re.compile(r"(?:^|(?<=;))\s*([\w. -]+)=\"?([^;\"]+)")
_FIELD = re.compile(r'"([\w-]+)"\s*:\s*"((?:[^"\\]|\\.)+)"')


def secrets_in(name: str, value: str, *, referred: bool = False) -> set[str]:
    """What surely is a secret of the value of a variable or header: all of it, parts of it, or nothing.

    `referred`: somebody wrote `${NAME}` in place of it, which is done with secrets, if not with them alone.
    """
    found = set(_parts(value))
    if _is_secret(name, value.strip(), referred=referred):
        found.add(value)
        words = [word.lower() for word in _WORD.findall(name)]
        if "authorization" in words:
            found.add(value.rsplit(maxsplit=1)[-1] if value.strip() else value)
        if "cookie" in words:
            found |= {said for _, said in _PAIR.findall(value) if not _is_plain(said)}
    return found


def _is_secret(name: str, value: str, *, referred: bool) -> bool:
    kinds = [kind for kind in map(_kind, _WORD.findall(name)) if kind is not None]
    # `HOST_PASSWORD`, `PASSWORD_HOST`: the last word says what it is.
    telling = next((kind for kind in reversed(kinds) if kind is not _Kind.KNOWN), None)
    if telling is _Kind.ABOUT or (kinds and set(kinds) <= {_Kind.KNOWN, _Kind.ABOUT}):
        return False
    random, place = _looks_random(value), _PLACE.fullmatch(value) is not None
    if telling is _Kind.ADDRESS:
        return random and not place
    if _Kind.SECRET in kinds:
        return random or not (place or _is_word(value) or _is_short_number(value))
    suspect = telling is _Kind.OFTEN and not _is_plain(value)
    return not place and (random or suspect or (referred and _is_odd(value)))


def _kind(word: str) -> _Kind | None:
    word = word.lower()
    one = word.removesuffix("s")
    if one.endswith(_SECRET_ENDINGS):
        return _Kind.SECRET
    if {word, one} & _ABOUT:
        return _Kind.ABOUT
    if {word, one} & _KNOWN:
        return _Kind.KNOWN
    if word in _ADDRESSES:
        return _Kind.ADDRESS
    if one == "pat" or word.endswith(_OFTEN_ENDINGS) or one.endswith(_OFTEN_ENDINGS):
        return _Kind.OFTEN
    return None


def _parts(value: str) -> Iterator[str]:
    """Secrets inside a value: behind a header's scheme, in an address, in pairs and fields that say so."""
    if match := _SCHEME.fullmatch(value.strip()):
        yield match[2]
        if match[1].lower() == "basic":
            yield from _password(match[2])
    for match in _USER_INFO.finditer(value):
        secret = match[2] or (match[1] if len(match[1]) >= _LONG_USER else "")
        if secret:
            yield secret
            yield unquote(secret)
    for name, said in (*_PAIR.findall(value), *(_PAIR_OF_MANY.findall(value) if ";" in value else ())):
        if _is_secret(name, said, referred=False):
            yield said
            yield unquote(said)
    for name, said in _FIELD.findall(value):
        if _is_secret(name, said, referred=False):
            yield said
            yield said.replace("\\n", "\n")


def _password(encoded: str) -> Iterator[str]:
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return
    yield password or user


def _is_word(value: str) -> bool:
    """`postgres`: hidden, it would be missing from every text about it."""
    one_case = value.islower() or value.isupper() or value.istitle()
    return value.isalpha() and one_case and len(value) < _LONGEST_WORD


def _is_short_number(value: str) -> bool:
    return value.isdecimal() and len(value) < _FEWEST_DIGITS


def _is_plain(value: str) -> bool:
    """A word, a number, an address without a password."""
    return _is_word(value) or _is_short_number(value) or "://" in value


def _is_odd(value: str) -> bool:
    """Neither words nor numbers, however they are joined: `s3same!`, but not `acme-corp` or `eu-west-2b`."""
    if "://" in value:
        return False
    return any(
        not piece.isalnum() or (not piece.isalpha() and not piece.isdecimal() and len(piece) >= _SHORT_MIX)
        for piece in _JOINT.split(value)
        if piece
    )


def _looks_random(value: str) -> bool:
    """Letters and digits mixed for longer than any word; an id that others may know is none."""
    if _UUID.fullmatch(value):
        return False
    return any(
        any(sign.isdigit() for sign in run) and any(sign.isalpha() for sign in run)
        for run in _RUN.findall(value)
    )
