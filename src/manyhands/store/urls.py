"""Database URLs: which database, which file, which driver."""

from __future__ import annotations

import os

from manyhands.errors import InvalidError


def scheme_of(url: str) -> str:
    """`sqlite` or `postgresql`, without the driver."""
    return url.split(":", 1)[0].split("+", 1)[0]


def is_sqlite(url: str) -> bool:
    return scheme_of(url) == "sqlite"


def sqlite_path(url: str) -> str:
    """The file that a `sqlite:///…` URL names."""
    prefix = "sqlite:///"
    if not url.startswith(prefix) or url == prefix:
        raise InvalidError(f"The database URL {url!r} names no file.", hint="Use sqlite:////absolute/path.")
    return os.path.abspath(url[len(prefix) :])


def psycopg_url(url: str) -> str:
    """The same URL with the driver that we use."""
    return f"postgresql+psycopg:{url.split(':', 1)[1]}"
