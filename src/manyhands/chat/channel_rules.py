"""What a channel or a thread may be called, and what they may be searched for. Pure."""

from __future__ import annotations

import re

from manyhands.errors import InvalidError

LONGEST_NAME = 200
LONGEST_QUERY = 1000
_UPWARDS = re.compile(r"\.\.[/\\]")


def check_name(name: str) -> str:
    """The name without blanks around it. One that cannot be read or looks like a way out is refused."""
    plain = name.strip()
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable():
        raise InvalidError(
            f"A channel or thread has a name of 1 to {LONGEST_NAME} characters, all of them visible.",
            hint="Give another name.",
        )
    if _UPWARDS.search(plain):
        raise InvalidError(
            f"The name {plain!r} holds a path that leads upwards.", hint="Give a name without ../ in it."
        )
    return plain


def check_query(query: str | None) -> str | None:
    """What is searched for; databases refuse patterns without end in words of their own."""
    if query and len(query) > LONGEST_QUERY:
        raise InvalidError(
            f"The query has {len(query):,} characters.", hint=f"Search for at most {LONGEST_QUERY:,} of them."
        )
    return query
