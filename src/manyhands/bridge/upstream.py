"""The daemon as the bridge sees it: found, spoken to under a limited token, found again after a restart.

Owns the token and the connections. What the messages mean is the business of `relay.py`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping

from manyhands.bridge.http import Address, Connection, LostError, Pool, Response, UnreachableError
from manyhands.bridge.journal import Journal
from manyhands.bridge.options import TOKEN_MARK, Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIRST_WAIT_S = 5.0
RETURN_WAIT_S = 20.0
"""How long a request waits for a daemon that is not there: one never seen, one that was there before."""
LEAST_WAIT_S = 0.5
PAUSE_S = 0.1
BUSY = 503
TOKEN_TTL_S = 7 * 86_400
GOODBYE_S = 3.0


class RefusedError(Exception):
    """The daemon says no; the message says why and what to do."""


class Flight:
    """A request under way, which another thread may end."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.is_cancelled = False
        self.was_sent = False

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.connection is not None:
            self.connection.close()


class Upstream:
    """The way to the daemon."""

    def __init__(self, options: Options, journal: Journal) -> None:
        self._options = options
        self._journal = journal
        self._pool = Pool()
        self._lock = threading.Lock()
        self._token = ""
        self._token_id: str | None = None
        self.channel_id = options.channel_id
        self._streams: set[Flight] = set()
        self.was_there = False
        self._gone_since: float | None = None
        self._latest = float("inf")
        self.is_closing = False

    # --- requests

    def send(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        flight: Flight | None = None,
    ) -> tuple[Connection, Response]:
        """Send one request under the limited token; waits for a daemon that is restarting."""
        flight = flight or Flight()
        token = self.token(flight)
        connection, response = self._try_until_there(method, target, headers, body, flight, token)
        if response.status != 401:
            return connection, response
        response.read()
        self._pool.give(connection, response)
        self._forget(token)
        return self._try_until_there(method, target, headers, body, flight, self.token(flight))

    def _try_until_there(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | None,
        body: Any,
        flight: Flight,
        token: str,
    ) -> tuple[Connection, Response]:
        end = self._patience()
        while True:
            give_up = time.monotonic() >= min(end, self._latest) or flight.is_cancelled or self.is_closing
            try:
                connection, response = self._once(method, target, headers, body, flight, token)
                if response.status != BUSY or give_up:
                    return connection, response
                response.read()  # it starts or ends, and has not touched the request
                self._pool.give(connection, response)
            except UnreachableError as error:
                self._gone_since = self._gone_since or time.monotonic()
                if give_up:
                    raise self._unreachable(error) from error
            time.sleep(PAUSE_S)

    def wait_at_most(self, seconds: float) -> None:
        """For a daemon that is not there, whatever waits or will wait for it."""
        self._latest = time.monotonic() + seconds

    def _patience(self) -> float:
        """Until when to try: a daemon that has been gone for long is not waited for again and again."""
        now = time.monotonic()
        wait = RETURN_WAIT_S if self.was_there else FIRST_WAIT_S
        return max(now + LEAST_WAIT_S, (self._gone_since or now) + wait)

    def _once(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | None,
        body: Any,
        flight: Flight,
        token: str,
    ) -> tuple[Connection, Response]:
        connection = self._pool.take(Address(self._options.url()))
        flight.connection = connection
        if flight.is_cancelled:
            connection.close()
            raise LostError("cancelled")
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        payload = body
        if body is not None and not isinstance(body, bytes):
            payload = json.dumps(body).encode()
        if payload is not None:
            sent.setdefault("Content-Type", "application/json")
        flight.was_sent = True
        try:
            response = connection.request(method, target, sent, payload)
        except LostError:
            connection.close()
            raise
        self.was_there, self._gone_since = True, None
        return connection, response

    def stream(self, target: str, headers: Mapping[str, str], flight: Flight) -> tuple[Connection, Response]:
        """Something that stays open until somebody ends it; `flight` is ended with the bridge."""
        self._streams.add(flight)
        return self.send("GET", target, headers, flight=flight)

    def streamed(self, flight: Flight) -> None:
        """It is over."""
        self._streams.discard(flight)
        flight.cancel()

    def done(self, connection: Connection, response: Response) -> None:
        """The answer has been read to its end."""
        self._pool.give(connection, response)

    def _unreachable(self, error: UnreachableError) -> RefusedError:
        return RefusedError(
            f"The hub at {self._options.url()} cannot be reached ({error}). "
            "Start it with `manyhands up`, then try again."
        )

    # --- the token

    def token(self, flight: Flight | None = None) -> str:
        """The limited token; the owner's is exchanged for one before anything is forwarded."""
        with self._lock:
            if not self._token:
                given = self._options.token()
                if given.startswith(TOKEN_MARK):
                    self._token = given
                else:
                    self._exchange(given, flight or Flight())
            return self._token

    def _exchange(self, owner: str, flight: Flight) -> None:
        wish = {**self._options.wish(), "ttl_s": TOKEN_TTL_S}
        connection, response = self._try_until_there("POST", "/api/tokens", None, wish, flight, owner)
        text = response.read()
        self._pool.give(connection, response)
        if response.status != 201:
            raise RefusedError(explain(response.status, text))
        issued = json.loads(text)
        self._token, self._token_id = issued["token"], issued["id"]
        self.channel_id = issued["channel_id"]
        self._journal.write(f"speaks for the channel {self.channel_id}")

    def _forget(self, token: str) -> None:
        """It is not taken any more; the next one is asked for anew."""
        with self._lock:
            if token != self._token:
                return
            if self._options.token().startswith(TOKEN_MARK):
                raise RefusedError(
                    "The hub does not take this agent's token any more. Its run may be over; start it anew."
                )
            self._token, self._token_id = "", None

    # --- the end

    def say_goodbye(self, agent_id: str | None) -> None:
        """Take the agent off the registry and the token back, as far as the daemon is there."""
        self.is_closing = True
        for flight in list(self._streams):
            flight.cancel()
        if agent_id is not None and self._token and self.channel_id:
            self._quietly(
                "DELETE", f"/api/agents/{quote(agent_id)}?channel_id={self.channel_id}", self._token
            )
        if self._token_id is not None:
            self._quietly("DELETE", f"/api/tokens/{self._token_id}", self._options.token())
        self._pool.close()

    def _quietly(self, method: str, target: str, token: str) -> None:
        flight = Flight()
        timer = threading.Timer(GOODBYE_S, flight.cancel)
        timer.daemon = True
        timer.start()
        try:
            connection, response = self._once(method, target, None, None, flight, token)
            response.read()
            self._pool.give(connection, response)
            self._journal.write(f"{method} {target.partition('?')[0]}: {response.status}")
        except (OSError, ValueError) as error:
            self._journal.write(f"{method} {target.partition('?')[0]}: {error}")
        finally:
            timer.cancel()


def explain(status: int, text: bytes) -> str:
    """What a problem of the daemon says."""
    try:
        problem = json.loads(text)
        said = [problem.get("detail") or problem.get("title"), problem.get("hint")]
    except (ValueError, AttributeError):
        said = []
    words = " ".join(str(one) for one in said if one)
    if status == 401:
        return (
            f"The hub does not know the token ({words or 'unauthorized'}). Check MANYHANDS_TOKEN and --home."
        )
    return words or f"The hub answered with the status {status}."


def quote(text: str) -> str:
    """Safe within a path or a query."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in text.encode())
