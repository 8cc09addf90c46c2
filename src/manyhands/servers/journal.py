"""What the log says of servers: one line for each change worth knowing, none for what goes on between.

A server that is tried again and again is told of once, and once more when it is given up or comes back. What
happens in between can be seen in its state and its events.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from manyhands.servers.types import Catalogue, ConnectionState, Server, ServerStatus

log = logging.getLogger(__name__)

_NUMBERS = re.compile(r"[\d.]+")


class Journal:
    """Remembers what was said last of each server."""

    def __init__(self) -> None:
        self._said: dict[int, str] = {}

    def note_state(
        self, server: Server, before: ConnectionState, now: ConnectionState, found: Catalogue
    ) -> None:
        """Say how a server stands now, if that is news."""
        level, text = _story(server, before, now, found)
        news = f"{now.status} {_NUMBERS.sub('', text)}"
        if now.status is ServerStatus.CONNECTING or self._said.get(server.id) == news:
            level = logging.DEBUG
        else:
            self._said[server.id] = news
        log.log(level, "Server %s: %s", server.config.name, text)

    def note_lists(self, server: Server, found: Catalogue) -> None:
        """Say what a server that is connected offers now."""
        log.info("Server %s offers now: %s", server.config.name, summary(found))
        self.note_repairs(server, found)

    def note_repairs(self, server: Server, found: Catalogue) -> None:
        for repair in found.repairs:
            log.debug("Server %s, %s: %s; %s", server.config.name, repair.item, repair.problem, repair.action)

    def forget(self, server_id: int) -> None:
        self._said.pop(server_id, None)


def _story(
    server: Server, before: ConnectionState, now: ConnectionState, found: Catalogue
) -> tuple[int, str]:
    match now.status:
        case ServerStatus.CONNECTED:
            problem = f"; {now.error}" if now.error else ""
            return logging.WARNING if problem else logging.INFO, f"connected: {summary(found)}{problem}"
        case ServerStatus.ERROR if _is_given_up(before, now):
            further = (
                "it stays down until somebody wants it"
                if server.config.transport == "stdio"
                else "it is tried now and then"
            )
            return logging.WARNING, f"{now.attempts_max} more attempts have failed; {further}"
        case ServerStatus.ERROR:
            return logging.WARNING, f"failed: {now.error or 'no reason given'}"
        case ServerStatus.NEEDS_AUTH:
            return logging.WARNING, f"wants a sign-in: {now.error or ''}"
        case _:
            return logging.INFO, now.status.value


def _is_given_up(before: ConnectionState, now: ConnectionState) -> bool:
    """The last attempt that is made unasked was on its way and has failed too."""
    was_last = before.status is ServerStatus.CONNECTING and before.attempt == now.attempts_max
    return was_last and now.attempts_max > 0 and now.attempt == now.attempts_max


def summary(catalogue: Catalogue) -> str:
    """What was found, counted."""
    counts: Mapping[str, int] = {
        "tools": len(catalogue.tools),
        "prompts": len(catalogue.prompts),
        "resources": len(catalogue.resources),
        "skills": len(catalogue.skills),
        "repairs": len(catalogue.repairs),
    }
    found = ", ".join(f"{n} {name if n > 1 else name[:-1]}" for name, n in counts.items() if n) or "nothing"
    return f"{found} (version {catalogue.version}, protocol {catalogue.protocol})"
