"""Which field of a task an error is about, so that a form can show it there. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manyhands.errors import ManyhandsError


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Errors that come up in here are about this field, unless they know better."""
    try:
        yield
    except ManyhandsError as error:
        error.data.setdefault("field", name)
        raise
