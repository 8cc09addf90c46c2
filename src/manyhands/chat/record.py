"""The record of one run: every step is stored as it happens, and announced when it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from manyhands.chat import message_store, run_store
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.history import select_history
from manyhands.chat.recovery import to_turn
from manyhands.chat.types import AskedCall, Message, Role, Run
from manyhands.chat.views import message_json, run_json
from manyhands.clock import Clock
from manyhands.events import EventBus
from manyhands.ids import new_id
from manyhands.models.types import ModelInfo, Reply, ToolRequest, Turn, Usage
from manyhands.store.engine import Store


@dataclass
class RunRecord:
    """`Record` of one run; holds the run's newest state."""

    run: Run
    info: ModelInfo
    store: Store
    bus: EventBus
    clock: Clock
    attachments: AttachmentStore
    call_ids: dict[str, str] = field(default_factory=dict)
    """The model's call ids to ours."""

    async def take_in(self) -> Sequence[Turn]:
        """Queued messages become part of the run at the place where the model reads them."""
        channel_id = self.run.channel_id
        if not await self.store.read_now(lambda conn: message_store.select_queued(conn, channel_id)):
            return []
        taken = await self.store.write(self._take_in)
        turns = []
        for old_id, message in taken:
            told = message_json(message) | {"replaces": old_id}
            self.bus.publish("message.updated", told, channel_id=self.run.channel_id)
            files = [await self.attachments.load(reference) for reference in message.attachments]
            turn = to_turn(message, files)
            if turn is not None:
                turns.append(turn)
        return turns

    def _take_in(self, conn: Connection) -> list[tuple[str, Message]]:
        """What was taken in, each with the id that it had before."""
        taken = []
        for message in message_store.select_queued(conn, self.run.channel_id):
            moved = replace(message, id=new_id("msg"), state="sent", run_id=self.run.id)
            if message_store.take_in(conn, message, moved.id, self.run.id, self.run.iterations + 1):
                taken.append((message.id, moved))
        return taken

    async def replied(self, reply: Reply, iteration: int) -> Reply:
        """Store the reply with its calls, each under an id of its own, before any call starts."""
        reply = replace(reply, calls=_distinct(reply.calls))
        calls = tuple(AskedCall(call.id, call.name, call.arguments, new_id("call")) for call in reply.calls)
        self.call_ids |= {call.id: call.call_id for call in calls}
        message = self._message("assistant", reply.text, iteration)
        message = replace(
            message,
            tool_calls=calls,
            thinking=reply.thinking,
            usage=usage_json(reply.usage),
            model=reply.model or (reply.by or self.info).model,
            finish_reason=reply.finish_reason,
        )
        self._count(reply, iteration)
        await self._write([message])
        self._announce(message)
        data = {"run_id": self.run.id, "iteration": iteration, "finish_reason": reply.finish_reason}
        self.bus.publish(
            "run.iteration", data | {"usage": usage_json(reply.usage)}, channel_id=self.run.channel_id
        )
        return reply

    async def observed(self, results: Sequence[Turn], iteration: int) -> None:
        """Store the results, in the order of the calls, before the model sees them."""
        messages = [await self._result(result, iteration) for result in results]
        await self._write(messages)
        for message in messages:
            self._announce(message)

    async def _write(self, messages: Sequence[Message]) -> None:
        write = self.store.write_now if message_store.is_light(messages) else self.store.write
        await write(lambda conn: self._save(conn, messages))

    async def count(self, reply: Reply) -> None:
        """What was spent beside the loop."""
        self._count(reply, self.run.iterations)
        await self.store.write(lambda conn: self._save(conn, []))

    async def sum_up(self, after: int, text: str) -> None:
        """Keep a summary; `after` turns come after those that it stands for.

        Whoever reads the conversation from now on, this run after a restart too, reads it from there.
        """
        message = replace(self._message("system", text, self.run.iterations), author_id=self.info.id)
        self._announce(await self.store.write(lambda conn: self._sum_up(conn, message, after)))

    def _sum_up(self, conn: Connection, message: Message, after: int) -> Message:
        shown = [one for one in select_history(conn, self.run) if to_turn(one) is not None]
        last = shown[len(shown) - after - 1]
        message = replace(message, covers=last.covers or last.id)
        message_store.insert_messages(conn, [message])
        return message

    async def _result(self, result: Turn, iteration: int) -> Message:
        kept = [await self.attachments.keep(attachment) for attachment in result.attachments]
        message = self._message("tool", result.text, iteration)
        return replace(message, tool_call_id=result.call_id, is_error=result.is_error, attachments=kept)

    def _message(self, role: Role, content: str, iteration: int) -> Message:
        author = self.info.id if role == "assistant" else "hub"
        return Message(
            id=new_id("msg"),
            channel_id=self.run.channel_id,
            role=role,
            content=content,
            at=self.clock.now(),
            author_id=author,
            run_id=self.run.id,
            iteration=iteration,
        )

    def _count(self, reply: Reply, iteration: int) -> None:
        """At the price of the model that answered, which may be another one than was asked first."""
        total = usage_from(self.run.usage) + reply.usage
        cost, price = self.run.cost, (reply.by or self.info).price
        if price is not None:
            cost = (cost or 0.0) + price.cost(reply.usage)
        self.run = replace(self.run, iterations=iteration, usage=usage_json(total), cost=cost)

    def _save(self, conn: Connection, messages: Sequence[Message]) -> None:
        message_store.insert_messages(conn, messages)
        values = {"iterations": self.run.iterations, "usage": dict(self.run.usage), "cost": self.run.cost}
        run_store.update_run(conn, self.run.id, values)

    def _announce(self, message: Message) -> None:
        self.bus.publish("message.created", message_json(message), channel_id=self.run.channel_id)

    def snapshot(self) -> dict[str, object]:
        """The run as events show it."""
        return run_json(self.run)


def usage_json(usage: Usage) -> dict[str, int]:
    return {"input": usage.input, "output": usage.output, "cached": usage.cached}


def usage_from(values: object) -> Usage:
    return Usage(**values) if isinstance(values, dict) else Usage()


def _distinct(calls: Sequence[ToolRequest]) -> tuple[ToolRequest, ...]:
    """Calls whose ids are all different and not empty, whatever the model wrote."""
    seen: set[str] = set()
    distinct = []
    for call in calls:
        fresh = call if call.id and call.id not in seen else replace(call, id=new_id("tc"))
        seen.add(fresh.id)
        distinct.append(fresh)
    return tuple(distinct)
