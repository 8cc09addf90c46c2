"""Messages from a client's stdio to the daemon's MCP server and back, in both eras of the protocol.

`initialize`, `server/discover` and `ping` are answered here, at once. Older clients get a session of the
daemon, which is opened anew after a restart; requests of newer ones stand for themselves.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable

from manyhands.bridge import words
from manyhands.bridge.http import LostError, Response, events
from manyhands.bridge.journal import Journal
from manyhands.bridge.session import ACCEPT, Session
from manyhands.bridge.upstream import Flight, RefusedError, Upstream, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS_CHANGED = "notifications/tools/list_changed"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
UNREADABLE, BAD_REQUEST, UNKNOWN_METHOD, FAILED, UNSUPPORTED_VERSION = -32700, -32600, -32601, -32000, -32022
INTERRUPTED = (
    "The hub ended or restarted while this was under way, so it may or may not have been done. "
    "Look before you try it again."
)
LISTEN_PAUSE_S = 0.3
MOST_AT_ONCE = 1000


class Relay:
    """Takes a client's messages one by one; answers come when they come."""

    def __init__(
        self,
        upstream: Upstream,
        write: Callable[[bytes], None],
        journal: Journal,
        version: str,
        *,
        agent: bool = False,
    ) -> None:
        self._upstream = upstream
        self._write = write
        self._journal = journal
        self._version = version
        self._agent = agent
        self._session: Session | None = None
        self._flights: dict[tuple[type, Any], Flight] = {}
        self._changed = threading.Condition()
        self.is_ready = threading.Event()
        """Set once the client may be sent notifications."""

    # --- from the client

    def take(self, line: bytes) -> None:
        """One line of the client."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._fail(None, "This line is no JSON.", UNREADABLE)
            return
        for one in message if isinstance(message, list) else [message]:
            self._dispatch(one, line if one is message else json.dumps(one).encode())

    def _dispatch(self, message: Any, raw: bytes) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            self._fail(None, "This is no message of JSON-RPC.", BAD_REQUEST)
        elif "method" not in message:
            self._in_session(raw)
        elif "id" not in message:
            self._notified(message, raw)
        elif not isinstance(message["id"], str | int) or isinstance(message["id"], bool):
            self._fail(None, "The id of a request is a text or a whole number.", BAD_REQUEST)
        else:
            self._asked(message, raw)

    def _asked(self, message: Json, raw: bytes) -> None:
        method, params = message["method"], _params(message)
        if method == "initialize":
            self._initialize(message["id"], params)
        elif method == "server/discover":
            self._discover(message["id"], params)
        elif method == "ping":
            self._answer(message["id"], {})
        elif len(self._flights) >= MOST_AT_ONCE:
            self._fail(message, f"{MOST_AT_ONCE} requests are under way already; wait for some to end.")
        else:
            flight = self._flights[_key(message["id"])] = Flight()
            _start(self._forward, message, raw, flight)

    def _initialize(self, request_id: str | int, params: Json) -> None:
        answer = words.initialize_result(params.get("protocolVersion"), self._version, agent=self._agent)
        self._session = Session(
            self._upstream,
            params,
            answer["protocolVersion"],
            self._deliver,
            lambda: self.notify(TOOLS_CHANGED),
            self._journal,
        )
        self._answer(request_id, answer)
        _start(self._open_ahead, self._session)

    def _open_ahead(self, session: Session) -> None:
        try:
            session.ensure()
        except (LostError, RefusedError) as error:  # the first request tries again and says so
            self._journal.write(f"no session yet: {error}")

    def _discover(self, request_id: str | int, params: Json) -> None:
        if self._agent and words.hears_after_handshake(params.get("_meta")):
            self._refuse(request_id, UNKNOWN_METHOD, "Begin with initialize: an agent's messages come then.")
            return
        wanted = _modern_version(params)
        self.is_ready.set()
        if wanted is not None and wanted not in words.MODERN_VERSIONS:
            data = {"supported": list(words.MODERN_VERSIONS), "requested": wanted}
            self._refuse(request_id, UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
            return
        self._answer(request_id, words.discover_result(self._version, agent=self._agent))

    def _notified(self, message: Json, raw: bytes) -> None:
        method = message["method"]
        if method == "notifications/initialized":
            self.is_ready.set()
        elif method == "notifications/cancelled":
            self._cancel(_params(message).get("requestId"), raw)
        else:
            self._in_session(raw)

    def _cancel(self, request_id: Any, raw: bytes) -> None:
        """Tell the daemon in its way: closing the request is how newer revisions do it."""
        flight = self._flights.pop(_key(request_id), None)
        if flight is None:
            return
        if self._session is None:
            flight.cancel()
            return
        flight.is_cancelled = True
        self._in_session(raw, flight.cancel)

    def _in_session(self, raw: bytes, then: Callable[[], None] | None = None) -> None:
        """Hand on what is owed no answer; newer clients have no such things but cancellation."""
        session = self._session
        if session is None:
            return

        def post() -> None:
            try:
                session.post(raw, session.ensure())
            except (LostError, RefusedError) as error:
                self._journal.write(f"a notification was lost: {error}")
            if then is not None:
                then()

        _start(post)

    # --- to the daemon

    def _forward(self, message: Json, raw: bytes, flight: Flight) -> None:
        try:
            if message["method"] == LISTEN:
                self._keep_listening(message, raw, flight)
            elif _modern_version(_params(message)) is not None:
                self.is_ready.set()
                self._exchange(message, _modern_headers(message), raw, flight)
            else:
                self._exchange_in_session(message, raw, flight)
        except LostError as error:
            self._journal.write(f"{message['method']} was cut: {error}")
            self._end(message, flight, INTERRUPTED)
        except RefusedError as error:
            self._end(message, flight, str(error))
        except Exception as error:  # noqa: BLE001 - border: a request must not end without an answer
            self._journal.write(f"{message['method']} failed: {error!r}")
            self._end(message, flight, f"The bridge failed: {error!r}. Try again.")
        finally:
            self._land(message["id"], flight)

    def _exchange_in_session(self, message: Json, raw: bytes, flight: Flight) -> None:
        session = self._session
        if session is None:
            raise RefusedError("Send `initialize` first.")
        session_id = session.ensure()
        if not self._exchange(message, session.headers(session_id), raw, flight):
            session_id = session.ensure(stale=session_id)
            self._exchange(message, session.headers(session_id), raw, flight)

    def _exchange(self, message: Json, headers: dict[str, str], raw: bytes, flight: Flight) -> bool:
        """One request and all that comes for it; not when the daemon does not know the session."""
        connection, response = self._upstream.send("POST", "/mcp", headers, raw.strip(), flight)
        try:
            if response.status == 404 and "Mcp-Session-Id" in headers:
                response.read()
            else:
                self._hand_on_all(response, message, flight)
        except BaseException:
            connection.close()
            raise
        self._upstream.done(connection, response)
        return not (response.status == 404 and "Mcp-Session-Id" in headers)

    def _hand_on_all(self, response: Response, message: Json, flight: Flight) -> None:
        if response.kind != "text/event-stream":
            self._hand_on_whole(response.status, response.read(), message, flight)
            return
        answered = False
        for data in events(response.pieces()):
            answered = self._hand_on(data, message["id"], flight) or answered
        if not answered:
            raise LostError("the stream ended without an answer")

    def _hand_on(self, data: bytes, request_id: Any, flight: Flight) -> bool:
        """One message of a stream; whether it was the answer."""
        if not data:
            return False
        message = json.loads(data)
        is_answer = "method" not in message and message.get("id") == request_id
        if not flight.is_cancelled:
            self._deliver(data)
        return is_answer

    def _hand_on_whole(self, status: int, text: bytes, message: Json, flight: Flight) -> None:
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "jsonrpc" not in answer:
            raise RefusedError(explain(status, text))
        if answer.get("id") != message["id"]:
            answer["id"], text = message["id"], b""
        if not flight.is_cancelled:
            self._deliver(text or json.dumps(answer).encode())

    def _keep_listening(self, message: Json, raw: bytes, flight: Flight) -> None:
        """A subscription outlives the daemon: it is made anew, and the client told to look again."""
        headers = _modern_headers(message)
        rounds = 0
        while not flight.is_cancelled and not self._upstream.is_closing:
            try:
                connection, response = self._upstream.send("POST", "/mcp", headers, raw.strip(), flight)
                if response.kind != "text/event-stream":
                    self._hand_on_whole(response.status, response.read(), message, flight)
                    return
                self._follow(response, message, again=rounds > 0)
                connection.close()
            except (LostError, RefusedError) as error:
                if not rounds and not flight.was_sent:
                    raise
                self._journal.write(f"the subscription was cut: {error}")
            rounds += 1
            time.sleep(LISTEN_PAUSE_S)

    def _follow(self, response: Response, message: Json, *, again: bool) -> None:
        """One stream of a subscription. A daemon that stops ends it with a result; the next goes on."""
        for data in events(response.pieces()):
            told = json.loads(data)
            if again and told.get("method") == ACKNOWLEDGED:
                self.notify(TOOLS_CHANGED, {"_meta": {SUBSCRIPTION_KEY: message["id"]}})
            elif "method" in told:
                self._deliver(data)

    # --- to the client

    def notify(self, method: str, params: Json | None = None) -> None:
        """Tell the client something."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        self._say(message if params is None else message | {"params": params})

    def _deliver(self, data: bytes) -> None:
        """A message as it came, on one line."""
        self._write(data if b"\n" not in data else json.dumps(json.loads(data)).encode())

    def _answer(self, request_id: str | int, result: Json) -> None:
        self._say({"jsonrpc": "2.0", "id": request_id, "result": result})

    def _end(self, message: Json, flight: Flight, text: str) -> None:
        if not flight.is_cancelled:
            self._fail(message, text)

    def _fail(self, message: Json | None, text: str, code: int = FAILED) -> None:
        """An error; of a tool's call it is a result, so that the model reads it."""
        request_id = None if message is None else message["id"]
        if message is not None and message["method"] == "tools/call":
            content = [{"type": "text", "text": text}]
            self._answer(message["id"], {"content": content, "isError": True, "resultType": "complete"})
        else:
            self._refuse(request_id, code, text)

    def _refuse(self, request_id: str | int | None, code: int, text: str, **more: Any) -> None:
        self._say({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text, **more}})

    def _say(self, message: Json) -> None:
        self._write(json.dumps(message, separators=(",", ":")).encode())

    # --- the end

    def _land(self, request_id: Any, flight: Flight) -> None:
        with self._changed:
            if self._flights.get(_key(request_id)) is flight:
                del self._flights[_key(request_id)]
            self._changed.notify_all()

    def drain(self, seconds: float) -> None:
        """Wait a little for what is under way, so that a client that has said all gets its answers."""
        end = time.monotonic() + seconds
        with self._changed:
            while self._flights and (left := end - time.monotonic()) > 0:
                self._changed.wait(left)

    def close(self) -> None:
        """Drop what is under way and let go of the session."""
        for flight in list(self._flights.values()):
            flight.cancel()
        if self._session is not None:
            with contextlib.suppress(LostError, RefusedError, OSError):
                self._session.close()


def _start(work: Callable[..., None], *arguments: Any) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _key(request_id: Any) -> tuple[type, Any]:
    return (type(request_id), request_id) if isinstance(request_id, str | int) else (type(None), None)


def _params(message: Json) -> Json:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _modern_version(params: Json) -> str | None:
    """The revision in a newer request's envelope; older requests have none."""
    meta = params.get("_meta")
    version = meta.get(words.VERSION_KEY) if isinstance(meta, dict) else None
    return None if version is None else str(version)


def _modern_headers(message: Json) -> dict[str, str]:
    """The standard headers of the newer revisions: what the body says, for whoever routes it."""
    method, params = message["method"], _params(message)
    headers = {
        "Accept": ACCEPT,
        "MCP-Protocol-Version": _modern_version(params) or words.MODERN_VERSIONS[-1],
        "Mcp-Method": _header_value(method),
    }
    name = params.get(NAMED.get(method, ""))
    return headers if not isinstance(name, str) else headers | {"Mcp-Name": _header_value(name)}


def _header_value(text: str) -> str:
    is_plain = text.isascii() and text.isprintable() and text == text.strip()
    if is_plain and not text.startswith("=?base64?"):
        return text
    import base64

    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="
