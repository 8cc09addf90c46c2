"""Short ids that a person can type on a phone: five letters, without the one that looks like a digit."""

from __future__ import annotations

import secrets
from collections.abc import Container

LETTERS = "abcdefghijkmnopqrstuvwxyz"
LENGTH = 5


def new_short_id(taken: Container[str]) -> str:
    """One that is not taken."""
    while (found := "".join(secrets.choice(LETTERS) for _ in range(LENGTH))) in taken:
        pass
    return found
