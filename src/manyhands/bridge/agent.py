"""The line on which an agent's messages come: kept open, which keeps the agent registered.

Every message is pushed to the client once and acknowledged; one that comes again is acknowledged again.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict

from manyhands.bridge import words
from manyhands.bridge.http import LostError
from manyhands.bridge.journal import Journal
from manyhands.bridge.relay import Relay
from manyhands.bridge.upstream import Flight, RefusedError, Upstream, explain, quote
from manyhands.bridge.websocket import WebSocket, handshake_headers

PAUSES_S = (0.1, 0.3, 1.0, 2.0, 5.0)
READY_LOOK_S = 1.0
REMEMBERED = 10_000


class AgentLine:
    """One agent's WebSocket."""

    def __init__(self, agent_id: str, upstream: Upstream, relay: Relay, journal: Journal) -> None:
        self._agent_id = agent_id
        self._upstream = upstream
        self._relay = relay
        self._journal = journal
        self._seen: OrderedDict[str, None] = OrderedDict()

    def run(self) -> None:
        """Keep it open for as long as the bridge lives."""
        failures = 0
        while not self._upstream.is_closing:
            try:
                self._follow()
                failures = 0
            except (LostError, RefusedError, OSError, ValueError) as error:
                self._journal.write(f"the agent's line: {error}")
                failures += 1
            time.sleep(PAUSES_S[min(failures, len(PAUSES_S) - 1)])

    def _follow(self) -> None:
        self._upstream.token()
        target = (
            f"/api/ws/agent-channel?agent_id={quote(self._agent_id)}&channel_id={self._upstream.channel_id}"
        )
        flight = Flight()
        try:
            connection, response = self._upstream.stream(target, handshake_headers(), flight)
            if response.status != 101:
                raise RefusedError(explain(response.status, response.read()))
            self._journal.write(f"registered as {self._agent_id}")
            line = WebSocket(*connection.leave_http())
            while (text := line.receive()) is not None:
                self._push(line, json.loads(text))
        finally:
            self._upstream.streamed(flight)

    def _push(self, line: WebSocket, frame: dict[str, object]) -> None:
        message_id = frame.get("id")
        if not isinstance(message_id, str) or "content" not in frame:
            return
        while not self._relay.is_ready.wait(READY_LOOK_S):
            if self._upstream.is_closing:
                return
        if message_id not in self._seen:
            meta = {"from_agent": frame.get("from_agent")}
            self._relay.notify(words.CHANNEL_NOTIFICATION, {"content": frame["content"], "meta": meta})
            self._seen[message_id] = None
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        line.send(json.dumps({"ack": message_id}))
