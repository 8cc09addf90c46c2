"""The daemon: one hub with its ways in, from the first line to the last signal.

The composition root; nothing imports it but the command that starts it. It listens before it imports what is
heavy: when its database looks well it says at once that it is ready, and whoever asks something waits until
the rest is there. A database that is new, old or elsewhere is opened first.
"""

from __future__ import annotations

import errno
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from manyhands import __version__
from manyhands.errors import (
    ConflictError,
    InvalidError,
    ManyhandsError,
    NotAllowedError,
    UnavailableError,
    innermost,
)
from manyhands.home import Home, read_bootstrap
from manyhands.restoring import finish_restore
from manyhands.system import HomeLock, exposure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from manyhands.api.serving import HttpServer
    from manyhands.hub import Hub
    from manyhands.secrets import Redactor

log = logging.getLogger(__name__)

CALLS_GRACE_S = 5.0
ANSWERS_GRACE_S = 5.0
HTTP_GRACE_S = 8  # longer, for those who are told then
BACKLOG = 512
FORCED = 130
SOCKET_NAME = "api.sock"


@dataclass(frozen=True, slots=True)
class Options:
    """How this daemon is to run."""

    home: Home
    host: str
    port: int
    database_url: str
    log_level: str
    hosts: tuple[str, ...]
    open_browser: bool


def run_daemon(
    home: Home,
    *,
    host: str | None = None,
    port: int | None = None,
    database_url: str | None = None,
    open_browser: bool = False,
    allow_remote: bool = False,
) -> int:
    """Serve until a signal or the API ends it; the answer is the exit code."""
    finish_restore(home)
    bootstrap = read_bootstrap(home)
    _check_home(home)
    chosen = host or bootstrap.host
    options = Options(
        home,
        chosen,
        bootstrap.port if port is None else port,
        database_url or bootstrap.database_url,
        bootstrap.log_level,
        (*bootstrap.hosts, *_check_host(chosen, allow_remote=allow_remote)),
        open_browser,
    )
    with HomeLock(home.lock_file) as lock, _listening(options) as listener, _local(home) as local:
        return _run(options, lock, [listener, *([local] if local else [])])


def _run(options: Options, lock: HomeLock, listeners: list[socket.socket]) -> int:
    import anyio

    from manyhands.logs import check_level, logging_to
    from manyhands.secrets import Redactor

    redactor = Redactor()
    redactor.guard(options.home.token())
    level = check_level(options.log_level)
    with logging_to(options.home.logs, redactor, level=level, console=sys.stderr):
        try:
            anyio.run(_Daemon(options, lock, listeners, redactor).run)
        except ExceptionGroup as group:  # of the daemon's tasks; what ended it says what to do
            raise innermost(group) from group
    return 0


def _check_home(home: Home) -> None:
    """Whoever can change it can say which programs run, and read every secret."""
    found = exposure(home.path) if home.path.exists() else None
    if found in ("belongs to another user", "can be written by others"):
        print(
            f"warning: {home.path} {found}, who can then run programs as you. `manyhands doctor` says how to"
            " mend it.",
            file=sys.stderr,
        )


# --- the address


def _check_host(host: str, *, allow_remote: bool) -> list[str]:
    """The names under which this host is reached; one that is not loopback must be meant."""
    if _is_loopback(host):
        return [host]
    if not allow_remote:
        raise InvalidError(
            f"{host} can be reached from other machines.",
            hint="Say that you mean it with --allow-remote, or use 127.0.0.1.",
        )
    print(
        f"warning: the hub can be reached from other machines at {host}, without encryption; whoever has the "
        "token can run programs here. A tunnel or a proxy with TLS is safer.",
        file=sys.stderr,
    )
    return [host, socket.gethostname(), *_own_addresses()]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _own_addresses() -> Iterable[str]:
    with suppress(OSError):
        return {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    return ()


@contextmanager
def _listening(options: Options) -> Iterator[socket.socket]:
    host, port = options.host, options.port
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise InvalidError(f"There is no host {host!r} here.", hint="Use 127.0.0.1.") from error
    with socket.socket(family, kind, protocol) as listener:
        if sys.platform != "win32":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise _unbindable(host, port, error) from error
        listener.setblocking(False)
        yield listener


@contextmanager
def _local(home: Home) -> Iterator[socket.socket | None]:
    """The same API on a Unix socket, for agents without a network; it takes tokens like the other."""
    if not hasattr(socket, "AF_UNIX"):
        yield None
        return
    home.create()
    path = home.run / SOCKET_NAME
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            _bind_local(listener, path)
        except OSError as error:
            log.warning("there is no socket at %s: %s", path, error)
            yield None
            return
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _bind_local(listener: socket.socket, path: Path) -> None:
    path.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        # Such a path has a hundred letters at most; through the handle of its directory any will do.
        handle = f"/proc/self/fd/{directory}"
        listener.bind(f"{handle}/{path.name}" if os.path.exists(handle) else str(path))
    finally:
        os.close(directory)
    path.chmod(0o600)
    listener.listen(BACKLOG)
    listener.setblocking(False)


def _unbindable(host: str, port: int, error: OSError) -> Exception:
    if error.errno == errno.EADDRINUSE:
        return ConflictError(
            f"Port {port} is taken by another program.",
            hint="Choose another one with --port (--port 0 takes any that is free).",
        )
    if error.errno == errno.EACCES:
        return NotAllowedError(f"Port {port} may not be used.", hint="Choose one above 1023 with --port.")
    return InvalidError(f"{host} port {port} cannot be used: {error.strerror}.", hint="Use --host 127.0.0.1.")


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


# --- the run


def _is_same_file(output: TextIO, path: Path) -> bool:
    """Whether it goes into this file, where a token would stay."""
    try:
        return os.path.samestat(os.fstat(output.fileno()), path.stat())
    except (OSError, ValueError):
        return False


class _Daemon:
    """One run from open to close."""

    def __init__(
        self, options: Options, lock: HomeLock, listeners: list[socket.socket], redactor: Redactor
    ) -> None:
        import anyio

        from manyhands.api.waiting import Waiting

        self._options = options
        self._lock = lock
        self._listeners = listeners
        self._redactor = redactor
        self._url = _url(listeners[0])
        self._stop = anyio.Event()
        self._waiting = Waiting()
        self._app: Any = None

    async def run(self) -> None:
        """Listen, open the hub, bring in the ways in, and close in bounded steps."""
        import anyio

        from manyhands.api.serving import HttpServer
        from manyhands.store.schema import looks_current

        server = HttpServer(self._waiting, HTTP_GRACE_S)
        with _signals(self._stop.set):
            async with anyio.create_task_group() as group:
                group.start_soon(server.serve_on, *self._listeners)
                await server.listening.wait()
                if well := looks_current(self._options.database_url):
                    self._announce()
                try:
                    async with await anyio.to_thread.run_sync(self._make_hub) as hub:
                        if not well:
                            self._announce()
                        await self._serve(hub, server)
                except Exception as error:  # border: whoever has asked already is told why it ends
                    self._refuse(error)
                    await _stop(server)
                    raise

    def _refuse(self, error: Exception) -> None:
        from manyhands.api.security import Gate
        from manyhands.api.waiting import refusing

        if self._app is not None:
            self._waiting.send_home()
            return
        app = refusing(_why_not(error))
        self._waiting.serve(Gate(app, token=self._options.home.token(), hosts=self._options.hosts))

    def _make_hub(self) -> Hub:
        from manyhands.hub import Hub

        options = self._options
        hub = Hub(options.home, options.database_url, lock=self._lock, redactor=self._redactor)
        # Runs go on as soon as it opens, and their agents are told then.
        hub.url, hub.socket = self._url, self._socket
        return hub

    @property
    def _socket(self) -> Path | None:
        return self._options.home.run / SOCKET_NAME if len(self._listeners) > 1 else None

    async def _serve(self, hub: Hub, server: HttpServer) -> None:
        """Until it is asked to end; then what is under way ends before the hub does."""
        import anyio

        hub.serve_at(self._url, self._socket)
        async with anyio.create_task_group() as bringing:
            bringing.start_soon(self._bring_in, hub)
            await self._stop.wait()
            log.info("stopping; a second signal ends it at once")
            bringing.cancel_scope.cancel()
        if self._app is not None:
            await _send_home(self._app)
            server.stop()
            with anyio.move_on_after(ANSWERS_GRACE_S):
                await server.stopped.wait()
        self._waiting.send_home()
        await _stop(server)

    def _announce(self) -> None:
        address = f"{self._url}/?token={self._options.home.token()}"
        self._lock.announce(self._url)
        log.info("version %s serves %s at %s", __version__, self._options.home.path, self._url)
        with suppress(OSError):  # nobody reads it
            kept = _is_same_file(sys.stdout, self._options.home.detached_output)
            print(f"ready: {self._url if kept else address}", flush=True)
        if self._options.open_browser:
            import threading
            import webbrowser

            # Where there is no desktop this may run a browser in the terminal, for as long as a person reads.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async def _bring_in(self, hub: Hub) -> None:
        """What is heavy, one after the other: the API, the servers, the MCP SDK."""
        import anyio

        from manyhands.imports import import_aside

        def build() -> Any:
            from manyhands.api.app import create_app

            return create_app(hub, hosts=self._options.hosts, on_shutdown=self._stop.set)

        app = await anyio.to_thread.run_sync(build)
        await self._serve_playgrounds(hub)
        self._app = app
        self._waiting.serve(app)
        hub.start_servers()
        await hub.keep(hub.memory.run)
        for module in ("manyhands.servers.connection", "manyhands.mcp_server.server"):
            await import_aside(module)
        # What was imported stays for good: looking through it for garbage now and then stops everybody.
        gc.freeze()

    async def _serve_playgrounds(self, hub: Hub) -> None:
        """Their pages on a port of their own; without one the hub still works."""
        from functools import partial

        from manyhands.api.playground_pages import serve_playgrounds

        port = self._listeners[0].getsockname()[1]
        work = partial(serve_playgrounds, hub, self._options.host, port, self._options.hosts)
        try:
            await hub.keep(work)
        except OSError as error:
            log.warning("playgrounds cannot be served: %s", error)


def _why_not(error: Exception) -> UnavailableError:
    """Why a hub could not be opened, for those who wait for it."""
    cause = innermost(error)
    if isinstance(cause, ManyhandsError):
        return UnavailableError(cause.message, hint=cause.hint)
    return UnavailableError("The hub does not start.", hint="What the daemon printed, and its log, say why.")


async def _stop(server: HttpServer) -> None:
    server.stop()
    await server.stopped.wait()


async def _send_home(app: Any) -> None:
    """End what listens for ever, and let calls that are nearly done finish."""
    import anyio

    crowds = app.state.crowds
    crowds.live.close()
    crowds.agents.close()
    crowds.calls.shut()
    with anyio.move_on_after(CALLS_GRACE_S):
        await crowds.calls.empty()
    crowds.calls.close()


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM asks the daemon to end, the second forces it, whatever it is doing."""
    import asyncio

    loop = asyncio.get_running_loop()
    asked = False

    def handle(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            # The system drops the lock, the guardian ends the servers.
            os._exit(FORCED)
        asked = True
        loop.call_soon_threadsafe(stop)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
