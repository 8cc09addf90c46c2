"""Working on one run: the loop with its model, its tools and its record; picks up a run that was cut."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import anyio

from manyhands.chat import message_store, run_store, tracing
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.briefing import Speakers, brief
from manyhands.chat.budget import Budget
from manyhands.chat.hands import RunHands, Toolbox, turn_of
from manyhands.chat.history import select_history
from manyhands.chat.loop import Ending, Loop
from manyhands.chat.mind import RunMind
from manyhands.chat.record import RunRecord
from manyhands.chat.recovery import INTERRUPTED, remaining, to_turn, tool_names
from manyhands.chat.replay import Given, Replayed, replay
from manyhands.chat.types import AskedCall, Channel, Message, Run, RunStatus
from manyhands.clock import Clock
from manyhands.events import EventBus
from manyhands.models.types import Model, ToolRequest, Turn
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store
from manyhands.tools.types import CallContext, CallRecord, CallStatus

AGENT = "manyhands"


class Agents(Protocol):
    """Programs that work in place of the loop."""

    async def work(self, run: Run, channel: Channel) -> Ending: ...


class Channels(Protocol):
    """What a run needs of the channel service."""

    async def get(self, channel_id: str) -> Channel: ...


class Models(Protocol):
    """What a run needs of the model service."""

    async def resolve(self, wanted: str | None) -> Model: ...

    async def warm(self, wanted: str | None) -> None: ...


class CallLog(Toolbox, Protocol):
    """The tool service with its log of calls."""

    async def find_call(self, call_id: str) -> CallRecord | None: ...

    async def is_read_only(self, name: str, channel: Channel | None) -> bool: ...


@dataclass
class Workshop:
    """Everything that runs are made of."""

    store: Store
    bus: EventBus
    clock: Clock
    settings: CurrentSettings
    channels: Channels
    models: Models
    tools: CallLog
    speakers: Speakers
    attachments: AttachmentStore
    budget: Budget
    agents: Agents | None = None
    hide: Callable[[str], str] = str

    async def work(self, run: Run) -> Ending:
        """Take it from where its record ends to its end."""
        channel = await self.channels.get(run.channel_id)
        if channel.runner is not None and self.agents is not None:
            return await self.agents.work(run, channel)
        model = await self.models.resolve(run.options.model or channel.model)
        run = replace(run, model=model.info.id)
        await self.store.write_now(lambda conn: run_store.update_run(conn, run.id, {"model": run.model}))
        record = RunRecord(run, model.info, self.store, self.bus, self.clock, self.attachments)
        hands = self._hands(run, channel, model, record.call_ids)
        mind = self._mind(channel, model, record, hands)
        loop = Loop(mind, hands, record, self._limit(run), run.iterations)
        history = await self.store.read(lambda conn: select_history(conn, run))
        turns = await self._turns(history)
        turns += await self._pick_up(run, channel, history, record, hands)
        async with anyio.create_task_group() as group:  # what a first request has to import may take as long
            group.start_soon(self.models.warm, run.model)
            await self._settle(run)
        about = {
            "gen_ai.agent.name": AGENT,
            "gen_ai.conversation.id": run.channel_id,
            "manyhands.run.id": run.id,
            **tracing.model_attributes(model.info),
        }
        with tracing.span("invoke_agent", AGENT, about) as span:
            ending = await loop.run(turns)
            if ending.status is not RunStatus.COMPLETED:
                tracing.tell_failure(span, ending.status.value)
        return ending

    async def replay(self, run: Run, model: str | None) -> Replayed:
        """Ask a model anew, with the tool results of the record; nothing is executed or stored."""
        own = await self.store.read(lambda conn: message_store.select_of_run(conn, run.id))
        first = next((message.id for message in own if message.role == "assistant"), None)
        before = await self.store.read(lambda conn: select_history(conn, run, first))
        chosen = await self.models.resolve(model or run.model)
        given = await self._given(run, chosen)
        return await replay(own, await self._turns(before), chosen, self._limit(run), given)

    async def _given(self, run: Run, model: Model) -> Given:
        """What a replay's model gets beside the conversation: prompt and tools as they are now."""
        channel = await self.channels.get(run.channel_id)
        hands = self._hands(run, channel, model, {})
        return Given(await self._brief(channel), await hands.offer())

    async def _brief(self, channel: Channel, news: Sequence[str] = ()) -> str:
        """What a model is told; the project's own instructions may hold a secret."""
        return self.hide(await brief(channel, self.speakers, self.settings.current.profile, news))

    def _mind(self, channel: Channel, model: Model, record: RunRecord, hands: RunHands) -> RunMind:
        return RunMind(
            record.run,
            model,
            lambda: self._brief(channel, hands.news),
            self.bus,
            on_usage=record.count,
            on_summary=record.sum_up,
            afford=partial(self.budget.check, record),
        )

    def _hands(self, run: Run, channel: Channel, model: Model, call_ids: Mapping[str, str]) -> RunHands:
        context = CallContext(
            channel_id=channel.id,
            directory=channel.dir_path,
            run_id=run.id,
            author_id=run.author_id,
            attended=run.options.attended,
            allow=run.options.allow,
        )
        share = self.settings.current.tool_search_budget
        budget = int(model.info.context * share) if share else None
        return RunHands(self.tools, channel, context, budget, call_ids, self.speakers)

    def _limit(self, run: Run) -> int:
        return run.options.max_iterations or self.settings.current.mcp_max_iterations

    async def _settle(self, run: Run) -> None:
        """Before the first iteration, also of a run that goes on: wait for servers that are still connecting,
        and say so.
        """
        seconds = self.settings.current.first_iteration_wait_s
        if awaited := await self.speakers.settled(0):
            self._notice(run, f"Waiting for {', '.join(awaited)} to connect, {seconds:g} s at most.")
            if late := await self.speakers.settled(seconds):
                self._notice(run, f"Starting without {', '.join(late)}: still connecting.")

    def _notice(self, run: Run, text: str) -> None:
        self.bus.publish("run.notice", {"run_id": run.id, "text": text}, channel_id=run.channel_id)

    async def _turns(self, history: Sequence[Message]) -> list[Turn]:
        names = tool_names(history)
        turns = []
        for message in history:
            files = [await self.attachments.load(reference) for reference in message.attachments]
            turn = to_turn(message, files, names.get(message.tool_call_id or ""))
            if turn is not None:
                turns.append(turn)
        return turns

    async def _pick_up(
        self, run: Run, channel: Channel, history: Sequence[Message], record: RunRecord, hands: RunHands
    ) -> Sequence[Turn]:
        """Finish the calls that a crash cut: known results are used, reads repeated, the rest reported."""
        left = remaining([message for message in history if message.run_id == run.id])
        if left is None:
            return []
        record.call_ids |= {call.id: call.call_id for call in left.calls}
        results = [await self._outcome(call, channel, hands, left.iteration) for call in left.calls]
        await record.observed(results, left.iteration)
        return results

    async def _outcome(self, asked: AskedCall, channel: Channel, hands: RunHands, iteration: int) -> Turn:
        call = ToolRequest(asked.id, asked.name, asked.arguments)
        known = await self.tools.find_call(asked.call_id)
        if known is None:
            return await hands.call(call, iteration)
        if known.code != "interrupted" and known.status is not CallStatus.PENDING:
            return turn_of(call, known)
        if await self.tools.is_read_only(asked.name, channel):
            hands.call_ids = {key: value for key, value in hands.call_ids.items() if key != asked.id}
            return await hands.call(call, iteration)
        return Turn("tool", INTERRUPTED, call_id=asked.id, tool=asked.name, is_error=True)
