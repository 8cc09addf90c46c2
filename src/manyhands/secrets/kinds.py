"""Which values are secrets and which are settings: by what they are called, then by how they look. Pure.

In logs and listings every value of an environment or a header is hidden. What a tool answers is used to work
with, so only what is surely a secret is taken out of that: a path or a region must stay readable.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from urllib.parse import unquote

_SECRET = frozenset(
    {"authorization", "apikey", "credential", "credentials", "passphrase", "passwd", "password", "private"}
    | {"pwd", "secret", "secrets", "token"}
)
# Names that are used for plain words as well: `AUTH=required`, `KEY=name`.
_OFTEN_SECRET = frozenset({"auth", "cookie", "key", "pass", "pat", "session", "signature"})
# `TOKEN_LIMIT`, `ACCESS_KEY_ID`: about a secret, and none; `ROOT_PASSWORD`: the last word says what it is.
_SETTING = frozenset(
    {"algorithm", "budget", "count", "dir", "directory", "email", "enabled", "expiry", "file"}
    | {"format", "header", "host", "id", "issuer", "length", "limit", "max", "method", "min", "mode", "name"}
    | {"path", "port", "prefix", "provider", "region", "root", "scope", "scopes", "size", "timeout", "ttl"}
    | {"type", "user", "username", "version"}
)
# An address may have a secret in it, as those of webhooks do.
_ADDRESS = frozenset({"endpoint", "uri", "url"})
_TELLING = _SECRET | _OFTEN_SECRET | _SETTING | _ADDRESS
# What people refer to by a variable although anybody may know it.
_KNOWN = frozenset(
    {"account", "branch", "bucket", "database", "db", "domain", "env", "environment", "home", "lang", "level"}
    | {"locale", "model", "org", "organisation", "organization", "owner", "project", "repo", "repository"}
    | {"schema", "server", "stage", "team", "tenant", "workspace", "zone"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PLACE = re.compile(r"(?:~|\.{1,2})?/(?:[^/\0]+/)+[^/\0]*|[A-Za-z]:[\\/].*|~|\.{1,2}[\\/].*")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PIECE = re.compile(r"[A-Za-z0-9]{16,}")
_FEWEST_DIGITS = 8

_SCHEME = re.compile(r"(?i)(basic|bearer|token|digest|apikey)\s+(\S+)")
_USER_INFO = re.compile(r"[A-Za-z][\w+.-]*://([^\s/:@]*)(?::([^\s/@]*))?@")
_LONG_USER = 16


def is_secret(name: str, value: str, *, referred: bool = False) -> bool:
    """Whether the value of a variable or header of that name is surely a secret.

    `referred`: somebody wrote `${NAME}` in place of it, which is done with secrets, if not with them alone.
    """
    value = value.strip()
    if any(True for _ in parts_of(value)):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    telling = next((word for word in reversed(words) if word in _TELLING), "")
    if telling in _SETTING:
        return False
    random, place = _looks_random(value), _PLACE.fullmatch(value) is not None
    if telling in _ADDRESS:
        return random and not place
    if not _SECRET.isdisjoint(words):
        return random or not (place or _is_short_number(value))
    suspect = telling in _OFTEN_SECRET or (referred and _KNOWN.isdisjoint(words))
    return not place and (random or (suspect and not _is_plain(value)))


def parts_of(value: str) -> Iterable[str]:
    """The secrets inside a value: what follows the scheme of a header, the password of an address."""
    if match := _SCHEME.fullmatch(value.strip()):
        yield match[2]
        if match[1].lower() == "basic":
            yield from _password(match[2])
    for match in _USER_INFO.finditer(value):
        secret = match[2] or (match[1] if len(match[1]) >= _LONG_USER else "")
        if secret:
            yield secret
            yield unquote(secret)


def _password(encoded: str) -> Iterable[str]:
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return
    yield password or user


def _is_short_number(value: str) -> bool:
    return value.isdecimal() and len(value) < _FEWEST_DIGITS


def _is_plain(value: str) -> bool:
    """A word, a number, an address without a password."""
    return value.isalpha() or value.isdecimal() or "://" in value


def _looks_random(value: str) -> bool:
    """Letters and digits mixed for longer than any word; an id that others may know is none."""
    if _UUID.fullmatch(value):
        return False
    return any(
        any(sign.isdigit() for sign in piece) and any(sign.isalpha() for sign in piece)
        for piece in _PIECE.findall(value)
    )
