"""The way of a call: found, checked, decided, written down, asked about, run, written down again.

Failures of tools are results; what is raised is the caller's own cancellation, and a name that does not exist
when the owner called it directly.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio

from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import ManyhandsError, NotFoundError, ToolFault
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.settings import CurrentSettings
from manyhands.tools import outcomes
from manyhands.tools.arguments import ArgumentChecker, read_arguments, refuse_hidden
from manyhands.tools.asking import Permission
from manyhands.tools.call_book import CallBook
from manyhands.tools.catalogue import Found, ToolCatalogue
from manyhands.tools.channels import ChannelMemory
from manyhands.tools.deadline import Race
from manyhands.tools.finder import ToolFinder
from manyhands.tools.invocation import Publish, RunningCall
from manyhands.tools.lanes import Lanes
from manyhands.tools.outcomes import Outcome
from manyhands.tools.policy import Decision, Facts
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.storable import storable
from manyhands.tools.types import (
    Asking,
    CallContext,
    CallRecord,
    CallStatus,
    Effect,
    Tool,
    ToolChanged,
    ToolDefinition,
    ToolResult,
)

log = logging.getLogger(__name__)

NO_SERVER = ""
MOST_CHANGES = 5
GRACE_MS = 15_000
"""A tool that was given its time ends itself when that is over; this stands behind that."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call on its way."""

    record: CallRecord
    found: Found
    tool: Tool
    facts: Facts


class _Stopwatch:
    """How long a call has been running."""

    __slots__ = ("_clock", "began")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.began: float | None = None

    def start(self) -> None:
        self.began = self._clock.monotonic()

    @property
    def ms(self) -> int:
        return 0 if self.began is None else round((self._clock.monotonic() - self.began) * 1000)


class CallPipeline:
    """Takes calls from their name to their record."""

    def __init__(
        self,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        asking: Asking,
        catalogue: ToolCatalogue,
        finder: ToolFinder,
        permission: Permission,
        rulebook: Rulebook,
        channels: ChannelMemory,
        book: CallBook,
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._asking = asking
        self._catalogue = catalogue
        self._finder = finder
        self._permission = permission
        self._rulebook = rulebook
        self._channels = channels
        self._book = book
        self._checker = ArgumentChecker()
        self._lanes = Lanes()

    async def call(self, name: str, arguments: object, context: CallContext) -> CallRecord:
        channel = await self._channels.get(context.channel_id)
        if channel is not None and context.directory is None:
            context = replace(context, directory=channel.dir_path)
        if channel is not None and channel.parent_id is not None:
            context = replace(context, above=await self._channels.above(channel))
        found = await self._catalogue.find_for_call(name, channel)
        if found is None:
            return await self._unknown(name, arguments, context, channel)
        definition = found.listing.definition
        problem, given, logged = self._check(found, arguments)
        record = self._new_record(definition, context, logged)
        if problem is not None or found.tool is None:
            return await self._book.end(record, problem or _not_callable(found), 0)
        call = _Call(record, found, found.tool, self.facts(found, given, context))
        decision = await self._decide(call)
        if isinstance(decision, Outcome):
            return await self._book.end(record, decision, 0)
        return await self._go(call, ask=decision.effect is Effect.ASK)

    async def _decide(self, call: _Call) -> Decision | Outcome:
        """Whether it may run or a person is to be asked, or how it ended; nobody is asked in vain."""
        decision = await self._permission.decide(call.facts)
        if decision.effect is Effect.DENY:
            return outcomes.of_denial(decision)
        obstacle = self._catalogue.obstacle(call.found) if decision.effect is Effect.ASK else None
        return decision if obstacle is None else outcomes.of_error(obstacle)

    def facts(self, found: Found, arguments: Mapping[str, Any], context: CallContext) -> Facts:
        """What the policy looks at."""
        return Facts(
            found.listing.definition,
            arguments,
            context,
            session_id=self._rulebook.session_of(context.channel_id),
            trust=None if found.server is None else found.server.trust,
            default=found.default,
            preference=found.listing.policy,
            changed=found.listing.changed,
        )

    async def _go(self, call: _Call, *, ask: bool) -> CallRecord:
        """From being on record to its end; a cancellation on the way is an end, too."""
        record, ending, watch = call.record, None, _Stopwatch(self._clock)
        try:
            if failed := await self._book.begin(record, new=call.facts.context.call_id is None):
                return failed
            ending = await self._carry_out(call, ask, watch)
            return await self._book.end(record, ending, watch.ms)
        except anyio.get_cancelled_exc_class():
            ending = ending or outcomes.of_cancellation()
            await self._book.end_cancelled(record, ending, watch.ms)
            raise
        except Exception as error:  # border: whatever happens, a call that has begun has an end
            log.exception("%s of %s failed", record.tool, record.server)
            return await self._book.end(record, outcomes.of_error(error), watch.ms)

    async def _carry_out(self, call: _Call, ask: bool, watch: _Stopwatch) -> Outcome:
        """Run it, asking first if need be; a tool that changes on the way is decided about anew."""
        for _ in range(MOST_CHANGES):
            try:
                return await (self._ask_and_start(call, watch) if ask else self._start(call, watch))
            except ToolChanged:
                now = await self._as_it_is_now(call)
                if isinstance(now, Outcome):
                    return now
                call, ask = now
        who = outcomes.named_tool(call.record.tool, call.record.server)
        return outcomes.of_fault(f"{who} was not called: it changes all the time.", "changed")

    async def _ask_and_start(self, call: _Call, watch: _Stopwatch) -> Outcome:
        scope = await self._permission.ask(call.record.id, call.facts, call.found.listing.diff)
        if isinstance(scope, Outcome):
            return scope
        now = await self._as_it_is_now(call)
        if isinstance(now, Outcome):
            return now
        if _shown(now[0]) != _shown(call):
            raise ToolChanged
        await self._permission.remember(call.facts, scope)
        return await self._start(now[0], watch)

    async def _as_it_is_now(self, call: _Call) -> tuple[_Call, bool] | Outcome:
        """The call with what its tool has become, and whether to ask about that; or how it ended."""
        context, name = call.facts.context, call.facts.definition.full_name
        found = await self._catalogue.find_for_call(name, await self._channels.get(context.channel_id))
        if found is None:
            return outcomes.of_fault(f"There is no tool {name!r} any more.", "unknown_tool")
        problem, given, _ = self._check(found, call.facts.arguments)
        if problem is not None or found.tool is None:
            return problem or _not_callable(found)
        now = _Call(call.record, found, found.tool, self.facts(found, given, context))
        decision = await self._decide(now)
        return decision if isinstance(decision, Outcome) else (now, decision.effect is Effect.ASK)

    async def _start(self, call: _Call, watch: _Stopwatch) -> Outcome:
        if watch.began is None:
            self._book.started(call.record)
        if call.found.server is None or call.found.server.parallel == "all":
            watch.start()
            return await self._run(call)
        async with self._lanes.enter(call.found.server.parallel, call.facts.definition):
            watch.start()
            return await self._run(call)

    async def _run(self, call: _Call) -> Outcome:
        granted = call.facts.context.granted_ms
        limit = call.tool.timeout_ms if granted is None else granted + GRACE_MS
        race = Race(limit, self._settings.current.tool_timeout_max)
        running = RunningCall(
            call.record.id, call.facts.context, race, self._asking, self._publisher(call.record)
        )
        result: ToolResult | None = None
        try:
            with race.scope:
                result = await call.tool.call(call.facts.arguments, running)
        except ToolChanged:
            raise
        except Exception as error:  # border: whatever a tool raises is its result
            if not isinstance(error, ManyhandsError):
                log.exception("%s of %s failed", call.record.tool, call.record.server)
            return outcomes.of_error(error)
        if result is None:
            return outcomes.of_timeout(race.text(), call.record.tool, call.record.server)
        return outcomes.of_result(result)

    def _publisher(self, record: CallRecord) -> Publish:
        names = {"tool": record.tool, "server": record.server}

        def publish(event: str, data: dict[str, Any]) -> None:
            if message := data.get("message"):
                data = data | {"message": self._book.redacted(message)}
            self._bus.publish(event, data | names, channel_id=record.channel_id)

        return publish

    def _check(
        self, found: Found, arguments: object
    ) -> tuple[Outcome | None, dict[str, Any], dict[str, Any]]:
        """Why the call cannot start, if so; its arguments, and what of them can be logged."""
        definition = found.listing.definition
        given: dict[str, Any] = {}
        logged: dict[str, Any] = {}
        try:
            given = read_arguments(arguments)
            logged = storable(given)
            if not found.listing.enabled:
                return _disabled(definition), given, logged
            self._checker.check(definition, given)
            refuse_hidden(definition, given)
        except ToolFault as error:
            return outcomes.of_fault(str(error), "invalid_arguments"), given, logged
        return None, given, logged

    async def _unknown(
        self, name: str, arguments: object, context: CallContext, channel: Channel | None
    ) -> CallRecord:
        meant = await self._finder.advise(name, channel)
        message = f"There is no tool {name!r}."
        if context.direct:
            raise NotFoundError(message, hint=meant)
        definition = ToolDefinition(name, name, "", {}, server=NO_SERVER)
        logged: dict[str, Any] = {}
        with suppress(ToolFault):
            logged = storable(read_arguments(arguments))
        record = self._new_record(definition, context, logged)
        return await self._book.end(record, outcomes.of_fault(f"{message} {meant}", "unknown_tool"), 0)

    def _new_record(
        self, definition: ToolDefinition, context: CallContext, arguments: dict[str, Any]
    ) -> CallRecord:
        return CallRecord(
            id=context.call_id or new_id("call"),
            tool=storable(definition.name),
            server=definition.server,
            server_id=definition.server_id,
            channel_id=context.channel_id,
            run_id=context.run_id,
            iteration=context.iteration,
            arguments=self._book.redacted(arguments),
            status=CallStatus.PENDING,
            at=self._clock.now(),
        )


def _shown(call: _Call) -> tuple[ToolDefinition, str | None]:
    """What a person sees of the tool."""
    return call.facts.definition, call.found.listing.diff


def _disabled(definition: ToolDefinition) -> Outcome:
    text = f"The tool {definition.full_name} is switched off. A person can switch it on again."
    return outcomes.of_fault(text, "disabled", CallStatus.DENIED)


def _not_callable(found: Found) -> Outcome:
    listing = found.listing
    return outcomes.of_fault(
        f"The tool {listing.definition.full_name} cannot be called: {listing.reason}.", "unavailable"
    )
