"""The owner task of a connection: it connects, holds the line, and connects again after a loss until stopped.

One task enters and leaves the SDK's client, because its scopes belong to the task that opened them. It is
stopped by an event and never by cancelling it: a cancellation from outside becomes that event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import anyio

from manyhands.clock import Clock
from manyhands.errors import NeedsAuthError, UnavailableError
from manyhands.servers.calls import current_call
from manyhands.servers.endpoints import Limits, Target
from manyhands.servers.failures import Failure, explain
from manyhands.servers.types import ConnectionState, ServerStatus
from manyhands.servers.watched import WatchedTransport

if TYPE_CHECKING:
    from mcp import Client

    from manyhands.servers.upkeep import Upkeep

log = logging.getLogger(__name__)

Turn = Callable[[], Awaitable[Callable[[], None]]]
"""Waits until it is this connection's turn to connect; what it gives back ends the turn."""


class Owner:
    """Holds the line to one server. `line` is there while it can be used."""

    def __init__(
        self,
        target: Target,
        *,
        clock: Clock,
        limits: Limits,
        random: Random,
        turn: Turn | None,
        on_state: Callable[[ConnectionState], None],
        make_client: Callable[[WatchedTransport], Client],
        make_line: Callable[[Client, WatchedTransport, float], Upkeep],
    ) -> None:
        self.state = ConnectionState(attempts_max=limits.backoff.attempts)
        self.line: Upkeep | None = None
        self._target = target
        self._clock = clock
        self.limits = limits
        self._random = random
        self._turn = turn
        self._on_state = on_state
        self._make_client = make_client
        self._make_line = make_line
        self._stopping = False
        self._ended = anyio.Event()
        self._settled = anyio.Event()
        self._wake = anyio.Event()
        self._was_up = False
        self._deadline: asyncio.Timeout | None = None
        self._transport: WatchedTransport | None = None
        self.serving: Upkeep | None = None
        self._turn_over: Callable[[], None] | None = None

    # What others may do.

    async def run(self) -> None:
        """Own the connection until `stop`; a cancellation stops it too and waits until all is closed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run_shielded)
            try:
                await self._ended.wait()
            finally:
                self.stop()
                with anyio.CancelScope(shield=True):
                    await self._ended.wait()

    def stop(self) -> None:
        """Close the connection for good. Returns at once; `stopped` waits for it."""
        if self._stopping:
            return
        self._stopping = True
        self.line = None
        self._wake.set()
        if self.serving is not None:
            self.serving.end()
        elif self._deadline is not None:
            # In the middle of a handshake there is nothing else that would wake it.
            with suppress(RuntimeError):
                self._deadline.reschedule(asyncio.get_running_loop().time())

    async def stopped(self) -> None:
        """Wait until nothing of it is left."""
        await self._ended.wait()

    async def connected(self, timeout_s: float) -> Upkeep:
        """The line, as soon as it can be used. Ends a pause between attempts; a sign-in is not tried anew."""
        if self.line is not None:
            return self.line
        if not self._stopping and self.state.status is not ServerStatus.NEEDS_AUTH:
            settled = self._settled
            self._wake.set()
            with anyio.move_on_after(timeout_s):
                await settled.wait()
        return self._line_or_refusal(timeout_s)

    def note_problem(self, problem: str | None) -> None:
        """What is wrong with a connection that is up."""
        if self.line is not None and self.state.error != problem:
            self._say(replace(self.state, error=problem))

    def _line_or_refusal(self, timeout_s: float) -> Upkeep:
        if self.line is None:
            raise self._refusal(timeout_s)
        return self.line

    def _refusal(self, timeout_s: float) -> UnavailableError:
        error = self.state.error or self._why_late()
        if self.state.status is ServerStatus.NEEDS_AUTH:
            return NeedsAuthError(error or "", data={"url": self.state.sign_in_url})
        if self._stopping:
            return UnavailableError(
                f"Server {self._target.name!r} has been disconnected.", hint="Connect it again."
            )
        late = f"Server {self._target.name!r} was not ready within {timeout_s:g} s."
        return UnavailableError(
            error or late, hint=None if error else "It goes on connecting; try again later."
        )

    def _why_late(self) -> str | None:
        """Why the attempt has failed whose process is still being ended, which takes seconds."""
        if self.serving is not None or self._deadline is None or not self._deadline.expired():
            return None
        return self._explain(None, timed_out=True).text

    def _explain(self, error: BaseException | None, *, was_up: bool = False, timed_out: bool) -> Failure:
        facts = self._transport.diagnostics() if self._transport else None
        return explain(self._target, error, facts, was_up=was_up, timed_out=timed_out)

    # The task.

    async def _run_shielded(self) -> None:
        current_call.set(None)  # the task may have been started in the middle of somebody's call
        try:
            with anyio.CancelScope(shield=True):
                await self._connect_again_and_again()
        finally:
            self._stopping = True
            self._say(ConnectionState(restarts=self.state.restarts), 0)
            self._settled.set()
            self._ended.set()

    async def _connect_again_and_again(self) -> None:
        attempt = 0
        while not self._stopping:
            self._say(self._connecting(), attempt)
            began = self._clock.monotonic()
            failure = await self._one_life(attempt)
            if failure is None:
                break
            if failure.kind != "stale":
                attempt = self.limits.backoff.counted(attempt, self._clock.monotonic() - began) + 1
                await self._rest(failure, attempt)
            if not self._stopping:
                self.state = replace(self.state, restarts=self.state.restarts + 1)

    def _connecting(self) -> ConnectionState:
        """With what ended it before, which is of interest until it is connected again."""
        return ConnectionState(
            ServerStatus.CONNECTING,
            error=self.state.error if self.state.status is ServerStatus.ERROR else None,
            exit_code=self.state.exit_code,
            stderr_tail=self.state.stderr_tail,
            restarts=self.state.restarts,
        )

    async def _one_life(self, attempt: int) -> Failure | None:
        """Connect and hold the line; how that ended, or nothing when it was stopped."""
        self._transport = None
        error: BaseException | None = None
        loop = asyncio.get_running_loop()
        deadline = asyncio.timeout(None)
        try:
            async with deadline:
                self._deadline = deadline
                await self._wait_for_turn()
                began = loop.time()
                if not self._stopping:  # else `stop` has just set it, to now
                    deadline.reschedule(began + self._target.connect_timeout_s)
                self._transport = transport = WatchedTransport(await self._target.open())
                async with self._make_client(transport) as client:
                    deadline.reschedule(None)
                    seconds = self._target.connect_timeout_s - (loop.time() - began)
                    self.serving = self._make_line(client, transport, max(seconds, 1.0))
                    await self._hold(self.serving, attempt, began)
                    deadline.reschedule(loop.time() + self.limits.close_s)
        except BaseException as caught:  # the border of a connection: what ends it is told, and tried again
            if _ends_the_task(caught):
                raise
            error = caught
            log.debug("The connection to %s ended", self._target.name, exc_info=True)
        finally:
            self._deadline = None
            self._end_turn()
        line, self.serving = self.serving, None
        if self._stopping:
            return None
        return self._explain(
            line.error if line and line.error else error,
            was_up=line is not None,
            timed_out=deadline.expired() and line is None,
        )

    async def _hold(self, line: Upkeep, attempt: int, began: float) -> None:
        def ready() -> None:
            if line.over.is_set():
                return
            self.line = line
            self._was_up, self._wake = True, anyio.Event()
            self._end_turn()
            facts = line.transport.diagnostics()
            took = asyncio.get_running_loop().time() - began
            state = ConnectionState(
                ServerStatus.CONNECTED,
                error=line.catalogue.problem if line.catalogue else None,
                pid=facts.pid,
                restarts=self.state.restarts,
                connect_ms=round(took * 1000),
            )
            self._say(state, attempt)
            self._settle()

        def retired() -> None:
            self.line = None

        line.on_retired = retired
        if self._stopping:
            line.end()
        try:
            await line.run(ready)
        finally:
            self.line = None

    async def _rest(self, failure: Failure, attempt: int) -> None:
        """Say what happened and wait before the next attempt, or until somebody wants it now."""
        # Whoever asked since it was lost waits for the next attempt, not for the news of this end.
        wanted_again = self._was_up and self._wake.is_set() and failure.kind == "failed"
        self._was_up, self._wake = False, anyio.Event()
        refused = failure.kind == "needs_auth"
        state = ConnectionState(
            ServerStatus.NEEDS_AUTH if refused else ServerStatus.ERROR,
            error=failure.text,
            exit_code=failure.exit_code,
            stderr_tail=failure.stderr_tail,
            restarts=self.state.restarts,
            sign_in_url=failure.sign_in_url,
        )
        self._say(state, attempt)
        if wanted_again:
            return
        self._settle()
        if not self._stopping:
            pause = self.limits.backoff.pause(attempt, self._random, remote=self._target.remote)
            await self._pause(pause if failure.kind == "failed" else None)

    async def _pause(self, seconds: float | None) -> None:
        if seconds is None:
            await self._wake.wait()
            return
        async with anyio.create_task_group() as tasks:

            async def sleep() -> None:
                await self._clock.sleep(seconds)
                tasks.cancel_scope.cancel()

            tasks.start_soon(sleep)
            await self._wake.wait()
            tasks.cancel_scope.cancel()

    async def _wait_for_turn(self) -> None:
        if self._turn is not None:
            self._turn_over = await self._turn()

    def _end_turn(self) -> None:
        if self._turn_over is not None:
            self._turn_over()
            self._turn_over = None

    def _settle(self) -> None:
        """Wake whoever waits for the outcome of this attempt."""
        self._settled.set()
        self._settled = anyio.Event()

    def _say(self, state: ConnectionState, attempt: int | None = None) -> None:
        if attempt is not None:
            most = self.limits.backoff.attempts
            state = replace(state, attempt=min(attempt, most), attempts_max=most, since=self._clock.now())
        self.state = state
        self._on_state(state)


def _ends_the_task(error: BaseException) -> bool:
    """Whether the program ends, or somebody cancelled the task itself.

    A cancellation that nobody asked for is a scope of the SDK that got out of step; it ends one connection.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | SystemExit)
