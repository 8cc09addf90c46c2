"""The registry with its leases, and mailboxes from which nothing gets lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from manyhands.agents.mailbox import REDELIVER_S, Deliveries
from manyhands.agents.service import LEASE_S, AgentService
from manyhands.agents.types import AgentMessage
from manyhands.chat.service import ChannelService
from manyhands.errors import ConflictError, InvalidError, NotFoundError, TooManyError
from manyhands.events import Event, EventBus
from manyhands.store.engine import Store
from manyhands.testing.clock import FakeClock
from tests.agents.conftest import Chosen

pytestmark = pytest.mark.anyio

Pair = tuple[str, str]


@asynccontextmanager
async def told(bus: EventBus) -> AsyncIterator[list[Event]]:
    seen: list[Event] = []
    bus.observe(seen.append)
    yield seen


async def next_of(deliveries: Deliveries) -> AgentMessage:
    with anyio.fail_after(60):
        return await anext(deliveries)


async def states(service: AgentService, channel: str, agent: str) -> list[str]:
    page = await service.history(channel, agent, 500)
    return [message.state.value for message in reversed(page.items)]


async def gone(service: AgentService, channel: str, agent: str) -> None:
    with anyio.fail_after(60):
        while agent in [view.agent.id for view in await service.list(channel)]:
            await anyio.lowlevel.checkpoint()


# --- registry


async def test_agents_are_listed_by_name_and_the_one_who_asks_is_marked(
    service: AgentService, channel: str, pair: Pair
) -> None:
    await service.register(channel, "z-9", "alpha")
    listed = await service.list(channel, me="tester")
    assert [(view.agent.name, view.me) for view in listed] == [
        ("alpha", False),
        ("Builder", False),
        ("Tester", True),
    ]
    assert await service.list("another") == []


async def test_an_agent_says_what_it_does_and_comes_back_to_it(
    service: AgentService, bus: EventBus, channel: str, clock: FakeClock, pair: Pair
) -> None:
    async with told(bus) as seen:
        await service.update(channel, "builder", name="Bob", work_summary="the parser", status="working")
        clock.advance(5)
        again = await service.register(channel, "builder")
    assert (again.name, again.work_summary, again.status) == ("Bob", "the parser", "working")
    assert again.last_seen == clock.now()
    assert [(event.type, event.data["name"]) for event in seen] == [("agent.updated", "Bob")]


async def test_an_agent_needs_a_channel_that_is_there(service: AgentService) -> None:
    with pytest.raises(NotFoundError, match="no channel 'ch_none'"):
        await service.register("ch_none", "builder")
    assert await service.list() == []


async def test_whoever_is_killed_goes_when_its_lease_is_over(
    service: AgentService, bus: EventBus, channel: str, clock: FakeClock, pair: Pair
) -> None:
    async with told(bus) as seen:
        await clock.someone_sleeps()
        clock.advance(LEASE_S - 1)
        service.renew(channel, "tester")
        await clock.someone_sleeps()
        clock.advance(6)
        await gone(service, channel, "builder")
    assert [view.agent.id for view in await service.list(channel)] == ["tester"]
    assert [(event.type, event.data["id"], event.data["reason"]) for event in seen] == [
        ("agent.unregistered", "builder", "lease")
    ]


async def test_an_agent_that_listens_needs_no_other_sign_of_life(
    service: AgentService, channel: str, clock: FakeClock, pair: Pair
) -> None:
    async with service.deliveries(channel, "builder"):
        clock.advance(10 * LEASE_S)
        await gone(service, channel, "tester")
        (left,) = await service.list(channel)
        assert left.listening
        assert left.agent.last_seen == clock.now()
    clock.advance(2 * LEASE_S)
    await gone(service, channel, "builder")


async def test_an_agent_that_ends_is_off_the_registry_and_its_line_ends(
    service: AgentService, channel: str, pair: Pair
) -> None:
    async with service.deliveries(channel, "builder") as deliveries:
        await service.unregister(channel, "builder")
        assert [message async for message in deliveries] == []
    with pytest.raises(NotFoundError, match="Those here: tester"):
        await service.unregister(channel, "builder")


async def test_agents_go_with_their_channel(
    service: AgentService, store: Store, bus: EventBus, clock: FakeClock, channel: str, pair: Pair
) -> None:
    await service.send(channel, "builder", "tester", "hello")
    await ChannelService(store, bus, clock).delete(channel)
    await clock.someone_sleeps()
    clock.advance(6)
    await gone(service, channel, "builder")
    await gone(service, channel, "tester")


async def test_an_id_that_is_in_two_channels_needs_the_channel(
    service: AgentService, store: Store, bus: EventBus, clock: FakeClock, channel: str, pair: Pair
) -> None:
    other, _ = await ChannelService(store, bus, clock).find_or_create(name="other")
    assert service.channel_of("builder") == channel
    await service.register(other.id, "builder")
    with pytest.raises(InvalidError, match="2 channels"):
        service.channel_of("builder")
    with pytest.raises(NotFoundError):
        service.channel_of("nobody")


# --- messages


@pytest.mark.requirement("L34")
async def test_a_message_waits_for_its_receiver_and_its_receipt_says_how_far_it_got(
    service: AgentService, bus: EventBus, channel: str, pair: Pair
) -> None:
    async with told(bus) as seen:
        sent = await service.send(channel, "builder", "Tester", "please test it")
        assert sent.state == "queued"
        async with service.deliveries(channel, "tester") as deliveries:
            message = await next_of(deliveries)
            assert message == sent
            assert service.ack(channel, "tester", message.id)
            assert not service.ack(channel, "tester", message.id)
        await service.send(channel, "tester", "builder", "it works")
    told_of = [e.data["state"] for e in seen if e.type == "agent.message" and e.data["id"] == sent.id]
    assert told_of == ["queued", "delivered", "read"], "whoever answers has read what came before"
    newest, first = (await service.history(channel, "tester")).items
    assert (newest.content, newest.state) == ("it works", "queued")
    assert (first.content, first.state) == ("please test it", "read")
    assert first.delivered_at is not None


@pytest.mark.requirement("L34")
async def test_a_message_to_nobody_is_an_error_that_says_who_is_there(
    service: AgentService, channel: str, pair: Pair
) -> None:
    with pytest.raises(NotFoundError, match=r"no agent 'tseter'.*builder \(Builder\), tester \(Tester\)"):
        await service.send(channel, "builder", "tseter", "hello?")
    with pytest.raises(NotFoundError, match="no agent 'stranger'"):
        await service.send(channel, "stranger", "tester", "hello")
    assert (await service.history(channel, None)).items == []


@pytest.mark.requirement("L34")
async def test_what_was_not_confirmed_survives_a_restart_in_order(
    service: AgentService,
    store: Store,
    bus: EventBus,
    clock: FakeClock,
    settings: Chosen,
    channel: str,
    pair: Pair,
) -> None:
    for number in range(5):
        await service.send(channel, "builder", "tester", f"message {number}")
    async with service.deliveries(channel, "tester") as deliveries:
        for _ in range(2):
            service.ack(channel, "tester", (await next_of(deliveries)).id)
        await next_of(deliveries)  # taken, and its receiver dies before it says so
    await store.flush()

    restarted = AgentService(store, bus, clock, settings)
    await restarted.start()
    assert [view.agent.id for view in await restarted.list(channel)] == ["builder", "tester"]
    async with restarted.deliveries(channel, "tester") as deliveries:
        assert [(await next_of(deliveries)).content for _ in range(3)] == [
            "message 2",
            "message 3",
            "message 4",
        ]
    later = await restarted.send(channel, "builder", "tester", "message 5")
    assert later.seq > max(message.seq for message in (await service.history(channel, "tester")).items[1:])


async def test_what_nobody_confirms_is_said_again_and_recognised_by_its_id(
    service: AgentService, channel: str, clock: FakeClock, pair: Pair
) -> None:
    first = await service.send(channel, "builder", "tester", "one")
    second = await service.send(channel, "builder", "tester", "two")
    async with service.deliveries(channel, "tester") as deliveries:
        assert await next_of(deliveries) == first
        assert await next_of(deliveries) == second
        service.ack(channel, "tester", first.id)
        again: list[AgentMessage] = []
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                again.append(await next_of(deliveries))

            group.start_soon(wait)
            with anyio.fail_after(60):
                while not again:
                    clock.advance(REDELIVER_S)
                    await anyio.lowlevel.checkpoint()
        assert again == [second]


async def test_the_order_of_each_sender_is_kept_while_many_send_at_once(
    service: AgentService, settings: Chosen, channel: str, pair: Pair
) -> None:
    settings.current = settings.current.model_copy(update={"agent_mailbox_limit": 1000})
    senders = [f"s{number}" for number in range(5)]
    for sender in senders:
        await service.register(channel, sender)

    async def talk(sender: str) -> None:
        for number in range(20):
            await service.send(channel, sender, "tester", f"{sender} {number}")

    got: dict[str, list[int]] = {sender: [] for sender in senders}
    async with service.deliveries(channel, "tester") as deliveries, anyio.create_task_group() as group:
        for sender in senders:
            group.start_soon(talk, sender)
        for _ in range(100):
            message = await next_of(deliveries)
            service.ack(channel, "tester", message.id)
            sender, number = message.content.split()
            got[sender].append(int(number))
    assert got == {sender: list(range(20)) for sender in senders}


async def test_sending_again_under_the_same_id_makes_no_second_message(
    service: AgentService, channel: str, pair: Pair
) -> None:
    first = await service.send(channel, "builder", "tester", "once", "my-1")
    assert await service.send(channel, "builder", "tester", "once", "my-1") == first
    with pytest.raises(ConflictError, match="Another message has the id 'my-1'"):
        await service.send(channel, "builder", "tester", "something else", "my-1")
    with pytest.raises(InvalidError):
        await service.send(channel, "builder", "tester", "x", "i" * 65)
    assert len((await service.history(channel, "tester")).items) == 1


async def test_a_full_mailbox_says_so_and_loses_nothing_of_what_it_took(
    service: AgentService, settings: Chosen, channel: str, pair: Pair
) -> None:
    limit = settings.current.agent_mailbox_limit
    taken = [await service.send(channel, "builder", "tester", f"message {n}") for n in range(limit)]
    for _ in range(3):
        with pytest.raises(TooManyError, match=r"mailbox of 'tester' is full: 20 messages.*was not sent"):
            await service.send(channel, "builder", "tester", "one too many")
    assert await states(service, channel, "tester") == ["queued"] * limit
    async with service.deliveries(channel, "tester") as deliveries:
        assert [await next_of(deliveries) for _ in range(limit)] == taken
        service.ack(channel, "tester", taken[0].id)
    await service.send(channel, "builder", "tester", "there is room again")


async def test_what_nobody_fetches_expires_and_its_sender_can_see_that(
    service: AgentService, bus: EventBus, settings: Chosen, channel: str, clock: FakeClock, pair: Pair
) -> None:
    sent = await service.send(channel, "builder", "tester", "in time")
    async with told(bus) as seen:
        await clock.someone_sleeps()
        clock.advance(settings.current.agent_message_ttl_s + 1)
        with anyio.fail_after(60):
            while not any(event.type == "agent.message" for event in seen):
                await anyio.lowlevel.checkpoint()
    assert [event.data["state"] for event in seen if event.type == "agent.message"] == ["expired"]
    assert await states(service, channel, "tester") == ["expired"]
    async with service.deliveries(channel, "tester"):
        (view,) = [view for view in await service.list(channel) if view.agent.id == "tester"]
        assert view.waiting == 0
    assert sent.id


async def test_reading_takes_what_waits_and_what_was_delivered(
    service: AgentService, channel: str, pair: Pair
) -> None:
    sent = [await service.send(channel, "builder", "tester", f"message {n}") for n in range(3)]
    service.ack(channel, "tester", sent[0].id)
    read = await service.read(channel, "tester", [sent[1].id])
    assert [(message.id, message.state) for message in read] == [(sent[1].id, "read")]
    assert [message.id for message in await service.read(channel, "tester")] == [sent[0].id, sent[2].id]
    assert await service.read(channel, "tester") == []
    assert await states(service, channel, "tester") == ["read", "read", "read"]


async def test_mail_is_taken_in_answers_of_bounded_size(
    service: AgentService, channel: str, pair: Pair
) -> None:
    texts = ["x" * 40_000, "y" * 40_000, "z"]
    for text in texts:
        await service.send(channel, "builder", "tester", text)
    taken = [await service.take_mail(channel, "tester") for _ in range(3)]
    assert [([one.content[0] for one in mail], left) for mail, left in taken] == [
        (["x"], 2),
        (["y", "z"], 0),
        ([], 0),
    ]


async def test_a_confirmation_that_comes_while_it_is_read_does_not_undo_that(
    service: AgentService, channel: str, pair: Pair
) -> None:
    sent = await service.send(channel, "builder", "tester", "ready")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(service.read, channel, "tester")
        await anyio.lowlevel.checkpoint()
        service.ack(channel, "tester", sent.id)
    assert await states(service, channel, "tester") == ["read"]


async def test_history_comes_in_pages_and_stays_after_its_agent_has_gone(
    service: AgentService, channel: str, pair: Pair
) -> None:
    for number in range(5):
        await service.send(channel, "builder", "tester", f"message {number}")
    await service.unregister(channel, "builder")
    first = await service.history(channel, "builder", 3)
    rest = await service.history(channel, "builder", 3, first.next_cursor)
    assert [message.content[-1] for message in (*first.items, *rest.items)] == list("43210")
    assert rest.next_cursor is None
    with pytest.raises(NotFoundError):
        await service.history(channel, "nobody")
    with pytest.raises(InvalidError):
        await service.history(channel, "builder", 3, "x")


async def test_mail_waits_for_an_agent_that_comes_back_under_its_id(
    service: AgentService, channel: str, pair: Pair
) -> None:
    sent = await service.send(channel, "builder", "tester", "for later")
    await service.unregister(channel, "tester")
    with pytest.raises(NotFoundError):
        await service.send(channel, "builder", "tester", "nobody is there")
    async with service.deliveries(channel, "tester") as deliveries:
        assert await next_of(deliveries) == sent


@pytest.mark.requirement("L26")
async def test_no_agent_can_speak_as_the_person(service: AgentService, channel: str, pair: Pair) -> None:
    for name in ("owner", "Owner"):
        with pytest.raises(InvalidError, match="person's own name"):
            await service.register(channel, name)
        with pytest.raises(InvalidError):
            await service.update(channel, "builder", name=name)
    sent = await service.send(channel, "owner", "tester", "from the person")
    assert sent.frame() == {
        "id": sent.id,
        "from_agent": "owner",
        "content": "from the person",
        "at": "2030-01-01T00:00:00.000Z",
    }
