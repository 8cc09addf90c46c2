"""The hub inside this process, for commands that find no daemon: the same API, spoken to without a socket.

Owns the thread that the hub's event loop runs in, and its end: what is still asked then is cancelled.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.abc import TaskStatus
from anyio.from_thread import BlockingPortal, start_blocking_portal

from manyhands.cli.client import DEFAULT_TIMEOUT_S, Json, decode, target
from manyhands.cli.quick_start import end_quickly, start_quickly
from manyhands.cli.shortcuts import take_shortcut
from manyhands.errors import ConflictError, UnavailableError
from manyhands.home import Home

if TYPE_CHECKING:
    from httpx2 import AsyncClient

    from manyhands.hub import Hub

T = TypeVar("T")

LOCK_WAIT_S = 60.0
LOCK_LOOK_S = 0.1
CANCEL_WITHIN_S = 10.0


class InProcessApi:
    """Speaks to a hub of our own."""

    is_daemon = False

    def __init__(self, portal: BlockingPortal, hub: Hub, stack: ExitStack) -> None:
        self._portal = portal
        self._hub = hub
        self._stack = stack
        self._client: AsyncClient | None = None
        self._opening = threading.Lock()
        self._under_way: dict[Future[Any], threading.Event] = {}

    @classmethod
    def start(cls, home: Home) -> InProcessApi:
        """Start the hub; another command that holds the home for a moment is waited for."""
        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            _wait_for_lock(home, deadline)
            try:
                return cls._start(home)
            except ConflictError as error:
                held = "pid" in error.data and not error.data["url"]
                if not held or time.monotonic() > deadline:
                    raise

    @classmethod
    def _start(cls, home: Home) -> InProcessApi:
        start_quickly()
        from manyhands.hub import Hub
        from manyhands.logs import logging_to
        from manyhands.secrets import Redactor

        home.create()
        redactor = Redactor()
        with ExitStack() as stack:
            stack.enter_context(logging_to(home.logs, redactor))
            portal = stack.enter_context(start_blocking_portal())
            opening = portal.wrap_async_context_manager(Hub(home, redactor=redactor, resume=False))
            hub = stack.enter_context(opening)
            return cls(portal, hub, stack.pop_all())

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        if query is None:
            answer = self._ask(timeout, take_shortcut, self._hub, method, path, body)
            if answer is not None:
                return answer
        return decode(*self._ask(timeout, _send, self._opened(), method, target(path, query), body))

    def _ask(self, timeout: float, question: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Ask in the hub's thread, and wait for the answer."""
        ended = threading.Event()
        asked: Future[T] = self._portal.start_task_soon(_until_told, ended, question, *arguments)
        self._under_way[asked] = ended
        try:
            return asked.result(timeout)
        except (TimeoutError, CancelledError) as error:
            asked.cancel()
            raise UnavailableError(f"No answer within {timeout:.0f} s.", hint="Try again.") from error
        finally:
            if asked.done():  # else the wait was interrupted, and `close` has to cancel it
                self._under_way.pop(asked, None)

    def _opened(self) -> AsyncClient:
        """The API, made when it is first asked."""
        with self._opening:
            if self._client is None:
                self._client = self._stack.enter_context(
                    self._portal.wrap_async_context_manager(_make_client(self._hub))
                )
            return self._client

    @contextmanager
    def follow(self, tell: Callable[[Json], None], *, since: int | None = None) -> Iterator[None]:
        async def listen(*, task_status: TaskStatus[None]) -> None:
            async with self._hub.bus.subscribe(since) as events:
                task_status.started()
                async for event in events:
                    tell(event.envelope())

        listening, _ = self._portal.start_task(listen)
        try:
            yield
        finally:
            listening.cancel()

    def start_servers(self) -> None:
        self._portal.call(self._hub.start_servers)

    def close(self) -> None:
        """Cancel what is still asked, let it tell its server so, then end the hub in its bounded steps."""
        for asked, ended in list(self._under_way.items()):
            asked.cancel()
            ended.wait(CANCEL_WITHIN_S)
        self._stack.close()
        end_quickly()


async def _until_told(ended: threading.Event, question: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    try:
        return await question(*arguments)
    finally:
        ended.set()


async def _send(client: AsyncClient, method: str, target: str, body: Any) -> tuple[int, str, bytes]:
    response = await client.request(method, target, json=body)
    return response.status_code, response.headers.get("Content-Type", ""), response.content


def _make_client(hub: Hub) -> AsyncClient:
    from httpx2 import ASGITransport, AsyncClient

    from manyhands.api.app import create_app

    transport = ASGITransport(create_app(hub), raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {hub.home.token()}"}
    return AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers, timeout=None)


def _wait_for_lock(home: Home, deadline: float) -> None:
    """Wait while a process that is no daemon holds the home."""
    from manyhands.system import read_lock

    while time.monotonic() < deadline:
        holder = read_lock(home.lock_file)
        if holder is None or holder.url:
            return
        time.sleep(LOCK_LOOK_S)
