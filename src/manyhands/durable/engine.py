"""The durable engine of a hub: work that is stored before it begins and goes on after whatever happens.

It owns when DBOS starts and ends, who of several hubs on one database does what, and taking over the work of
those that died. What the work is, whoever registers it knows.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from manyhands.clock import Clock, rfc3339
from manyhands.durable import leases
from manyhands.durable.types import Function, Order, Work
from manyhands.errors import ManyhandsError, NotFoundError, UnavailableError
from manyhands.home import Home
from manyhands.ids import new_id
from manyhands.imports import import_aside
from manyhands.store.engine import Store
from manyhands.store.urls import is_sqlite

if TYPE_CHECKING:
    from manyhands.durable.binding import Bound, Step

log = logging.getLogger(__name__)

LEASE_S = 30.0
LOOK_S = 0.5
CLOSE_S = 25.0
AGAIN_S = 5.0
PRUNE_AT_ONCE = 500
PRUNE_EVERY_S = 6 * 3600.0
KEPT = timedelta(days=30)
"""How long records of ended work are kept."""


@dataclass(slots=True)
class _Going:
    """Work that goes on in this process."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    """Its function has returned."""
    recorded: anyio.Event = field(default_factory=anyio.Event)
    """That is stored, or will not be from here."""


@dataclass(frozen=True, slots=True)
class _Activation:
    id: str
    payload: Any
    _steps: Callable[[], Step]
    followers: list[Order] = field(default_factory=list)

    async def step(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        return await self._steps()(name, work)

    def follow_with(self, orders: Sequence[Order]) -> None:
        self.followers.extend(orders)


class _LeaseLost(UnavailableError):
    """Others do the work of this executor now; this process begins anew under another name."""


def durable_url(home: Home, database_url: str) -> str:
    """Where the engine keeps its records: a file of the home, or the database that several hubs share."""
    return f"sqlite:///{home.durable_file}" if is_sqlite(database_url) else database_url


class DurableEngine:
    """Starts, cancels and finds durable work.

    `url`: its own database. `home`: whose process this is; a home has one at a time. `resume`: take over what
    was left open; a hub that stays only for a moment does not, and runs only what it started itself.
    """

    def __init__(self, url: str, store: Store, clock: Clock, *, home: str, resume: bool = True) -> None:
        self.executor_id = new_id("exec")
        self.lease_s = LEASE_S
        """After how long without a sign of life others take over; it is renewed three times as often."""
        self._url = url
        self._store = store
        self._clock = clock
        self._home = home
        self._resume = resume
        self._functions: dict[str, Function] = {}
        self._going: dict[str, _Going] = {}
        self._hands: TaskGroup | None = None
        self._bound: Bound | None = None
        self._wanted = anyio.Event()
        self._there = anyio.Event()
        self._trouble: Exception | None = None
        self._lost: list[str] = []
        """Names that lost their lease here: what began under them late may have nobody."""
        self._closing = False
        self._launched = False
        self._life = anyio.CancelScope()
        self._ended = anyio.Event()

    def register(self, kind: str, function: Function) -> None:
        """What a kind of work does. Before the hub has started, so that old work finds it."""
        self._functions[kind] = function

    async def is_alone(self) -> bool:
        """Whether no hub of another home is alive on this database."""
        now = self._clock.now()
        return not await self._store.read(lambda conn: leases.others_live(conn, self._home, now))

    # --- its life

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. DBOS is started with the first work, or when an earlier hub had some."""
        if self._resume and (self._home or await self._store.read(leases.any_registered)):
            self._wanted.set()  # where several share a database, each is there to take over from the others
        async with anyio.create_task_group() as self._hands:
            with self._life:
                task_status.started()
                try:
                    await self._serve_for_ever()
                finally:
                    self._ended.set()
            self._hands.cancel_scope.cancel()  # whoever still waits for a database that does not answer

    async def close(self) -> None:
        """Stop what goes on here, without an end on its record; before the services that it uses are gone."""
        self._life.cancel()
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._ended.wait()

    async def _serve_for_ever(self) -> None:
        while True:
            await self._wanted.wait()
            try:
                await self._serve()
            except ManyhandsError as error:
                log.warning("the durable engine is not available: %s", error)
                self._fail(error)
            except Exception as error:  # border: what is open goes on when its database is back
                log.exception("the durable engine failed")
                self._fail(error)
            await self._clock.sleep(AGAIN_S)
            if self._launched:
                self._wanted.set()

    def _fail(self, error: Exception) -> None:
        """Whoever waits for it is told; the next work tries again."""
        self._bound, self._trouble = None, error
        self._wanted = anyio.Event()
        there, self._there = self._there, anyio.Event()
        there.set()

    async def _serve(self) -> None:
        binding = await import_aside("manyhands.durable.binding")
        await self._register_executor()
        async with (
            self._forgotten_unless_launched(),
            binding.bound(self._url, self.executor_id, self._dispatch, self._began) as self._bound,
        ):
            self._launched, self._trouble = True, None
            self._there.set()
            try:
                await self._keep_lease()
            finally:
                self._closing = True
                self._there = anyio.Event()
                with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_S):
                    await self._stop_work()
                    await self._give_up_lease()

    @asynccontextmanager
    async def _forgotten_unless_launched(self) -> AsyncIterator[None]:
        """An executor that never was leaves nothing for others to take over."""
        self._launched = False
        try:
            yield
        finally:
            if not self._launched:
                with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_S):
                    await self._store.write(lambda conn: leases.remove(conn, [self.executor_id]))

    async def _stop_work(self) -> None:
        going = list(self._going.values())
        for one in going:
            one.scope.cancel()
        for one in going:
            await one.recorded.wait()

    # --- leases

    async def _register_executor(self) -> None:
        self.executor_id, until = new_id("exec"), self._until()
        self._closing = False
        await self._store.write(lambda conn: leases.register(conn, self.executor_id, self._home, until))

    def _until(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self.lease_s)

    async def _keep_lease(self) -> None:
        """As long as that works. A database that is away for a moment does not end anything."""
        kept_at = pruned_at = self._clock.monotonic()
        while True:
            try:
                if self._resume:
                    await self._take_over()
                await self._clock.sleep(self.lease_s / 3)
                await self._renew()
                kept_at = self._clock.monotonic()
                await self._hear_cancels()
                if self._resume and kept_at - pruned_at >= PRUNE_EVERY_S:
                    pruned_at = kept_at
                    await self.prune(self._clock.now() - KEPT)
            except _LeaseLost:
                raise
            except Exception as error:  # border: others take over only after the lease
                if self._clock.monotonic() - kept_at > self.lease_s:
                    raise
                log.warning("the lease could not be renewed, it is tried again: %s", error)
                await self._clock.sleep(self.lease_s / 10)

    async def _renew(self) -> None:
        me, home, until = self.executor_id, self._home, self._until()
        if not await self._store.write(lambda conn: leases.renew(conn, me, home, until)):
            # Others have taken this process for dead, and its work: it must not be done twice.
            self._lost.append(me)
            raise _LeaseLost("the lease ran out while this process was away; its work is done elsewhere")

    async def _take_over(self) -> None:
        assert self._bound is not None
        me, home, now = self.executor_id, self._home, self._clock.now()
        dead = await self._store.read(lambda conn: leases.select_dead(conn, me, home, now))
        if dead:
            dead = await self._store.write(lambda conn: leases.claim_dead(conn, me, home, now))
        if dead or self._lost:
            await self._bound.recover([*dead, *self._lost])
            await self._store.write(lambda conn: leases.remove(conn, dead))
            self._lost.clear()

    async def _give_up_lease(self) -> None:
        """The row stays when work is open: whoever comes next finds it."""
        ended = self._clock.now() - timedelta(seconds=1)
        await self._store.write(lambda conn: leases.renew(conn, self.executor_id, self._home, ended))

    async def _hear_cancels(self) -> None:
        """What goes on here may have been cancelled through another hub."""
        if self._going and self._bound is not None:
            for work_id in await self._bound.cancelled_among(list(self._going)):
                if going := self._going.get(work_id):
                    going.scope.cancel()

    # --- doing

    def _began(self, order: Order, owner: str) -> None:
        """Work is stored as ours: now it is done."""
        assert self._hands is not None, "only a running engine stores work"
        assert self._bound is not None, "only a running engine stores work"
        if not self._closing:  # else it stays open for the next hub
            self._going[order.id] = _Going()
            self._hands.start_soon(self._do, self._bound, order, owner)

    async def _do(self, bound: Bound, order: Order, owner: str) -> None:
        """Work that began here, and the record of its end."""
        from manyhands.durable.records import End

        activation = _Activation(order.id, order.payload, cache(partial(bound.steps, order.id, owner)))
        going = self._going[order.id]
        try:
            answer = await self._go(order.kind, activation, going)
            ends = [] if answer is None else [End(order.id, owner, answer)]
            if ends or not self._closing:
                await bound.records.write(activation.followers, ends)
        except Exception as error:  # border: it is open on record, and whoever comes next goes on with it
            log.warning("%s stays open: its end could not be recorded", order.id, exc_info=error)
        except asyncio.CancelledError:
            # This task is over either way; passed on, it would end those of others.
            log.debug("%s stays open", order.id)
        finally:
            self._settle(order.id, going)

    async def _dispatch(self, kind: str, work_id: str, payload: Any) -> Any:
        """Work that was open on record, called by DBOS, which records its end as well."""
        if not self._takes_over():
            raise asyncio.CancelledError  # stays open for a hub that goes on with old work
        from manyhands.durable.binding import Cancelled, record_step

        going = self._going[work_id] = _Going()
        activation = _Activation(work_id, payload, lambda: record_step)
        try:
            answer = await self._go(kind, activation, going)
        finally:
            self._settle(work_id, going)
        if answer is None and self._closing:
            raise asyncio.CancelledError
        await self.start_all(activation.followers)
        if answer is None:
            raise Cancelled
        return json.loads(answer)

    def _takes_over(self) -> bool:
        return self._resume and not self._closing

    async def _go(self, kind: str, activation: _Activation, going: _Going) -> str | None:
        """What the work answered, as JSON; nothing when it was cancelled."""
        try:
            with going.scope:
                return await self._answer(kind, activation)
        finally:
            going.ended.set()
        return None

    def _settle(self, work_id: str, going: _Going) -> None:
        if self._going.get(work_id) is going:
            del self._going[work_id]
        going.recorded.set()

    async def _answer(self, kind: str, activation: _Activation) -> str:
        from manyhands.durable.serialization import encode

        function = self._functions.get(kind)
        if function is None:
            said = f"This version of the hub knows no work of the kind {kind!r}."
            return encode({"error": {"code": "not_found", "message": said}})
        try:
            return encode({"value": await function(activation)})
        except ManyhandsError as error:
            return encode({"error": {"code": error.code, "message": str(error)}})
        except Exception as error:  # border: whatever goes wrong is the work's outcome
            if type(error).__module__.startswith("dbos."):
                raise
            log.exception("%s failed", activation.id)
            return encode({"error": {"code": "error", "message": f"{type(error).__name__}: {error}"}})

    async def _ready(self) -> Bound:
        self._wanted.set()
        await self._there.wait()
        if self._bound is None or self._trouble is not None:
            why = str(self._trouble or "it has ended")
            raise UnavailableError(f"The durable engine is not available: {why}.", hint="Try again later.")
        return self._bound

    # --- for services

    def warm(self) -> None:
        """Be ready soon: work is about to come."""
        self._wanted.set()

    async def start(self, kind: str, work_id: str, payload: Any = None) -> bool:
        """Begin work. When this returns it is stored, and happens whatever becomes of this process.

        The id makes it once: the answer is whether this call did. May be called within other work.
        """
        return bool(await self.start_all([Order(kind, work_id, payload)]))

    async def start_all(self, orders: Sequence[Order]) -> set[str]:
        """Begin several at once, as `start` does; the answer is the ids of those that this call began."""
        for order in orders:
            if order.kind not in self._functions:
                raise NotFoundError(
                    f"Nobody does work of the kind {order.kind!r}.", hint="Register it first."
                )
        return await (await self._ready()).records.write(orders) if orders else set()

    async def find(self, work_id: str) -> Work | None:
        return (await self.find_all([work_id])).get(work_id)

    async def find_all(self, work_ids: Sequence[str]) -> dict[str, Work]:
        """What is known about these; ids that nobody started are left out."""
        return await (await self._ready()).find(work_ids) if work_ids else {}

    async def below(self, prefix: str) -> Sequence[Work]:
        """All work whose id begins with this."""
        return await (await self._ready()).below(prefix)

    async def wait(self, work_id: str) -> Work:
        """Until it has ended, here or elsewhere. Costs nothing for work of this process."""
        while True:
            if going := self._going.get(work_id):
                await going.recorded.wait()
            work = await self.find(work_id)
            if work is None:
                raise NotFoundError(f"There is no work {work_id!r}.")
            if work.state != "running":
                return work
            await anyio.sleep(LOOK_S)

    async def cancel(self, work_ids: Sequence[str]) -> None:
        """End work: at once what goes on here, within seconds what goes on elsewhere. Ended work stays."""
        if not work_ids:
            return
        await (await self._ready()).cancel(work_ids)
        for work_id in work_ids:
            if going := self._going.get(work_id):
                going.scope.cancel()

    async def stopped(self, work_id: str) -> None:
        """Wait until it does not go on in this process, after it was cancelled. Not for the work itself."""
        if going := self._going.get(work_id):
            with anyio.move_on_after(CLOSE_S):
                await going.ended.wait()

    def is_going(self, work_id: str) -> bool:
        """Whether it goes on in this process."""
        going = self._going.get(work_id)
        return going is not None and not going.ended.is_set()

    async def forget(self, work_ids: Sequence[str]) -> None:
        """Remove the records of ended work."""
        if work_ids:
            await (await self._ready()).forget(work_ids)

    async def prune(self, before: datetime) -> int:
        """Remove the records of all work that ended before then; how many that were."""
        bound, gone = await self._ready(), 0
        while found := await bound.ended_before(rfc3339(before), PRUNE_AT_ONCE):
            await bound.forget(found)
            gone += len(found)
        return gone
