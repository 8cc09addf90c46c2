"""All connections of the hub: one per server and root, made when they are needed, closed when they are not.

The connection without a root belongs to everyone: it fills the catalogue and takes the calls. A server that
asks for roots gets one more per directory, so that no project sees the path of another. The SDK is imported
with the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from manyhands.clock import Clock, SystemClock
from manyhands.imports import import_aside
from manyhands.servers.endpoints import ClientFeatures, ConnectionHooks, ConnectionKey, Limits, Target
from manyhands.servers.turns import Turns
from manyhands.servers.types import Server

if TYPE_CHECKING:
    from manyhands.servers.connection import Connection

log = logging.getLogger(__name__)

IDLE_S = 600.0
_SWEEP_S = 60.0
_STOP_S = 20.0


class Pool:
    """Makes, finds and ends connections. Their owner tasks run in the task group that is handed in."""

    def __init__(
        self,
        tasks: anyio.abc.TaskGroup,
        target: Callable[[Server], Target],
        *,
        features: ClientFeatures | None = None,
        hooks: ConnectionHooks | None = None,
        clock: Clock | None = None,
        limits: Limits | None = None,
        parallel: int = 8,
        random: Random | None = None,
    ) -> None:
        self._tasks = tasks
        self._target = target
        self._features = features or ClientFeatures()
        self._hooks = hooks or ConnectionHooks()
        self._clock = clock or SystemClock()
        self._limits = limits or Limits()
        self._turns = Turns(parallel, self._limits.slot_s)
        self._random = random or Random()
        self._connections: dict[ConnectionKey, Connection] = {}
        self._closing: dict[ConnectionKey, Connection] = {}
        self._used: dict[ConnectionKey, float] = {}

    def adjust(self, *, parallel: int, attempts: int) -> None:
        """Other bounds from now on, for the connections that there are as well."""
        self._turns.resize(parallel)
        backoff = replace(self._limits.backoff, attempts=attempts)
        self._limits = replace(self._limits, backoff=backoff)
        for connection in self._connections.values():
            connection.adjust(self._limits)

    # Finding and making.

    def get(self, server_id: int, root: str | None = None) -> Connection | None:
        """The connection if there is one, in whatever state."""
        return self._connections.get(ConnectionKey(server_id, root))

    def all(self) -> list[Connection]:
        """Every connection there is."""
        return list(self._connections.values())

    async def open(self, server: Server, root: str | None = None) -> Connection:
        """The connection, begun if it was not there; it may still be connecting, or fail to."""
        key = ConnectionKey(server.id, root)
        if (closing := self._closing.get(key)) is not None:
            with anyio.move_on_after(_STOP_S):
                await closing.stopped()
        if key not in self._connections:
            # In a thread: it takes a second, and others go on meanwhile.
            module = await import_aside(f"{__package__}.connection")
            if key not in self._connections:
                self._begin(key, module.Connection, server)
        self._used[key] = self._clock.monotonic()
        return self._connections[key]

    async def ensure(self, server: Server, root: str | None = None) -> Connection:
        """The connection, connected. Raises why not, after at most the server's connect timeout."""
        connection = await self.open(server, root)
        await connection.connected(server.config.connect_timeout / 1000)
        return connection

    async def for_call(
        self, server: Server, directory: str | None, *, wants_roots: bool = False
    ) -> Connection:
        """The connection for a call from a directory. `wants_roots`: the server is known to ask for roots."""
        if directory is not None and wants_roots:
            return await self.ensure(server, directory)
        shared = await self.ensure(server)
        if directory is not None and shared.wants_roots:
            return await self.ensure(server, directory)
        return shared

    def at_hand(
        self, server_id: int, directory: str | None, *, wants_roots: bool = False
    ) -> Connection | None:
        """What `for_call` would give, if that need not wait."""
        shared = self._connections.get(key := ConnectionKey(server_id))
        if directory is not None and (wants_roots or (shared is not None and shared.wants_roots)):
            shared = self._connections.get(key := ConnectionKey(server_id, directory))
        if shared is None or not shared.is_up:
            return None
        if key.root is not None:
            self._used[key] = self._clock.monotonic()
        return shared

    def _begin(self, key: ConnectionKey, make: type[Connection], server: Server) -> None:
        connection = make(
            key,
            self._target(server),
            self._features,
            self._hooks,
            self._clock,
            self._limits,
            turn=self._turns.take,
            random=self._random,
        )
        self._connections[key] = connection
        self._tasks.start_soon(
            connection.run, name=f"connection to {server.config.name} ({key.root or 'all'})"
        )

    # Ending.

    async def drop(self, server_id: int) -> None:
        """End every connection of a server and wait until nothing of them is left."""
        await self._end([key for key in self._connections if key.server_id == server_id])

    async def stop_all(self) -> None:
        """End all connections, side by side."""
        await self._end(list(self._connections))

    async def sweep(self) -> None:
        """End connections of single directories that nobody has used for a while."""
        now = self._clock.monotonic()
        idle = []
        for key, connection in self._connections.items():
            if key.root is None:
                continue
            if connection.in_use:
                self._used[key] = now
            elif now - self._used[key] >= IDLE_S:
                idle.append(key)
        await self._end(idle)

    async def run(self) -> None:
        """Sweep now and then, for ever."""
        while True:
            await self._clock.sleep(_SWEEP_S)
            await self.sweep()

    async def _end(self, keys: Iterable[ConnectionKey]) -> None:
        ending = {key: self._connections.pop(key) for key in keys}
        for key, connection in ending.items():
            self._used.pop(key, None)
            self._closing[key] = connection
            connection.stop()
        with anyio.move_on_after(_STOP_S) as scope:
            for key, connection in ending.items():
                await connection.stopped()
                if self._closing.get(key) is connection:
                    del self._closing[key]
        if scope.cancelled_caught:
            log.error("Connections did not end within %s s: %s", _STOP_S, ", ".join(map(str, self._closing)))

    # Directories that move.

    async def move_root(self, old: str, new: str | None) -> None:
        """A directory has another path now: tell the servers that know it, or end what has no path."""
        moving = [key for key in self._connections if key.root == old]
        if new is None:
            await self._end(moving)
            return
        for key in moving:
            to = ConnectionKey(key.server_id, new)
            if to in self._connections:
                await self._end([key])
                continue
            self._connections[to] = self._connections.pop(key)
            self._used[to] = self._used.pop(key, self._clock.monotonic())
            await self._connections[to].roots_changed(new)
