"""What every route needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from manyhands.api import access, playgrounds


@pytest.mark.parametrize(
    "dependency", [access.hub_of, access.principal_of, access.channel_of, playgrounds.key_of]
)
def test_what_comes_with_every_request_takes_no_thread(dependency: Callable[..., Any]) -> None:
    """The framework runs plain functions in one, and every request would wait for it."""
    assert inspect.iscoroutinefunction(dependency)
