"""Mentions: `@Name` in a text, found and put into the words of a platform. Pure: who has which name is given.

What stands in code is no mention, nor is an address (`me@manyhands`) or a server's resource (`@docs:file:…`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from manyhands.chat.types import Mention

_CODE = re.compile(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|(?P<tick>`+).+?(?P=tick)(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody who can be mentioned."""

    kind: Literal["hub", "agent"]
    id: str
    name: str


def find_mentions(text: str, names: Sequence[Named]) -> list[Mention]:
    """Every mention in the order of the text; of two names that fit, the longer one is meant."""
    if "@" not in text or not names:
        return []
    known: dict[str, Named] = {}
    for one in names:
        known.setdefault(one.name.casefold(), one)
    longest_first = sorted(known, key=len, reverse=True)
    pattern = re.compile(
        rf"(?<![\w@/.`])@({'|'.join(map(re.escape, longest_first))})(?![\w-]|:\S|@|\.\w)", re.IGNORECASE
    )
    code = [found.span() for found in _CODE.finditer(text)]
    mentions = []
    for found in pattern.finditer(text):
        if any(start <= found.start() < end for start, end in code):
            continue
        named = known.get(found.group(1).casefold())
        if named is not None:
            mentions.append(Mention(named.kind, named.id, named.name, found.start(), found.end()))
    return mentions


def mentions_hub(mentions: Sequence[Mention]) -> bool:
    return any(mention.kind == "hub" for mention in mentions)


def render_mentions(text: str, mentions: Sequence[Mention], write: Callable[[Mention], str]) -> str:
    """The text with each mention as its platform writes it."""
    parts, place = [], 0
    for mention in mentions:
        parts += [text[place : mention.start], write(mention)]
        place = mention.end
    return "".join([*parts, text[place:]])
