"""The webhook, with a receiver on the loopback."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream, TaskGroup, TaskStatus
from anyio.streams.buffered import BufferedByteReceiveStream

from manyhands.approvals.webhook import QUEUE_SIZE, WAITS_S, NotTaken, Webhook
from manyhands.errors import ManyhandsError, NotConfiguredError
from manyhands.events import EventBus
from manyhands.home import Home
from manyhands.secrets import SecretStore
from manyhands.settings import Settings
from manyhands.testing.clock import START, FakeClock

pytestmark = pytest.mark.anyio

SOON_S = 60
SECRET = "correct-horse-battery-9"
APPROVAL = {
    "id": "approval_1",
    "kind": "tool",
    "state": "pending",
    "title": "Run write_file of files?",
    "channel_id": "channel_1",
    "detail": {"tool": "write_file", "server": "files", "arguments": {"text": "private"}},
}
RUN = {
    "id": "run_1",
    "channel_id": "channel_1",
    "status": "completed",
    "text": "a private answer",
    "started_at": "2030-01-01T00:00:00.000Z",
    "ended_at": "2030-01-01T00:02:00.500Z",
}


class Receiver:
    """Takes what is posted and answers with the next of its statuses, the last one for ever."""

    def __init__(self, *statuses: int) -> None:
        self._statuses = list(statuses or (204,))
        self.url = ""
        self._taken, self.taken = anyio.create_memory_object_stream[tuple[dict[str, str], bytes]](1000)

    async def serve(self, *, task_status: TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            self.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/hook"
            task_status.started()
            await listener.serve(self._answer)

    async def _answer(self, stream: SocketStream) -> None:
        async with stream:
            buffered = BufferedByteReceiveStream(stream)
            head = (await buffered.receive_until(b"\r\n\r\n", 65536)).decode()
            headers = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
            lowered = {name.lower(): value for name, value in headers.items()}
            body = await buffered.receive_exactly(int(lowered["content-length"]))
            status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
            await stream.send(
                f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
            )
            await self._taken.send((lowered, body))

    async def next(self) -> tuple[dict[str, str], dict[str, Any]]:
        with anyio.fail_after(SOON_S):
            headers, body = await self.taken.receive()
            return headers, json.loads(body)

    def close(self) -> None:
        self._taken.close()
        self.taken.close()


class Chosen:
    """Settings that a test changes."""

    current = Settings()

    def set(self, **values: Any) -> None:
        self.current = Settings.model_validate(values)


class Desk:
    """A webhook that runs, and everything round it."""

    def __init__(self, bus: EventBus, tmp_path: Path, group: TaskGroup) -> None:
        self.bus, self.group = bus, group
        self.clock, self.settings = FakeClock(), Chosen()
        env = {"HOOK_KEY": SECRET, "HOOK_PLACE": "place-9f3a2c77"}
        self.secrets = SecretStore(Home(tmp_path / "home"), env=env)
        self.hook = Webhook(bus, self.clock, self.settings, self.secrets)
        self._receivers: list[Receiver] = []

    async def receiver(self, *statuses: int, **settings: Any) -> Receiver:
        made = Receiver(*statuses)
        self._receivers.append(made)
        await self.group.start(made.serve)
        self.settings.set(webhook_url=made.url, **settings)
        return made

    def close(self) -> None:
        for receiver in self._receivers:
            receiver.close()


@pytest.fixture
async def desk(memory_bus: EventBus, tmp_path: Path) -> AsyncIterator[Desk]:
    async with anyio.create_task_group() as group:
        desk = Desk(memory_bus, tmp_path, group)
        await group.start(desk.hook.run)
        yield desk
        group.cancel_scope.cancel()
    desk.close()


@pytest.fixture
async def memory_bus(sqlite_url: str) -> AsyncIterator[EventBus]:
    from manyhands.store.engine import open_store
    from manyhands.store.event_log import StoredEventLog

    async with open_store(sqlite_url) as store:
        bus = EventBus(StoredEventLog(store))
        await bus.start()
        yield bus
        await bus.close()


async def test_an_approval_that_waits_is_told_without_what_it_is_about(desk: Desk) -> None:
    receiver = await desk.receiver()
    desk.bus.publish("approval.requested", APPROVAL, channel_id="channel_1")
    headers, body = await receiver.next()
    assert headers["x-manyhands-event"] == body["type"] == "approval.requested"
    assert body["text"] == "Waits for you: Run write_file of files?"
    assert body["data"]["id"] == "approval_1"
    assert (body["data"]["server"], body["data"]["tool"]) == ("files", "write_file")
    assert "private" not in json.dumps(body)
    assert "x-manyhands-signature" not in headers


async def test_the_end_of_a_long_run_is_told_and_that_of_a_short_one_is_not(desk: Desk) -> None:
    receiver = await desk.receiver(long_run_s=120)
    desk.bus.publish("run.finished", RUN | {"id": "short", "ended_at": "2030-01-01T00:01:59.000Z"})
    desk.bus.publish("run.finished", RUN | {"id": "stopped", "status": "cancelled"})
    desk.bus.publish("run.finished", RUN | {"id": "never_began", "started_at": None})
    desk.bus.publish("run.finished", RUN)
    _, body = await receiver.next()
    assert (body["data"]["id"], body["data"]["took_s"]) == ("run_1", 120.5)
    assert "private" not in json.dumps(body)


async def test_what_is_sent_is_signed_with_the_time(desk: Desk) -> None:
    receiver = await desk.receiver(webhook_secret="${HOOK_KEY}")
    desk.bus.publish("approval.requested", APPROVAL)
    with anyio.fail_after(SOON_S):
        headers, raw = await receiver.taken.receive()
    stamp = headers["x-manyhands-timestamp"]
    expected = hmac.new(SECRET.encode(), f"{stamp}.".encode() + raw, hashlib.sha256).hexdigest()
    assert headers["x-manyhands-signature"] == f"sha256={expected}"
    assert stamp == str(int(START.timestamp()))


async def test_secrets_that_a_title_holds_are_not_sent(desk: Desk) -> None:
    receiver = await desk.receiver(webhook_secret="${HOOK_KEY}")
    title = f"Use {SECRET} and sk-abcdefghijklmnop1234?"
    desk.bus.publish("approval.requested", APPROVAL | {"title": title})
    _, body = await receiver.next()
    assert SECRET not in json.dumps(body)
    assert "abcdefghijklmnop" not in json.dumps(body)


async def test_a_receiver_that_stumbles_is_tried_again_with_the_same_delivery(desk: Desk) -> None:
    receiver = await desk.receiver(503, 429, 204)
    desk.bus.publish("approval.requested", APPROVAL)
    deliveries = []
    for wait_s in (*WAITS_S[:2], None):
        headers, _ = await receiver.next()
        deliveries.append(headers["x-manyhands-delivery"])
        if wait_s is not None:
            with anyio.fail_after(SOON_S):
                await desk.clock.someone_sleeps()
            assert desk.clock.next_wake() == wait_s
            desk.clock.advance(wait_s)
    assert len(set(deliveries)) == 1


async def test_a_receiver_that_never_works_is_given_up_and_the_next_message_goes_out(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = await desk.receiver(*[500] * (len(WAITS_S) + 1), 204)
    desk.bus.publish("approval.requested", APPROVAL)
    for wait_s in WAITS_S:
        await receiver.next()
        with anyio.fail_after(SOON_S):
            await desk.clock.someone_sleeps()
        desk.clock.advance(wait_s)
    await receiver.next()
    desk.bus.publish("approval.requested", APPROVAL | {"id": "approval_2"})
    _, body = await receiver.next()
    assert body["data"]["id"] == "approval_2"
    assert "did not take approval.requested: It answered 500." in caplog.text


async def test_a_refusal_is_not_repeated(desk: Desk) -> None:
    receiver = await desk.receiver(404, 204)
    desk.bus.publish("approval.requested", APPROVAL)
    desk.bus.publish("approval.requested", APPROVAL | {"id": "approval_2"})
    assert [(await receiver.next())[1]["data"]["id"] for _ in range(2)] == ["approval_1", "approval_2"]


async def test_while_a_receiver_is_away_the_newest_messages_are_kept(desk: Desk) -> None:
    receiver = await desk.receiver(503, 204)
    desk.bus.publish("approval.requested", APPROVAL)
    await receiver.next()
    with anyio.fail_after(SOON_S):
        await desk.clock.someone_sleeps()
    for number in range(QUEUE_SIZE + 5):
        desk.bus.publish("approval.requested", APPROVAL | {"id": f"later_{number}"})
    desk.clock.advance(WAITS_S[0])
    found = [(await receiver.next())[1]["data"]["id"] for _ in range(QUEUE_SIZE + 1)]
    assert found == ["approval_1", *(f"later_{number}" for number in range(5, QUEUE_SIZE + 5))]


async def test_without_an_address_nothing_is_kept(desk: Desk) -> None:
    desk.bus.publish("approval.requested", APPROVAL)
    receiver = await desk.receiver()
    desk.bus.publish("approval.requested", APPROVAL | {"id": "approval_2"})
    assert (await receiver.next())[1]["data"]["id"] == "approval_2"
    desk.settings.set()
    with pytest.raises(NotConfiguredError):
        await desk.hook.try_out()


async def test_an_address_may_hold_a_reference_and_no_error_shows_what_it_stands_for(desk: Desk) -> None:
    receiver = await desk.receiver()
    desk.settings.set(webhook_url=receiver.url + "/${HOOK_PLACE}")
    await desk.hook.try_out()
    assert (await receiver.next())[1]["type"] == "test"
    desk.settings.set(webhook_url="http://127.0.0.1:1/${HOOK_PLACE}")
    with pytest.raises(NotTaken) as caught:
        await desk.hook.try_out()
    assert "place-9f3a2c77" not in str(caught.value)


@pytest.mark.parametrize("url", ["${NOT_THERE}", "http://", "${HOOK_PLACE}"])
async def test_an_address_that_cannot_be_used_stops_nothing(desk: Desk, url: str) -> None:
    desk.settings.set(webhook_url=url)
    with pytest.raises(ManyhandsError):
        await desk.hook.try_out()
    desk.bus.publish("approval.requested", APPROVAL)
    receiver = await desk.receiver()
    desk.bus.publish("approval.requested", APPROVAL | {"id": "approval_2"})
    ids = [(await receiver.next())[1]["data"]["id"]]
    if ids == ["approval_1"]:  # it was still in the queue when the address was mended
        ids = [(await receiver.next())[1]["data"]["id"]]
    assert ids == ["approval_2"]


@pytest.mark.parametrize("value", ["plain text", "${A}${B}", "x${A}"])
def test_the_signing_secret_is_never_written_into_the_settings(value: str) -> None:
    with pytest.raises(ValueError, match="webhook_secret"):
        Settings.model_validate({"webhook_secret": value})
