"""Model servers to test against."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from manyhands.models.clients import Clients
from tests.models.aimock import Aimock, running_aimock


@pytest.fixture(scope="session")
def aimock_process() -> Iterator[Aimock]:
    with running_aimock() as running:
        yield running


@pytest.fixture
def aimock(aimock_process: Aimock) -> Aimock:
    """aimock with nothing to say yet."""
    aimock_process.reset()
    return aimock_process


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    opened = Clients()
    yield opened
    await opened.close()


@pytest.fixture
def unused_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
