"""A session of the daemon's MCP server, for clients that began with `initialize`.

Opened with what the client said, kept with one stream for what the daemon says by itself, and opened anew
when the daemon does not know it any more.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable

from manyhands.bridge.http import LostError, Response, events
from manyhands.bridge.journal import Journal
from manyhands.bridge.upstream import Flight, RefusedError, Upstream, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ACCEPT = "application/json, text/event-stream"
STREAM_PAUSES_S = (0.1, 0.2, 0.5, 1.0, 2.0)


class Session:
    """One client's session, whatever it is called at the daemon just now."""

    def __init__(
        self,
        upstream: Upstream,
        params: dict[str, Any],
        version: str,
        deliver: Callable[[bytes], None],
        on_reopened: Callable[[], None],
        journal: Journal,
    ) -> None:
        self._upstream = upstream
        self._params = {**params, "protocolVersion": version}
        self._version = version
        self._deliver = deliver
        self._on_reopened = on_reopened
        self._journal = journal
        self._lock = threading.Lock()
        self._id: str | None = None
        self._opened = 0

    def headers(self, session_id: str | None) -> dict[str, str]:
        found = {"Accept": ACCEPT, "MCP-Protocol-Version": self._version}
        return found if session_id is None else found | {"Mcp-Session-Id": session_id}

    def ensure(self, stale: str | None = None) -> str:
        """The id of an open session; another one than `stale`."""
        with self._lock:
            if self._id is None or self._id == stale:
                self._id = self._open()
                self._opened += 1
                if self._opened == 1:
                    threading.Thread(target=self._follow, name="stream", daemon=True).start()
                else:
                    self._on_reopened()
            return self._id

    def _open(self) -> str:
        message = {"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": self._params}
        connection, response = self._upstream.send(
            "POST", "/mcp", {"Accept": ACCEPT}, json.dumps(message).encode()
        )
        answer = _answer(response)
        self._upstream.done(connection, response)
        session_id = response.headers.get("mcp-session-id")
        if session_id is None or "result" not in answer:
            said = (answer.get("error") or {}).get("message")
            raise RefusedError(said or explain(response.status, json.dumps(answer).encode()))
        self._journal.write("opened a session")
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session_id)
        return session_id

    def post(self, message: Any, session_id: str) -> None:
        """Something that is owed no answer."""
        connection, response = self._upstream.send("POST", "/mcp", self.headers(session_id), message)
        response.read()
        self._upstream.done(connection, response)

    def close(self) -> None:
        """Tell the daemon that nobody will come any more."""
        session_id = self._id
        if session_id is not None:
            connection, response = self._upstream.send("DELETE", "/mcp", self.headers(session_id))
            response.read()
            self._upstream.done(connection, response)

    def _follow(self) -> None:
        """Hand on what the daemon says by itself, for as long as the bridge lives."""
        failures = 0
        while not self._upstream.is_closing:
            try:
                if self._listen():
                    failures = 0
                    continue
            except (LostError, RefusedError) as error:
                self._journal.write(f"the stream ended: {error}")
            failures += 1
            time.sleep(STREAM_PAUSES_S[min(failures, len(STREAM_PAUSES_S)) - 1])

    def _listen(self) -> bool:
        """Follow one stream to its end; whether there was one."""
        session_id = self.ensure()
        headers = self.headers(session_id) | {"Accept": "text/event-stream"}
        flight = Flight()
        try:
            _, response = self._upstream.stream("/mcp", headers, flight)
            if response.status == 404:
                self.ensure(stale=session_id)
                return True
            if response.status != 200:
                return False
            for data in events(response.pieces()):
                self._deliver(data)
            return True
        finally:
            self._upstream.streamed(flight)


def _answer(response: Response) -> dict[str, Any]:
    """The one JSON-RPC message of an answer, in either form; a problem stays what it is."""
    if response.kind == "text/event-stream":
        found = [json.loads(data) for data in events(response.pieces()) if data]
        return dict(found[-1]) if found else {}
    try:
        return dict(json.loads(response.read() or b"{}"))
    except ValueError:
        return {}
