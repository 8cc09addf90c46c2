"""Runs: one at a time per channel, others wait in order, all survive a restart.

A run is started, followed through events, stopped, and picked up again from its record after a crash. How
one is worked
on is in `work.py`; here are the queue and the states.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from sqlalchemy import Connection

from manyhands.chat import message_store, run_store
from manyhands.chat.attachments import AttachmentStore
from manyhands.chat.expansion import Offers, expand
from manyhands.chat.loop import Ending
from manyhands.chat.replay import compare, transcript
from manyhands.chat.types import Channel, Message, Run, RunOptions, RunStatus
from manyhands.chat.usage import By, Rows, select_usage
from manyhands.chat.views import message_json, run_json
from manyhands.chat.work import Channels, Workshop
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, ManyhandsError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.models.types import Attachment
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.store.engine import Store

log = logging.getLogger(__name__)

PROMPT_LIMIT = 1_000_000


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
    ) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._channels = channels
        self._attachments = attachments
        self._workshop = workshop
        self._offers = offers
        self._waiting: dict[str, deque[str]] = {}
        self._active: dict[str, str] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._group: TaskGroup | None = None
        bus.observe(self._follow_approvals)

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Work on runs until cancelled; first go on with those that a restart left open."""
        async with anyio.create_task_group() as group:
            self._group = group
            for run in await self._store.read(run_store.select_open):
                self._enqueue(run)
            task_status.started()
            await anyio.sleep_forever()

    # --- starting

    async def start(
        self,
        channel_id: str,
        prompt: str,
        options: RunOptions | None = None,
        attachments: Sequence[Attachment] = (),
        author_id: str = "owner",
        history: Sequence[Message] = (),
    ) -> Run:
        """A new run with this prompt, behind whatever the channel is working on.

        `history`: what was said before in a conversation that another program keeps.
        """
        channel = await self._channels.get(channel_id)
        run = self._new_run(channel_id, options or RunOptions(), author_id)
        message = await self._new_message(channel, prompt, attachments, author_id)
        message = replace(message, run_id=run.id)

        def work(conn: Connection) -> None:
            run_store.insert_run(conn, run)
            message_store.insert_messages(conn, [*history, message])

        await self._store.write(work)
        self._bus.publish("message.created", message_json(message), channel_id=channel_id)
        self._bus.publish("run.queued", run_json(run), channel_id=channel_id)
        self._enqueue(run)
        return run

    async def post(
        self, channel_id: str, content: str, attachments: Sequence[Attachment] = (), author_id: str = "owner"
    ) -> tuple[Message, Run | None]:
        """A message: it joins the run that is going on, or starts one."""
        if channel_id not in self._active:
            run = await self.start(channel_id, content, None, attachments, author_id)
            first = await self._store.read(lambda conn: message_store.select_of_run(conn, run.id)[0])
            return first, run
        channel = await self._channels.get(channel_id)
        message = replace(await self._new_message(channel, content, attachments, author_id), state="queued")
        await self._store.write(lambda conn: message_store.insert_messages(conn, [message]))
        self._bus.publish("message.created", message_json(message), channel_id=channel_id)
        # The run may have ended while the message was being stored.
        return message, None if channel_id in self._active else await self._adopt_queued(channel_id)

    async def withdraw(self, message_id: str) -> Message:
        """Take back a message that no run has read yet."""
        changed = await self._store.write(
            lambda conn: message_store.change_state(conn, message_id, "queued", "withdrawn")
        )
        return await self._after_change(message_id, changed)

    async def edit(self, message_id: str, content: str) -> Message:
        """Change a message that no run has read yet."""
        _check_prompt(content)
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

    async def _new_message(
        self, channel: Channel, content: str, attachments: Sequence[Attachment], author_id: str
    ) -> Message:
        _check_prompt(content)
        meant = await expand(content, channel, self._offers)
        files = (*attachments, *meant.attachments)
        return Message(
            id=new_id("msg"),
            channel_id=channel.id,
            role="user",
            content=meant.text,
            at=self._clock.now(),
            author_id=author_id,
            attachments=[await self._attachments.keep(attachment) for attachment in files],
        )

    def _new_run(self, channel_id: str, options: RunOptions, author_id: str) -> Run:
        return Run(
            id=new_id("run"),
            channel_id=channel_id,
            status=RunStatus.QUEUED,
            options=options,
            created_at=self._clock.now(),
            author_id=author_id,
            first_seq=self._bus.seq,
        )

    # --- reading

    async def get(self, run_id: str) -> Run:
        run = await self._store.read(lambda conn: run_store.select_run(conn, run_id))
        if run is None:
            raise NotFoundError(f"There is no run {run_id!r}.", hint="`manyhands runs list` shows them.")
        return run

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

    async def usage(self, by: By) -> Rows:
        """What was used so far, by run, by channel or by server."""
        return await self._store.read(lambda conn: select_usage(conn, by))

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
        if queue and run_id in queue:
            queue.remove(run_id)
        return await self._end(run, Ending(RunStatus.CANCELLED, ""))

    async def stop_soon(self, run_id: str) -> None:
        """Stop a run whose client is gone, whatever else is being cancelled."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            await self.cancel(run_id)

    # --- the queue

    def _enqueue(self, run: Run) -> None:
        self._waiting.setdefault(run.channel_id, deque()).append(run.id)
        if run.channel_id not in self._active:
            self._start_next(run.channel_id)

    def _start_next(self, channel_id: str) -> None:
        queue = self._waiting.get(channel_id)
        if not queue:
            self._waiting.pop(channel_id, None)
            return
        if self._group is None:
            raise ConflictError("Runs are not being served.", hint="Start the hub first.")
        run_id = queue.popleft()
        self._active[channel_id] = run_id
        self._scopes[run_id] = anyio.CancelScope()  # from now on stopping it means this
        self._group.start_soon(self._work, channel_id, run_id)

    async def _work(self, channel_id: str, run_id: str) -> None:
        try:
            await self._execute(await self.get(run_id))
        except Exception:  # border: one run's failure is its own
            log.exception("run %s failed", run_id)
        finally:
            self._active.pop(channel_id, None)
            self._scopes.pop(run_id, None)
        if not self._waiting.get(channel_id):
            await self._adopt_queued(channel_id)
        elif channel_id not in self._active:
            self._start_next(channel_id)

    async def _adopt_queued(self, channel_id: str) -> Run | None:
        """Messages that came too late for the run they were meant for get a run of their own."""
        run = self._new_run(channel_id, RunOptions(), "owner")

        def work(conn: Connection) -> bool:
            queued = message_store.select_queued(conn, channel_id)
            if queued:
                run_store.insert_run(conn, run)
            for message in queued:
                message_store.take_in(conn, message, new_id("msg"), run.id, 0)
            return bool(queued)

        if not await self._store.write(work):
            return None
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
            run = await self._change(run, status=RunStatus.RUNNING, started_at=started)
            self._bus.publish("run.started", run_json(run), channel_id=run.channel_id)
            try:
                ending = await self._workshop.work(run)
            except ManyhandsError as error:
                ending = Ending(RunStatus.FAILED, str(error))
            except Exception as error:  # border: whatever goes wrong is the run's outcome
                log.exception("run %s failed", run.id)
                ending = Ending(RunStatus.FAILED, f"The run failed: {error}")
        with anyio.CancelScope(shield=True):
            await self._end(await self.get(run.id), ending)

    async def _end(self, run: Run, ending: Ending) -> Run:
        failed = ending.status is RunStatus.FAILED
        values: dict[str, Any] = {"status": ending.status, "ended_at": self._clock.now(), "text": ending.text}
        run = await self._change(run, **values, error=ending.text if failed else None)
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
        await self._store.write(lambda conn: message_store.insert_messages(conn, [message]))
        self._bus.publish("message.created", message_json(message), channel_id=run.channel_id)

    async def _change(self, run: Run, **values: Any) -> Run:
        await self._store.write(lambda conn: run_store.update_run(conn, run.id, values))
        return replace(run, **values)

    def _follow_approvals(self, event: Event) -> None:
        """A run that waits for a person says so."""
        run_id = event.data.get("run_id") if event.type.startswith("approval.") else None
        if run_id not in self._scopes:
            return
        status = RunStatus.WAITING if event.type == "approval.requested" else RunStatus.RUNNING
        self._store.post(lambda conn: run_store.update_run(conn, str(run_id), {"status": status}))


def _check_prompt(text: str) -> None:
    if not text.strip():
        raise InvalidError("The message is empty.", hint="Write something.")
    if len(text) > PROMPT_LIMIT:
        raise InvalidError(
            f"The message has {len(text):,} characters.",
            hint=f"Up to {PROMPT_LIMIT:,} are taken; attach a file.",
        )
