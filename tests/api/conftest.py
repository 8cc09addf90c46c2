"""A hub of its own for each test, spoken to through its app, or through a socket where a socket matters."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from manyhands.api.app import create_app
from manyhands.api.serving import HttpServer
from manyhands.hub import Hub
from tests.homes import ready_home

HAND_SERVER = Path(__file__).parents[1] / "cli" / "hand_server.py"
HAND: dict[str, Any] = {"name": "hand", "command": sys.executable, "args": [str(HAND_SERVER)]}
BASE = "http://127.0.0.1:8222"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with Hub(await ready_home(tmp_path / "home")) as hub:
        yield hub


@pytest.fixture
def app(hub: Hub) -> FastAPI:
    return create_app(hub)


@pytest.fixture
async def anonymous(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody without a token."""
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url=BASE, timeout=None) as client:
        yield client


@pytest.fixture
async def client(app: FastAPI, hub: Hub) -> AsyncIterator[httpx2.AsyncClient]:
    """The owner."""
    headers = {"Authorization": f"Bearer {hub.home.token()}"}
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(
        transport=transport, base_url=BASE, headers=headers, timeout=None
    ) as client:
        yield client


@dataclass(frozen=True)
class Served:
    """The app on a real socket."""

    url: str
    token: str
    app: FastAPI

    @property
    def websocket_url(self) -> str:
        return self.url.replace("http:", "ws:") + "/api/ws"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@pytest.fixture
async def served(app: FastAPI, hub: Hub) -> AsyncIterator[Served]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = HttpServer(app, grace_s=5)
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve_on, listener)
            await server.listening.wait()
            port = listener.getsockname()[1]
            yield Served(f"http://127.0.0.1:{port}", hub.home.token(), app)
            app.state.crowds.close()
            server.stop()


def appear(path: Path) -> None:
    """Wait until another process has made the file."""
    while not path.exists():
        time.sleep(0.01)
