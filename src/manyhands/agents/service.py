"""Who is there, and messages between them that do not get lost.

An agent is on the registry while it listens, and for the length of a lease after it was last heard of: so one
that was killed goes too. A message is stored before its sender is told that it is queued, and is delivered
again until its receiver has confirmed it. What an agent says is never more than a message: nothing here
answers for a person or starts anything.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import anyio
from anyio.abc import TaskStatus
from sqlalchemy import Connection

from manyhands.agents import rules
from manyhands.agents import store as rows
from manyhands.agents.mailbox import Deliveries, Mailbox
from manyhands.agents.types import OWNER, Agent, AgentMessage, AgentView, Receipt
from manyhands.clock import Clock
from manyhands.errors import ConflictError, InvalidError, NotFoundError, TooManyError, UnavailableError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.paging import DEFAULT_LIMIT, Page, cut_page
from manyhands.settings import CurrentSettings
from manyhands.store.engine import Store

LEASE_S = 60.0
LOOK_S = 5.0
"""How often leases and messages are looked at while there are any."""
CLEAN_S = 6 * 3600.0
MOST_AGENTS = 1000
BOX_BYTES = 16 * 1024 * 1024
TOLD_CHARS = 4000
MAIL_AT_ONCE = 50
MAIL_CHARS = 50_000

Key = tuple[str, str]


class AgentService:
    """The use cases of agents."""

    def __init__(self, store: Store, bus: EventBus, clock: Clock, settings: CurrentSettings) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._agents: dict[Key, Agent] = {}
        self._leases: dict[Key, float] = {}
        self._boxes: dict[Key, Mailbox] = {}
        self._seq = 0
        self._changed = anyio.Event()
        self._channel_gone = False
        self._cleaned_at = 0.0
        bus.observe(self._follow_channels, "channel.deleted")

    # --- life

    async def start(self) -> None:
        """Read what is known. Nobody could be heard of while the hub was down, so every lease begins anew."""
        for agent in await self._store.read(rows.select_agents):
            self._agents[agent.channel_id, agent.id] = agent
            self._lease(agent)
        for message in await self._store.read(rows.select_queued):
            self._box(message.channel_id, message.to_agent_id).put(message)
        self._seq = await self._store.read(rows.last_seq)
        self._cleaned_at = self._clock.monotonic()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Let leases and messages end; runs as long as the hub does."""
        task_status.started()
        while True:
            self._changed = anyio.Event()
            if not (self._agents or self._boxes or self._channel_gone):
                await self._changed.wait()
            with suppress(UnavailableError):  # the database cannot be written now; the next look does it
                await self.look()
            await self._clock.sleep(LOOK_S)

    async def look(self) -> None:
        """Take off those whose lease is over, and end messages that nobody has fetched in time."""
        if self._channel_gone:
            await self._forget_channels()
        now = self._clock.monotonic()
        for key, until in builtins.list(self._leases.items()):
            if until <= now and not self._listens(key):
                await self._take_off(key, "lease")
        await self._expire_messages()
        self._boxes = {key: box for key, box in self._boxes.items() if not box.idle}
        if now - self._cleaned_at >= CLEAN_S:
            self._cleaned_at = now
            before = self._clock.now() - timedelta(days=self._settings.current.retention_calls_days)
            while await self._store.write(lambda conn: rows.delete_old(conn, before)):
                pass

    # --- registry

    async def register(self, channel_id: str, agent_id: str, name: str | None = None) -> Agent:
        """Put an agent on the registry, or begin its lease anew; what it said of itself before stays."""
        rules.check_agent_id(agent_id)
        before = self._agents.get((channel_id, agent_id))
        now = self._clock.now()
        if before is None and sum(1 for key in self._agents if key[0] == channel_id) >= MOST_AGENTS:
            raise TooManyError(f"{MOST_AGENTS} agents are in this channel.", hint="End some of them first.")
        agent = before or Agent(channel_id, agent_id, agent_id, rules.DEFAULT_STATUS, "", now, now)
        agent = replace(agent, last_seen=now, name=agent.name if name is None else rules.check_name(name))
        await self._keep(agent, check_channel=before is None)
        if before is None:
            self._announce("agent.registered", agent)
        elif before.name != agent.name:
            self._announce("agent.updated", agent)
        return agent

    def renew(self, channel_id: str, agent_id: str) -> None:
        """It was heard of: its lease begins anew."""
        if agent := self._agents.get((channel_id, agent_id)):
            self._seen(agent)

    async def update(
        self,
        channel_id: str,
        agent_id: str,
        *,
        name: str | None = None,
        work_summary: str | None = None,
        status: str | None = None,
    ) -> Agent:
        """What an agent says of itself; what is not given stays."""
        agent = self._get(channel_id, agent_id)
        said: dict[str, Any] = {}
        if name is not None:
            said["name"] = rules.check_name(name)
        if work_summary is not None:
            said["work_summary"] = rules.check_summary(work_summary)
        if status is not None:
            said["status"] = rules.check_status(status)
        agent = replace(agent, last_seen=self._clock.now(), **said)
        await self._keep(agent, check_channel=False)
        self._announce("agent.updated", agent)
        return agent

    async def unregister(self, channel_id: str, agent_id: str) -> None:
        """Take it off the registry. What waits for it stays until it comes back, or expires."""
        self._get(channel_id, agent_id)
        await self._take_off((channel_id, agent_id), "ended")

    async def list(self, channel_id: str | None = None, me: str | None = None) -> Sequence[AgentView]:
        """Those of a channel, or all; by name, and with a mark on the one who asks."""
        return [self._view(agent, me) for agent in rules.in_order(self._of(channel_id))]

    async def get(self, channel_id: str, agent_id: str) -> AgentView:
        return self._view(self._get(channel_id, agent_id))

    def channel_of(self, agent_id: str) -> str:
        """The one channel in which an agent of that id is."""
        found = [key[0] for key in self._agents if key[1] == agent_id]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidError(
                f"{len(found)} channels have an agent {agent_id!r}.", hint="Say which: channel_id=…"
            )
        raise rules.unknown_agent(self._of(None), agent_id)

    # --- messages

    async def send(
        self,
        channel_id: str,
        from_agent: str,
        to_agent_id: str,
        content: str,
        message_id: str | None = None,
    ) -> AgentMessage:
        """Put a message into an agent's box; when this returns, it is stored.

        `message_id`: an id of the sender's own, so that sending again after a failure is recognised.
        """
        rules.check_content(content)
        if message_id is not None:
            rules.check_message_id(message_id)
        if from_agent != OWNER:
            self._seen(self._get(channel_id, from_agent))
        receiver = rules.find_agent(self._of(channel_id), to_agent_id)
        box = self._box(channel_id, receiver.id)
        async with box.turn:
            message = await self._store_message(box, channel_id, from_agent, receiver.id, content, message_id)
        self._read_by_answer(channel_id, from_agent, receiver.id)
        return message

    async def _store_message(
        self, box: Mailbox, channel_id: str, sender: str, to: str, content: str, given_id: str | None
    ) -> AgentMessage:
        if given_id is not None and (known := await self._known(given_id)):
            return _same_message(known, channel_id, sender, to, content)
        self._check_room(box, to)
        self._seq += 1
        now = self._clock.now()
        message = AgentMessage(
            given_id or new_id("amsg"), self._seq, channel_id, sender, to, content, Receipt.QUEUED, now
        )
        if given_id is None:
            await self._store.write_now(lambda conn: rows.insert_message(conn, message))
        else:
            kept = await self._store.write(lambda conn: rows.insert_again(conn, message))
            if kept is not message:
                return _same_message(kept, channel_id, sender, to, content)
        self._tell_message(message)
        box.put(message)
        return message

    async def _known(self, message_id: str) -> AgentMessage | None:
        return await self._store.read(lambda conn: rows.select_message(conn, message_id))

    async def history(
        self, channel_id: str, agent_id: str | None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[AgentMessage]:
        """What an agent has sent and been sent, newest first; of all agents when none is named."""
        if cursor is not None and not cursor.isdecimal():
            raise InvalidError("The cursor is not one of ours.", hint="Send back `next_cursor` as it came.")
        before = int(cursor) if cursor else None
        await self._store.flush()  # with the receipts that are on their way
        found = await self._store.read(
            lambda conn: rows.select_history(conn, channel_id, agent_id, limit + 1, before)
        )
        if not found and agent_id is not None and (channel_id, agent_id) not in self._agents:
            raise rules.unknown_agent(self._of(channel_id), agent_id)
        items, more = cut_page(found, limit)
        return Page(items, str(items[-1].seq) if more else None)

    @asynccontextmanager
    async def deliveries(self, channel_id: str, agent_id: str) -> AsyncIterator[Deliveries]:
        """Listen for an agent, which is on the registry as long as that lasts.

        Messages come in the order in which each sender has sent them, and again until `ack`. It ends when
        the agent is taken off the registry.
        """
        agent = await self.register(channel_id, agent_id)
        box = self._box(channel_id, agent_id)
        listener = Deliveries(box, self._clock)
        box.listeners.add(listener)
        self._announce("agent.updated", agent)
        try:
            yield listener
        finally:
            box.listeners.discard(listener)
            if current := self._agents.get((channel_id, agent_id)):
                self._seen(current)
                self._announce("agent.updated", current)

    def ack(self, channel_id: str, agent_id: str, message_id: str) -> bool:
        """The receiver has it; whether it was still waiting."""
        box = self._box(channel_id, agent_id)
        message = box.take(message_id)
        if message is None:
            return False
        at = self._clock.now()
        message = replace(message, state=Receipt.DELIVERED, delivered_at=at)
        box.note_delivered(replace(message, content=message.content[:TOLD_CHARS]))
        # Not awaited: what a crash forgets is delivered again, and recognised by its id.
        self._store.post(lambda conn: rows.set_delivered(conn, message_id, at))
        self._tell_message(message)
        return True

    async def read(
        self, channel_id: str, agent_id: str, message_ids: Sequence[str] | None = None
    ) -> Sequence[AgentMessage]:
        """The agent reads what it has not read, all of it or these; no need to deliver that any more."""
        at = self._clock.now()
        await self._store.flush()  # receipts that are on their way must not come after this one
        found = await self._store.write(
            lambda conn: rows.set_read(conn, channel_id, agent_id, message_ids, at)
        )
        box = self._box(channel_id, agent_id)
        read = [_read(message, at) for message in found]
        taken = [message.id for message in read if box.take(message.id) is None]
        if taken:  # a confirmation that came meanwhile may be written after this
            self._store.post(lambda conn: rows.end_delivered(conn, taken, at))
        for message in read:
            box.delivered.pop(message.id, None)
            self._tell_message(message)
        return read

    async def take_mail(self, channel_id: str, agent_id: str) -> tuple[Sequence[AgentMessage], int]:
        """What an agent has not read, oldest first and as much as one answer holds; and how many are left.

        For agents whose client shows them nothing that is pushed: what this returns is read.
        """
        await self._store.flush()
        found, count = await self._store.read(
            lambda conn: rows.select_unread(conn, channel_id, agent_id, MAIL_AT_ONCE)
        )
        fitting = rules.fitting(found, MAIL_CHARS)
        read = await self.read(channel_id, agent_id, [message.id for message in fitting]) if fitting else ()
        return read, count - len(fitting)

    # --- parts

    def _read_by_answer(self, channel_id: str, agent_id: str, answered: str) -> None:
        """Whoever answers has read what came before."""
        box = self._boxes.get((channel_id, agent_id))
        found = [one for one in box.delivered.values() if one.from_agent == answered] if box else []
        if box is None or not found:
            return
        at = self._clock.now()
        self._store.post(lambda conn: rows.end_delivered(conn, [one.id for one in found], at))
        for message in found:
            del box.delivered[message.id]
            self._tell_message(replace(message, state=Receipt.READ, ended_at=at))

    def _check_room(self, box: Mailbox, agent_id: str) -> None:
        most = self._settings.current.agent_mailbox_limit
        if len(box.waiting) >= most or box.size >= BOX_BYTES:
            raise TooManyError(
                f"The mailbox of {agent_id!r} is full: {len(box.waiting):,} messages wait in it, and it has"
                " not fetched them.",
                hint="This message was not sent. Wait until the agent reads, or ask the person to look.",
                data={"waiting": len(box.waiting), "limit": most},
            )

    async def _expire_messages(self) -> None:
        now = self._clock.now()
        before = now - timedelta(seconds=self._settings.current.agent_message_ttl_s)
        old = [one for box in self._boxes.values() for one in _older(box.waiting.values(), before)]
        if not old:
            return
        await self._store.write(lambda conn: rows.set_expired(conn, [one.id for one in old], now))
        for message in old:
            if self._box(message.channel_id, message.to_agent_id).take(message.id):
                self._tell_message(replace(message, state=Receipt.EXPIRED, ended_at=now))

    async def _keep(self, agent: Agent, *, check_channel: bool) -> None:
        def work(conn: Connection) -> None:
            if check_channel and not rows.has_channel(conn, agent.channel_id):
                raise NotFoundError(
                    f"There is no channel {agent.channel_id!r}.", hint="`manyhands channels list` shows them."
                )
            rows.put_agent(conn, agent)

        await self._store.write(work)
        self._agents[agent.channel_id, agent.id] = agent
        self._lease(agent)

    def _seen(self, agent: Agent) -> None:
        agent = replace(agent, last_seen=self._clock.now())
        self._agents[agent.channel_id, agent.id] = agent
        self._lease(agent)

    def _lease(self, agent: Agent) -> None:
        self._leases[agent.channel_id, agent.id] = self._clock.monotonic() + LEASE_S
        self._changed.set()

    async def _take_off(self, key: Key, reason: str) -> None:
        await self._store.write(lambda conn: rows.delete_agent(conn, *key))
        self._leases.pop(key, None)
        agent = self._agents.pop(key, None)
        if agent is not None:
            self._bus.publish("agent.unregistered", agent.wire() | {"reason": reason}, channel_id=key[0])
        if box := self._boxes.get(key):
            box.close()

    def _follow_channels(self, event: Event) -> None:
        if event.type == "channel.deleted":
            self._channel_gone = True
            self._changed.set()

    async def _forget_channels(self) -> None:
        """Agents and messages went with their channel; its threads' too."""
        self._channel_gone = False
        kept = {(agent.channel_id, agent.id) for agent in await self._store.read(rows.select_agents)}
        for key in [key for key in self._agents if key not in kept]:
            await self._take_off(key, "channel")
            self._boxes.pop(key, None)

    def _of(self, channel_id: str | None) -> builtins.list[Agent]:
        return [agent for key, agent in self._agents.items() if channel_id in (None, key[0])]

    def _get(self, channel_id: str, agent_id: str) -> Agent:
        agent = self._agents.get((channel_id, agent_id))
        if agent is None:
            raise rules.unknown_agent(self._of(channel_id), agent_id)
        return agent

    def _box(self, channel_id: str, agent_id: str) -> Mailbox:
        box = self._boxes.get((channel_id, agent_id))
        if box is None:
            box = self._boxes[channel_id, agent_id] = Mailbox()
            self._changed.set()
        return box

    def _listens(self, key: Key) -> bool:
        box = self._boxes.get(key)
        return box is not None and bool(box.listeners)

    def _view(self, agent: Agent, me: str | None = None) -> AgentView:
        key = agent.channel_id, agent.id
        box = self._boxes.get(key)
        listening = self._listens(key)
        seen = replace(agent, last_seen=self._clock.now()) if listening else agent
        return AgentView(seen, listening, len(box.waiting) if box else 0, agent.id == me)

    def _announce(self, event: str, agent: Agent) -> None:
        self._bus.publish(event, self._view(agent).wire(), channel_id=agent.channel_id)

    def _tell_message(self, message: AgentMessage) -> None:
        data = message.wire()
        if len(message.content) > TOLD_CHARS:
            data |= {"content": message.content[:TOLD_CHARS], "cut": True}
        self._bus.publish("agent.message", data, channel_id=message.channel_id)


def _older(messages: Iterable[AgentMessage], before: datetime) -> Iterable[AgentMessage]:
    """Those sent before that time; they are in order, so the first younger one ends it."""
    for message in messages:
        if message.at >= before:
            return
        yield message


def _read(message: AgentMessage, at: datetime) -> AgentMessage:
    return replace(message, state=Receipt.READ, delivered_at=message.delivered_at or at, ended_at=at)


def _same_message(known: AgentMessage, channel_id: str, sender: str, to: str, content: str) -> AgentMessage:
    """What was sent before under this id, if it is what is being sent again."""
    if (known.channel_id, known.from_agent, known.to_agent_id, known.content) != (
        channel_id,
        sender,
        to,
        content,
    ):
        raise ConflictError(
            f"Another message has the id {known.id!r}.", hint="Choose a new id, or leave it to the hub."
        )
    return known
