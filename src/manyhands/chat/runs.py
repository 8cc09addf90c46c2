"""Runs: one at a time per channel, others wait in order, all survive a restart.

A run is started, followed through events, stopped, and picked up again from its record after a crash. How
one is worked
on is in `work.py`; here are the queue and the states.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from sqlalchemy import Connection

from manyhands.chat import message_store, run_store
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.days import make_calendar
from manyhands.chat.expansion import Offers
from manyhands.chat.live_words import LiveWords
from manyhands.chat.loop import Ending
from manyhands.chat.replay import compare, transcript
from manyhands.chat.starting import DEEPEST, decide_start
from manyhands.chat.types import Message, Run, RunOptions, RunStatus, Speaker
from manyhands.chat.usage import By, Rows, Split, select_usage, usage_of_days
from manyhands.chat.views import message_json, run_json
from manyhands.chat.work import Channels, Workshop
from manyhands.chat.writing import Names, OnlyHub, Writer, check_text
from manyhands.clock import Clock
from manyhands.errors import ConflictError, ManyhandsError, NotFoundError, TooManyError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.models.types import Attachment
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

log = logging.getLogger(__name__)

STOP_S = 30.0
LEFT_FOR = timedelta(days=1)
LOOK_AFTER_LEFT_S = 3600.0


class RunService:
    """The use cases of messages and runs."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        clock: Clock,
        channels: Channels,
        attachments: AttachmentStore,
        workshop: Workshop,
        offers: Offers,
        names: Names | None = None,
        holder: str | None = None,
    ) -> None:
        self._store = store
        self._holder = holder
        self._bus = bus
        self._clock = clock
        self._channels = channels
        self._workshop = workshop
        self.writer = Writer(store, bus, clock, attachments, offers, names or OnlyHub())
        self._waiting: dict[str, dict[str, Run]] = {}
        self._active: dict[str, str] = {}
        self._ended: dict[str, anyio.Event] = {}
        self._closing: set[str] = set()
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._asked: dict[str, set[str]] = {}
        self._group: TaskGroup | None = None
        self.words = LiveWords(bus)
        bus.observe(self._follow_approvals, "approval.")

    async def has_open(self) -> bool:
        """Whether a restart left runs open, which `serve` will go on with."""
        return bool(await self._open())

    async def _open(self) -> Sequence[Run]:
        return await self._store.read(lambda conn: run_store.select_open(conn, self._holder))

    async def serve(
        self, *, resume: bool = True, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Work on runs until cancelled; `resume`: first go on with those that a restart left open."""
        async with anyio.create_task_group() as group:
            self._group = group
            for run in await self._open() if resume else ():
                self._enqueue(run)
            task_status.started()
            while True:
                await self._clock.sleep(LOOK_AFTER_LEFT_S)
                await self.give_up_left()

    async def give_up_left(self) -> None:
        """End what a home that shares the database left open and has not come back to for a day.

        What a task or a workflow asked for is not among them: those are taken over with their work.
        """
        holder, now = self._holder, self._clock.now()
        if holder is None:
            return
        left = await self._store.write(lambda conn: run_store.take_left(conn, holder, now - LEFT_FOR, now))
        for run_id in left:
            text = "The hub that worked on this has not come back. Ask again."
            await self._end(run_id, Ending(RunStatus.FAILED, text))

    # --- starting

    async def start(
        self,
        channel_id: str,
        prompt: str,
        options: RunOptions | None = None,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
        history: Sequence[Message] = (),
        also: Callable[[Connection, Run], None] | None = None,
        run_id: str | None = None,
    ) -> Run:
        """A new run with this prompt, behind whatever the channel is working on.

        `history`: what was said before in a conversation that another program keeps. `also`: what else is
        stored in the same transaction. `run_id`: for whoever has written it down already.
        """
        channel = await self._channels.get(channel_id)
        options = options or RunOptions()
        message = await self.writer.write(channel, prompt, attachments, author_id, options.speaker)
        return await self._begin(message, options, history, also, run_id)

    async def _begin(
        self,
        message: Message,
        options: RunOptions,
        history: Sequence[Message] = (),
        also: Callable[[Connection, Run], None] | None = None,
        run_id: str | None = None,
    ) -> Run:
        channel_id = message.channel_id
        run = self._new_run(channel_id, options, message.author_id, run_id)
        message = replace(message, run_id=run.id)

        def work(conn: Connection) -> None:
            run_store.insert_run(conn, run)
            message_store.insert_messages(conn, [*history, message])
            if also is not None:
                also(conn, run)

        light = also is None and message_store.is_light([*history, message])
        await (self._store.write_now if light else self._store.write)(work)
        self._bus.publish("message.created", message_json(message), channel_id=channel_id)
        self._bus.publish("run.queued", run_json(run), channel_id=channel_id)
        self._enqueue(run)
        return run

    async def post(
        self,
        channel_id: str,
        content: str,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
        *,
        speaker: Speaker = "person",
        own_channel: str | None = None,
        in_own_run: bool = True,
    ) -> tuple[Message, Run | None]:
        """A message: it joins the run that is going on, starts one, or is only said (`starting.py`).

        `own_channel`: that of the agent that says it; `in_own_run`: it does a run there.
        """
        channel = await self._channels.get(channel_id)
        message = await self.writer.write(channel, content, attachments, author_id, speaker)
        start = decide_start(channel, message, own_channel if in_own_run else None)
        await self.writer.names.tell(message)
        if start.does == "nothing":
            return await self.writer.say(message), None
        if start.does == "joins" and channel_id in self._active:
            message = await self.writer.say(replace(message, state="queued"))
            # The run may have ended while the message was being stored.
            return message, None if channel_id in self._active else await self._adopt_queued(channel_id)
        run = await self._begin(message, await self.options_of(speaker, own_channel))
        return replace(message, run_id=run.id), run

    async def options_of(self, speaker: Speaker, own_channel: str | None) -> RunOptions:
        """For a run on somebody's word. Agents that start agents come to an end."""
        if speaker == "person":
            return RunOptions()
        own = self._active.get(own_channel or "")
        depth = (await self.get(own)).options.depth + 1 if own else 1
        if depth > DEEPEST:
            raise TooManyError(
                f"Agents have started agents {DEEPEST} times in a row here.",
                hint="Do it yourself, or let a person start the next one.",
            )
        return RunOptions(speaker=speaker, depth=depth)

    async def withdraw(self, message_id: str) -> Message:
        """Take back a message that no run has read yet."""
        changed = await self._store.write(
            lambda conn: message_store.change_state(conn, message_id, "queued", "withdrawn")
        )
        return await self._after_change(message_id, changed)

    async def edit(self, message_id: str, content: str) -> Message:
        """Change a message that no run has read yet."""
        check_text(content)
        changed = await self._store.write(
            lambda conn: message_store.change_content(conn, message_id, content)
        )
        return await self._after_change(message_id, changed)

    async def _after_change(self, message_id: str, changed: bool) -> Message:
        message = await self._store.read(lambda conn: message_store.select_message(conn, message_id))
        if message is None:
            raise NotFoundError(
                f"There is no message {message_id!r}.", hint="It may have been read by a run."
            )
        if not changed:
            raise ConflictError("The message has been read already.", hint="Send another one.")
        self._bus.publish("message.updated", message_json(message), channel_id=message.channel_id)
        return message

    def _new_run(
        self, channel_id: str, options: RunOptions, author_id: str, run_id: str | None = None
    ) -> Run:
        return Run(
            id=run_id or new_id("run"),
            channel_id=channel_id,
            status=RunStatus.QUEUED,
            options=options,
            created_at=self._clock.now(),
            author_id=author_id,
            first_seq=self._bus.seq,
            holder=self._holder,
        )

    async def take_over(self, run_id: str) -> None:
        """Go on with a run whose hub is gone; one that has ended or goes on here is left as it is."""
        run = await self.get(run_id)
        queued = self._waiting.get(run.channel_id, ())
        if run.status.ended or run_id in self._scopes or run_id in queued:
            return
        values = {"holder": self._holder}
        await self._store.write(lambda conn: run_store.update_run(conn, run_id, values))
        self._enqueue(replace(run, holder=self._holder))

    def is_working(self, channel_id: str) -> bool:
        """Whether the channel has a run that goes on or waits for its turn."""
        return channel_id in self._active or bool(self._waiting.get(channel_id))

    # --- reading

    async def get(self, run_id: str) -> Run:
        return _found(await self._store.read_now(lambda conn: run_store.select_run(conn, run_id)), run_id)

    async def list(
        self,
        channel_id: str | None = None,
        status: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[Run]:
        found = await self._store.read(
            lambda conn: run_store.select_runs(conn, channel_id, status, limit + 1, cursor)
        )
        items, more = cut_page(found, limit)
        return Page(items, items[-1].id if more else None)

    async def messages(
        self, channel_id: str, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[Message]:
        """Newest first."""
        await self._channels.get(channel_id)
        found = await self._store.read(
            lambda conn: message_store.select_page(conn, channel_id, limit + 1, cursor)
        )
        items, more = cut_page(found, limit)
        return Page(items, items[-1].id if more else None)

    async def named(self, run_ids: Sequence[str]) -> Sequence[Run]:
        """Runs by their ids."""
        return await self._store.read(lambda conn: run_store.select_named(conn, run_ids)) if run_ids else []

    async def messages_of(self, run_id: str) -> Sequence[Message]:
        await self.get(run_id)
        return await self._store.read(lambda conn: message_store.select_of_run(conn, run_id))

    async def replay(self, run_id: str, model: str | None = None) -> dict[str, Any]:
        """Run it again against its record, and show where it went another way."""
        run = await self.get(run_id)
        again = await self._workshop.replay(run, model)
        before = transcript(await self.messages_of(run_id))
        return {
            "run_id": run_id,
            "model": model or run.model,
            "status": again.ending.status.value,
            "text": again.ending.text,
            "iterations": again.iterations,
            "unknown_calls": list(again.unknown),
            "diff": compare(before, again.transcript, run_id, "replay"),
        }

    async def diff(self, one: str, other: str) -> dict[str, Any]:
        """Two runs compared as transcripts."""
        left, right = transcript(await self.messages_of(one)), transcript(await self.messages_of(other))
        text = compare(left, right, one, other)
        return {"runs": [one, other], "same": not text, "diff": text}

    async def usage(
        self, by: By, since: datetime | None = None, *, split: Split = "model", zone: str = "UTC"
    ) -> Rows:
        """What was used, all of it or since a moment; days are those of a zone, each split up."""
        if by != "day":
            return await self._store.read(lambda conn: select_usage(conn, by, since))
        calendar = make_calendar(zone, since, self._clock.now())
        return await self._store.read(lambda conn: usage_of_days(conn, calendar, split))

    # --- stopping

    async def cancel(self, run_id: str) -> Run:
        """Stop it: its model stream, its pending calls, or its place in the queue.

        Ended runs stay as they are.
        """
        run = await self.get(run_id)
        if run.status.ended:
            return run
        if scope := self._scopes.get(run_id):
            scope.cancel()
            return run
        queue = self._waiting.get(run.channel_id)
        if queue:
            queue.pop(run_id, None)
        return await self._end(run_id, Ending(RunStatus.CANCELLED, ""))

    async def stop_channel(self, channel_id: str) -> None:
        """Stop what goes on and what waits there, and wait until it has ended."""
        self._closing.add(channel_id)
        try:
            with anyio.move_on_after(STOP_S):
                while self.is_working(channel_id):
                    for run_id in list(self._waiting.get(channel_id, ())):
                        await self.cancel(run_id)
                    if run_id := self._active.get(channel_id, ""):
                        ended = self._ended[channel_id]
                        await self.cancel(run_id)
                        await ended.wait()
        finally:
            self._closing.discard(channel_id)

    async def stop_soon(self, run_id: str) -> None:
        """Stop a run whose client is gone, whatever else is being cancelled."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            await self.cancel(run_id)

    # --- the queue

    def _enqueue(self, run: Run) -> None:
        self._waiting.setdefault(run.channel_id, {})[run.id] = run
        if run.channel_id not in self._active:
            self._start_next(run.channel_id)

    def _start_next(self, channel_id: str) -> None:
        queue = self._waiting.get(channel_id)
        if not queue:
            self._waiting.pop(channel_id, None)
            return
        if self._group is None:
            raise ConflictError("Runs are not being served.", hint="Start the hub first.")
        run = queue.pop(next(iter(queue)))
        self._active[channel_id] = run.id
        self._ended[channel_id] = anyio.Event()
        self._scopes[run.id] = anyio.CancelScope()  # from now on stopping it means this
        self._group.start_soon(self._work, channel_id, run)

    async def _work(self, channel_id: str, run: Run) -> None:
        try:
            await self._execute(run)
        except Exception:  # border: one run's failure is its own
            log.exception("run %s failed", run.id)
        finally:
            self._active.pop(channel_id, None)
            self._scopes.pop(run.id, None)
            self._asked.pop(run.id, None)
            self._ended.pop(channel_id).set()
        if not self._waiting.get(channel_id):
            await self._adopt_queued(channel_id)
        elif channel_id not in self._active:
            self._start_next(channel_id)

    async def _adopt_queued(self, channel_id: str) -> Run | None:
        """Messages that came too late for the run they were meant for get a run of their own."""
        queued = await self._store.read_now(lambda conn: message_store.select_queued(conn, channel_id))
        if not queued or channel_id in self._closing:
            return None
        run = self._new_run(channel_id, RunOptions(), "owner")

        def work(conn: Connection) -> list[tuple[str, Message]]:
            queued = message_store.select_queued(conn, channel_id)
            if queued:
                run_store.insert_run(conn, run)
            return [(message.id, _adopt(conn, message, run.id)) for message in queued]

        adopted = await self._store.write(work)
        if not adopted:
            return None
        for old_id, message in adopted:
            told = message_json(message) | {"replaces": old_id}
            self._bus.publish("message.updated", told, channel_id=channel_id)
        self._bus.publish("run.queued", run_json(run), channel_id=channel_id)
        self._enqueue(run)
        return run

    async def _execute(self, run: Run) -> None:
        """Work on it in a scope of its own.

        When the hub itself stops, the run stays open and goes on later.
        """
        ending = Ending(RunStatus.CANCELLED, "")
        with self._scopes[run.id]:
            started = run.started_at or self._clock.now()
            run = replace(run, status=RunStatus.RUNNING, started_at=started)
            values = {"status": run.status, "started_at": started}
            await self._store.write_now(lambda conn: run_store.update_run(conn, run.id, values))
            self._bus.publish("run.started", run_json(run), channel_id=run.channel_id)
            try:
                ending = await self._workshop.work(run)
            except ManyhandsError as error:
                ending = Ending(RunStatus.FAILED, str(error))
            except Exception as error:  # border: whatever goes wrong is the run's outcome
                log.exception("run %s failed", run.id)
                ending = Ending(RunStatus.FAILED, f"The run failed: {error}")
        with anyio.CancelScope(shield=True):
            await self._end(run.id, ending)

    async def _end(self, run_id: str, ending: Ending) -> Run:
        failed = ending.status is RunStatus.FAILED
        values: dict[str, Any] = {"status": ending.status, "ended_at": self._clock.now(), "text": ending.text}
        values["error"] = ending.text if failed else None
        # What was posted while it waited for a person must not come after this.
        write = self._store.write if run_id in self._asked else self._store.write_now
        run = _found(await write(lambda conn: run_store.end_run(conn, run_id, values)), run_id)
        if said := self.words.left_by(run, self._clock.now()):
            await self._add(said)
        await self._note_ending(run, ending)
        self._bus.publish("run.finished", run_json(run), channel_id=run.channel_id)
        return run

    async def _note_ending(self, run: Run, ending: Ending) -> None:
        """A run that ended without the model's own words says why, in the conversation."""
        if ending.status in (RunStatus.COMPLETED, RunStatus.CANCELLED) or not ending.text:
            return
        message = Message(
            id=new_id("msg"),
            channel_id=run.channel_id,
            role="system",
            content=ending.text,
            at=self._clock.now(),
            author_id="hub",
            run_id=run.id,
            is_error=ending.status is RunStatus.FAILED,
        )
        await self._add(message)

    async def _add(self, message: Message) -> None:
        await self._store.write(lambda conn: message_store.insert_messages(conn, [message]))
        self._bus.publish("message.created", message_json(message), channel_id=message.channel_id)

    def _follow_approvals(self, event: Event) -> None:
        """A run that waits for a person says so."""
        run_id = event.data.get("run_id")
        if run_id not in self._scopes:
            return
        asked = self._asked.setdefault(run_id, set())
        if event.type == "approval.requested":
            asked.add(event.data["id"])
        else:
            asked.discard(event.data["id"])
        status = RunStatus.WAITING if asked else RunStatus.RUNNING
        self._store.post(lambda conn: run_store.update_run(conn, str(run_id), {"status": status}))


def _found(run: Run | None, run_id: str) -> Run:
    if run is None:
        raise NotFoundError(f"There is no run {run_id!r}.", hint="`manyhands runs list` shows them.")
    return run


def _adopt(conn: Connection, message: Message, run_id: str) -> Message:
    moved = replace(message, id=new_id("msg"), state="sent", run_id=run_id, iteration=0)
    message_store.take_in(conn, message, moved.id, run_id, 0)
    return moved
