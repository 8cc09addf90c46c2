"""Tools: listed, searched, explained, called under policy, logged; their rules; their large results.

Callers never know whether a tool is native or comes from a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import anyio

from manyhands.approvals.service import ApprovalService
from manyhands.chat.types import Channel
from manyhands.clock import Clock
from manyhands.errors import InvalidError, NotFoundError
from manyhands.events import EventBus
from manyhands.guardian import Guardian
from manyhands.home import Home
from manyhands.paging import DEFAULT_LIMIT, Page
from manyhands.secrets import Redactor
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store, Work
from manyhands.tools import call_log as rows
from manyhands.tools.asking import Permission
from manyhands.tools.begun_calls import BegunCalls, begun_file
from manyhands.tools.call_book import CallBook
from manyhands.tools.call_log import CallFilter
from manyhands.tools.call_stats import CallStats, make_span, select_stats
from manyhands.tools.calls import CallPipeline
from manyhands.tools.catalogue import ToolCatalogue
from manyhands.tools.channels import ChannelMemory, ChannelSource
from manyhands.tools.explain import explain_tool, explain_unknown, find_meant
from manyhands.tools.finder import ToolFinder
from manyhands.tools.native.run_command import MountsOf, no_mounts
from manyhands.tools.native.toolbox import native_tools
from manyhands.tools.native_preferences import (
    OFF,
    NativePreference,
    off_rule,
    policy_rule,
    preference_of,
    rules_about,
)
from manyhands.tools.policy import Rule, reaches_nothing
from manyhands.tools.result_files import ResultFiles
from manyhands.tools.rulebook import Rulebook
from manyhands.tools.types import (
    CallContext,
    CallRecord,
    CallStatus,
    Effect,
    Listing,
    ResultPage,
    ServerPolicy,
    ToolMatch,
    ToolResult,
    ToolSource,
)

T = TypeVar("T")

__all__ = ["CallFilter", "ResultPage", "Rule", "ServerPolicy", "ToolService", "ToolSource"]


class ToolService:
    """The use cases of tools."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        settings: CurrentSettings,
        approvals: ApprovalService,
        source: ToolSource,
        channels: ChannelSource,
        home: Home,
        redactor: Redactor | None = None,
        guardian: Guardian | None = None,
        mounts_of: MountsOf = no_mounts,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._rulebook = Rulebook(store, bus, clock)
        self._native = native_tools(
            settings,
            self._page_for_context,
            guardian=guardian,
            redactor=redactor,
            hidden=[str(home.path)],
            mounts_of=mounts_of,
        )
        self._catalogue = ToolCatalogue(self._native, source)
        self._finder = ToolFinder(self._catalogue, self._rulebook)
        self._files = ResultFiles(home.results)
        self._begun = BegunCalls(store.file and begun_file(store.file))
        self._book = CallBook(store, bus, settings, self._files, self._begun, redactor)
        self._permission = Permission(approvals, self._rulebook, source)
        self._channels = ChannelMemory(channels, bus)
        self._pipeline = CallPipeline(
            bus,
            clock,
            settings,
            approvals.ask,
            self._catalogue,
            self._finder,
            self._permission,
            self._rulebook,
            self._channels,
            self._book,
        )

    async def start(self, *, alone: bool = True) -> None:
        """Once, before the first call: end what an earlier process left, unless other hubs live here, too."""
        if alone:
            await self._take_over_notes()
            await self.interrupt_leftovers()
            await self._rulebook.end_sessions()

    async def _take_over_notes(self) -> None:
        left = await anyio.to_thread.run_sync(self._begun.open)
        if left:
            await self._store.write(lambda conn: rows.interrupt_begun(conn, left))
            for record in left:
                self._begun.forget(record.id)

    def close(self) -> None:
        """Let go of the notes; a call after this has its row first."""
        self._begun.close()

    async def interrupt_leftovers(self) -> int:
        """Calls that a dead process left pending end as errors; how many there were."""
        return await self._store.write(rows.interrupt_pending)

    # --- tools

    async def list(self, channel: Channel | None = None) -> list[Listing]:
        """Every tool that is known for the channel, with whether it is offered and why."""
        return await self._catalogue.listings(channel, await self._rulebook.policy())

    async def search(
        self, query: str, limit: int = 10, channel: Channel | None = None, *, offered_only: bool = False
    ) -> Sequence[ToolMatch]:
        """Tools by what one wants to do, best first."""
        return await self._finder.search(query, limit, channel, offered_only=offered_only)

    async def find(self, name: str, channel: Channel | None = None) -> Listing | None:
        """One tool by its name, offered or not."""
        found = await self._catalogue.find(name, channel)
        return None if found is None else found.listing

    async def why(self, name: str, channel: Channel | None = None) -> dict[str, Any]:
        """Everything that decides about a tool: as the list shows it, and as a call meets it."""
        listings = await self.list(channel)
        found = await self._catalogue.find(name, channel)
        if found is None and (meant := find_meant(name, listings)) is not None:
            found = await self._catalogue.find(meant.definition.full_name, channel)
        if found is None:
            return explain_unknown(name, [*await self._finder.similar(name, channel)])
        own = found.listing
        listed = next((one for one in listings if one.definition.full_name == own.definition.full_name), own)
        obstacle = self._catalogue.obstacle(found)
        facts = self._pipeline.facts(found, {}, await self._context_in(channel))
        policy = await self._rulebook.policy()
        return explain_tool(found, listed, policy, facts, None if obstacle is None else str(obstacle))

    async def _context_in(self, channel: Channel | None) -> CallContext:
        """That of a call in a channel, made on somebody's behalf."""
        if channel is None:
            return CallContext()
        above = await self._channels.above(channel)
        return CallContext(channel_id=channel.id, directory=channel.dir_path, above=above)

    async def asks(self, name: str, context: CallContext) -> bool:
        """Whether a person would be asked before it runs."""
        channel = None if context.channel_id is None else await self._channels.get(context.channel_id)
        found = await self._catalogue.find(name, channel)
        if found is None:
            return False
        policy = await self._rulebook.policy()
        return policy.decide(self._pipeline.facts(found, {}, context)).effect is Effect.ASK

    async def is_read_only(self, name: str, channel: Channel | None = None) -> bool:
        """Whether it says that it only reads, so that running it again does no harm."""
        found = await self._catalogue.find(name, channel)
        return found is not None and found.listing.definition.annotations.read_only

    async def call(self, name: str, arguments: object, context: CallContext) -> CallRecord:
        """Call a tool. Failures are in the record; an unknown name raises only for a direct call."""
        return await self._pipeline.call(name, arguments, context)

    async def set_native_enabled(self, name: str, enabled: bool) -> None:
        """Switch a native tool on or off; off is a rule like any other, and revoked like any other."""
        await self.prefer_native(name, enabled=enabled)

    async def prefer_native(
        self, name: str, *, enabled: bool | None = None, policy: str | None = None
    ) -> NativePreference:
        """Switch a native tool on or off, or say what its calls need; `default` takes that back."""
        if name not in self._native:
            raise NotFoundError(f"There is no native tool {name!r}.", hint="Look at the list of tools.")
        there = rules_about(name, await self.rules())
        switched_off = [rule for rule in there if rule.note == OFF]
        if enabled is not None and enabled is bool(switched_off):
            await self._replace_rules(switched_off, None if enabled else off_rule(name))
        if policy is not None:
            others = [rule for rule in there if rule.note != OFF]
            await self._replace_rules(
                others, None if policy == "default" else policy_rule(name, Effect(policy))
            )
        return preference_of(name, await self.rules())

    async def _replace_rules(self, old: Sequence[Rule], new: Rule | None) -> None:
        if new is not None:
            await self.add_rule(new.effect, server=new.server, tool=new.tool, note=new.note)
        for rule in old:
            await self.remove_rule(rule.id)

    # --- rules

    async def rules(self) -> Sequence[Rule]:
        """What is allowed, asked or denied for longer than one call, newest first."""
        return await self._rulebook.rules()

    async def add_rule(
        self,
        effect: Effect,
        *,
        server: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        project: str | None = None,
        channel_id: str | None = None,
        note: str | None = None,
    ) -> Rule:
        """Add a rule; calls that wait for a person and that it decides go on at once."""
        rule = Rule("", effect, server, tool, arguments or {}, project, channel_id, note=note)
        if reaches_nothing(rule, self._native):
            raise InvalidError(
                f"No built-in tool is called {tool!r}, and a server's is allowed together with its server.",
                hint=f"Name the server too, or give the full name, such as mcp__time__{tool}.",
            )
        added = await self._rulebook.add(rule)
        await self._permission.reconsider()
        return added

    async def remove_rule(self, rule_id: str) -> None:
        await self._rulebook.remove(rule_id)
        await self._permission.reconsider()

    # --- the log

    async def calls(
        self, wanted: CallFilter | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[CallRecord]:
        """The call log, newest first."""
        chosen = wanted or CallFilter()
        return await self._read_log(lambda conn: rows.page_of_calls(conn, chosen, limit, cursor))

    async def stats(self, since: datetime | None, bucket_s: int | None, server: str | None) -> CallStats:
        """How calls went, over time and by server."""
        span = make_span(self._clock.now(), since, bucket_s, server)
        return await self._read_log(lambda conn: select_stats(conn, span))

    async def calls_of_run(self, run_id: str) -> Sequence[CallRecord]:
        """Every call of a run, in the order in which they were made."""
        return await self._read_log(lambda conn: rows.select_of_run(conn, run_id))

    async def lines(self, call_ids: Sequence[str]) -> Sequence[CallRecord]:
        """Calls by their ids, without results."""
        return await self._read_log(lambda conn: rows.select_lines(conn, call_ids)) if call_ids else []

    async def find_call(self, call_id: str) -> CallRecord | None:
        return await self._read_log(lambda conn: rows.select_call(conn, call_id))

    async def get_call(self, call_id: str) -> CallRecord:
        found = await self.find_call(call_id)
        if found is None:
            raise NotFoundError(f"There is no call {call_id!r}.", hint="Look at the list of calls.")
        return found

    async def _read_log(self, work: Work[T]) -> T:
        """With every call that has begun by now."""
        await self._book.settle()
        return await self._store.read(work)

    async def result_page(self, call_id: str, offset: int = 0, limit: int | None = None) -> ResultPage:
        """Part of the text of a result, by characters."""
        return await self._page(await self.get_call(call_id), offset, limit)

    async def whole_result(self, call_id: str) -> ToolResult:
        """All of a result, from its file where it was too large for the log."""
        record = await self.get_call(call_id)
        if record.result_file is not None:
            return await self._files.load(call_id)
        return ToolResult(record.content or [], record.structured_content, record.is_error, record.code)

    async def _page(self, record: CallRecord, offset: int, limit: int | None) -> ResultPage:
        if offset < 0 or (limit is not None and limit < 1):
            raise InvalidError("The offset is below 0 or the limit below 1.", hint="Correct them.")
        if record.status is CallStatus.PENDING:
            raise NotFoundError(f"The call {record.id} has not ended.", hint="Try again when it has.")
        most = limit or self._settings.current.result_limit_chars
        if record.result_file is not None:
            text, size = await self._files.page(record.id, offset, most)
        else:
            whole = record.result or ""
            text, size = whole[offset : offset + most], len(whole)
        end = offset + len(text)
        return ResultPage(record.id, offset, text, size, end if text and end < size else None)

    async def _page_for_context(
        self, call_id: str, offset: int, limit: int, context: CallContext
    ) -> ResultPage:
        """For `read_file`: a channel reads its own results; the owner reads all."""
        record = await self.get_call(call_id)
        if record.channel_id != context.channel_id and not context.direct:
            raise NotFoundError(f"There is no call {call_id!r} in this channel.", hint="Check the call id.")
        return await self._page(record, offset, limit)
