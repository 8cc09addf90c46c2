"""How commands reach the hub: over HTTP to the running daemon, with the standard library alone.

Owns finding the daemon, asking it, and turning its problems back into errors of the one tree. Without a
daemon `manyhands.cli.inprocess` offers the same interface.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from manyhands.bridge import http
from manyhands.errors import InvalidError, ManyhandsError, UnavailableError
from manyhands.home import Home

Json = dict[str, Any]

DEFAULT_TIMEOUT_S = 60.0
LONG_TIMEOUT_S = 2 * 3600.0
"""For what the daemon itself bounds: calls that may wait for a person, backups."""
SILENCE_S = 45.0
"""The stream of events has a heartbeat every 15 s."""
ENDED: Json = {"type": "stream.ended", "data": {}}
"""Told by `Api.follow` instead of an event when there will be no more."""


class Api(Protocol):
    """The hub's API, wherever the hub runs."""

    is_daemon: bool

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        """Ask and answer with the decoded JSON (the text, where it is no JSON)."""
        ...

    def follow(
        self, tell: Callable[[Json], None], *, since: int | None = None
    ) -> AbstractContextManager[None]:
        """Tell of every event from now on, or after `since`, in a thread of its own, until the context ends.

        A stream that ends before that tells `ENDED` last.
        """
        ...

    def start_servers(self) -> None:
        """Connect the enabled servers, unless a daemon has done so already; waits for none of them."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True)
class Address:
    """Where a daemon serves. `chosen`: the person named it, so nothing may stand in for it."""

    url: str
    token: str
    chosen: bool = False


def find_daemon(home: Home, env: Mapping[str, str] = os.environ) -> Address | None:
    """The daemon that the environment names, else the one that holds the home's lock."""
    if url := env.get("MANYHANDS_URL"):
        return Address(url.rstrip("/"), env.get("MANYHANDS_TOKEN") or _stored_token(home), chosen=True)
    from manyhands.system import read_lock

    holder = read_lock(home.lock_file)
    if holder is None or holder.url is None:
        return None
    return Address(holder.url.rstrip("/"), env.get("MANYHANDS_TOKEN") or _stored_token(home))


def _stored_token(home: Home) -> str:
    try:
        return home.token_file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


class HttpApi:
    """The daemon over HTTP; one connection for each request, so that threads can share it."""

    is_daemon = True

    def __init__(self, address: Address) -> None:
        self.address = address
        try:
            self._place = http.Address(address.url)
        except ValueError as error:
            raise InvalidError(
                f"{address.url!r} is not the address of a daemon.",
                hint="Set MANYHANDS_URL to something like http://127.0.0.1:8222, or unset it.",
            ) from error

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        headers, payload = self._headers(), None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            with self._connected(timeout) as connection:
                return _decoded(connection.request(method, target(path, query), headers, payload))
        except (OSError, ValueError) as error:
            if isinstance(error.__cause__, TimeoutError):
                raise UnavailableError(
                    f"The daemon at {self.address.url} did not answer within {timeout:.0f} s.",
                    hint="`manyhands status` tells whether it is alive.",
                ) from error
            raise self._unreachable(error) from error

    @contextmanager
    def _connected(self, silence_s: float) -> Iterator[http.Connection]:
        connection = http.Connection(self._place, silence_s)
        try:
            yield connection
        finally:
            connection.close()

    def _unreachable(self, error: Exception) -> UnavailableError:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return UnavailableError(
            f"The daemon at {self.address.url} cannot be reached: {said}.",
            hint="Check MANYHANDS_URL or unset it."
            if self.address.chosen
            else "Start it with `manyhands up`.",
        )

    @contextmanager
    def follow(self, tell: Callable[[Json], None], *, since: int | None = None) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(self._connected(SILENCE_S))
                pieces = self._listen(connection, since)
            except (OSError, ValueError) as error:
                raise self._unreachable(error) from error
            reader = threading.Thread(target=_tell_events, args=(pieces, tell), name="events", daemon=True)
            reader.start()
            try:
                yield
            finally:
                connection.close()  # wakes the reader
                reader.join(timeout=5)

    def _listen(self, connection: http.Connection, since: int | None) -> Iterable[bytes]:
        response = connection.request("GET", target("/events", {"since": since}), self._headers())
        if response.status != 200:
            _decoded(response)
        pieces = response.pieces()
        greeting = next(pieces, b"")  # from here on nothing is missed
        return chain((greeting,), pieces)

    def _headers(self) -> dict[str, str]:
        token = f"Bearer {self.address.token}"
        return {"Authorization": token, "Accept": "application/json", "Connection": "close"}

    def start_servers(self) -> None:
        """The daemon did it when it started."""

    def close(self) -> None:
        """Every request has closed its own connection."""


def _tell_events(pieces: Iterable[bytes], tell: Callable[[Json], None]) -> None:
    """The envelopes of a `text/event-stream`, until it ends."""
    with suppress(OSError, ValueError):
        for data in http.events(pieces):
            tell(json.loads(data))
    tell(ENDED)


def target(path: str, query: Mapping[str, Any] | None) -> str:
    """The path under `/api` with its query; what is None is left out."""
    asked = {name: value for name, value in (query or {}).items() if value is not None}
    encoded = {
        name: str(value).lower() if isinstance(value, bool) else value for name, value in asked.items()
    }
    return f"/api{path}" + (f"?{urlencode(encoded)}" if encoded else "")


def segment(text: str | int) -> str:
    """One part of a path."""
    return quote(str(text), safe="")


def _decoded(response: http.Response) -> Any:
    return decode(response.status, response.headers.get("content-type", ""), response.read())


def decode(status: int, content_type: str, payload: bytes) -> Any:
    """What was answered; a problem is raised as the error that it stands for."""
    is_json = "json" in content_type
    try:
        value = json.loads(payload) if is_json and payload else payload.decode("utf-8", "replace") or None
    except ValueError as error:
        raise UnavailableError(
            "The daemon's answer is not JSON.", hint="Check that MANYHANDS_URL is a Manyhands daemon."
        ) from error
    if status < 400:
        return value
    raise _problem(status, value if isinstance(value, dict) else {"detail": value})


def _problem(status: int, problem: Json) -> ManyhandsError:
    kinds = {kind.code: kind for kind in _kinds(ManyhandsError)}
    kind = kinds.get(str(problem.get("code"))) or next(
        (kind for kind in kinds.values() if kind.status == status), ManyhandsError
    )
    message = str(problem.get("detail") or problem.get("title") or f"The daemon answered {status}.")
    known = {"type", "title", "status", "detail", "code", "hint", "instance"}
    hint = problem.get("hint")
    if status == 401 and not hint:
        hint = "Set MANYHANDS_TOKEN, or give the daemon's home with --home."
    return kind(message, hint=hint, data={key: problem[key] for key in problem.keys() - known})


def _kinds(kind: type[ManyhandsError]) -> Iterator[type[ManyhandsError]]:
    """Those that have a code of their own: a domain's finer kinds are not rebuilt here."""
    if "code" in vars(kind):
        yield kind
    for child in kind.__subclasses__():
        yield from _kinds(child)


def pages(
    api: Api,
    path: str,
    *,
    limit: int | None = None,
    query: Mapping[str, Any] | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> list[Json]:
    """The items of a list, page after page, up to `limit` of them."""
    items: list[Json] = []
    cursor = None
    while True:
        wanted = 500 if limit is None else min(500, limit - len(items))
        asked = {**(query or {}), "limit": wanted, "cursor": cursor}
        page = api.request("GET", path, query=asked, timeout=timeout)
        items += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None or (limit is not None and len(items) >= limit):
            return items
