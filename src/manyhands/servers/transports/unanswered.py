"""Which requests of a server wait for our answer, and how many may.

The SDK works on each in a task of its own, and an answer waits until the server reads: without a bound a
server that asks and never reads would fill the memory.
"""

from __future__ import annotations

import logging

from mcp.shared.dispatcher import coerce_request_id
from mcp.types import JSONRPCRequest, RequestId

log = logging.getLogger(__name__)

_MOST = 1_000
_MOST_CHARACTERS = 64 * 1024 * 1024


class UnansweredRequests:
    """Those of one connection. `of` names the server in the log."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._sizes: dict[RequestId, int] = {}
        self._size = 0
        self._answered: set[RequestId] = set()
        self._told = False

    def admit(self, request: JSONRPCRequest) -> bool:
        """Whether a request may be worked on: there is room, and no other with its id waits."""
        key = coerce_request_id(request.id)
        if key in self._sizes:
            return False
        if len(self._sizes) >= _MOST or self._size > _MOST_CHARACTERS:
            self._tell()
            return False
        self._sizes[key] = len(str(request.params))
        self._size += self._sizes[key]
        return True

    def begin_answer(self, request_id: RequestId) -> None:
        """From now on it waits until its answer is written; to cancel it changes nothing any more."""
        self._answered.add(coerce_request_id(request_id))

    def end_answer(self, request_id: RequestId) -> None:
        key = coerce_request_id(request_id)
        self._answered.discard(key)
        self._forget(key)

    def cancel(self, request_id: RequestId) -> None:
        """The server does not want an answer any more."""
        key = coerce_request_id(request_id)
        if key not in self._answered:
            self._forget(key)

    def _forget(self, key: RequestId) -> None:
        self._size -= self._sizes.pop(key, 0)

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            log.warning("%s has too many requests that wait for an answer; more are dropped", self._of)
