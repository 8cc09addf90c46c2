"""What servers write to stderr, told to everyone while they write it: whole lines, a few times a second.

Secrets are taken out of whole lines, so that none slips through in two halves. The end of it all is kept by
the transports (`transports.tails`); what is told here is not kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from manyhands.events import EventBus
from manyhands.secrets import Redactor

PAUSE_S = 0.2
LONGEST_LINE = 16_384
MOST_AT_ONCE = 64_000


class ErrorOutputs:
    """Listens to every server that has a process."""

    def __init__(self, bus: EventBus, redactor: Redactor) -> None:
        self._bus = bus
        self._redactor = redactor
        self._untold: dict[int, str] = {}
        self._planned: set[int] = set()

    def listener(self, server_id: int) -> Callable[[str], None]:
        """What to call with every piece that a run of this server writes."""
        self._untold.pop(server_id, None)

        def hear(text: str) -> None:
            self._untold[server_id] = self._untold.get(server_id, "") + text
            if server_id not in self._planned:
                self._planned.add(server_id)
                # It is called by the pipe itself, outside every task, where none can be started.
                asyncio.get_running_loop().call_later(PAUSE_S, self._tell, server_id)

        return hear

    def _tell(self, server_id: int) -> None:
        self._planned.discard(server_id)
        told, rest = cut(self._untold.pop(server_id, ""))
        if rest:
            self._untold[server_id] = rest
        if told:
            text = self._redactor.redact(told)[-MOST_AT_ONCE:]
            self._bus.publish("mcp.stderr", {"server_id": server_id, "text": text})


def cut(text: str) -> tuple[str, str]:
    """What can be told, and the line that is not whole yet; one that never ends is cut at a space."""
    end = text.rfind("\n") + 1
    if len(text) - end > LONGEST_LINE:
        end = max(end, text.rfind(" ") + 1) or len(text)
    return text[:end], text[end:]
