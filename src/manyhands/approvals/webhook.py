"""Tells an address of the person's choice that something waits for them, or that a long run has ended.

What is sent says what happened and where to look, never arguments, results or conversations. Nobody waits for
it: messages stand in a bounded queue, are tried again for some minutes, and are then given up with a line in
the log.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import anyio
from anyio.abc import TaskStatus

from manyhands.clock import Clock, rfc3339
from manyhands.errors import ManyhandsError, NotConfiguredError, UnavailableError
from manyhands.events import Event, EventBus
from manyhands.ids import new_id
from manyhands.secrets import SecretStore
from manyhands.settings import CurrentSettings

log = logging.getLogger(__name__)

QUEUE_SIZE = 100
TIMEOUT_S = 10.0
WAITS_S = (1.0, 5.0, 30.0, 120.0)
"""How long it waits before each new attempt."""
TRY_LATER = frozenset({408, 425, 429})
ENDED = frozenset({"completed", "failed", "max_iterations"})
_APPROVAL = ("id", "kind", "title", "channel_id", "run_id", "call_id", "created_at", "expires_at")
_RUN = ("id", "channel_id", "status", "model", "iterations", "cost", "started_at", "ended_at")


class NotTaken(UnavailableError):
    """The receiver did not take the message."""

    def __init__(self, message: str, *, later: bool) -> None:
        super().__init__(message, hint="Check the setting webhook_url and the receiver.")
        self.later = later


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent: `text` is one line for people, for receivers that show just that."""

    id: str
    type: str
    at: datetime
    text: str
    data: Mapping[str, Any]

    def wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": self.type,
            "at": rfc3339(self.at),
            "text": self.text,
            "data": dict(self.data),
        }


class Webhook:
    """Sends what is worth it to `webhook_url`, one after the other."""

    def __init__(self, bus: EventBus, clock: Clock, settings: CurrentSettings, secrets: SecretStore) -> None:
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._secrets = secrets
        self._queue: deque[Message] = deque()
        self._more = anyio.Event()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Runs as long as the hub does."""
        self._bus.observe(self._hear, "approval.requested", "run.finished")
        task_status.started()
        while True:
            while self._queue:
                await self._deliver(self._queue.popleft())
            self._more = anyio.Event()
            await self._more.wait()

    async def try_out(self) -> None:
        """Send a message that says that it is a test, once; raises why it was not taken."""
        text = "Manyhands can reach you here."
        await self._send(Message(new_id("delivery"), "test", self._clock.now(), text, {}))

    def _hear(self, event: Event) -> None:
        if self._settings.current.webhook_url is None:
            return
        message = message_of(event, self._settings.current.long_run_s)
        if message is None:
            return
        if len(self._queue) >= QUEUE_SIZE:
            lost = self._queue.popleft()
            log.warning("the webhook is behind; %s about %s is not sent", lost.type, lost.data.get("id"))
        self._queue.append(message)
        self._more.set()

    async def _deliver(self, message: Message) -> None:
        """Try until it is taken, refused for good, or the last attempt has failed."""
        for wait_s in (*WAITS_S, None):
            try:
                await self._send(message)
                return
            except ManyhandsError as error:
                final = wait_s is None or not (isinstance(error, NotTaken) and error.later)
                log.log(
                    logging.WARNING if final else logging.INFO,
                    "the webhook did not take %s: %s%s",
                    message.type,
                    error,
                    "" if final else f" Again in {wait_s:g} s.",
                )
                if final:
                    return
            except Exception:  # border: whatever goes wrong with one message, the next one is sent
                log.exception("the webhook could not send %s", message.type)
                return
            assert wait_s is not None
            await self._clock.sleep(wait_s)

    async def _send(self, message: Message) -> None:
        settings = self._settings.current
        if settings.webhook_url is None:
            raise NotConfiguredError("There is no webhook.", hint="Put an address into webhook_url.")
        found = await self._secrets.expand({"url": settings.webhook_url})
        if settings.webhook_secret:
            found |= await self._secrets.reveal({"secret": settings.webhook_secret})
        cleaned = self._secrets.redactor.redact_json(message.wire())
        body = json.dumps(cleaned, ensure_ascii=False).encode()
        await _post(found["url"], body, _headers(message, body, found.get("secret"), self._clock.now()))


def message_of(event: Event, long_run_s: float) -> Message | None:
    """What is to be told about an event, if anything."""
    if event.type == "approval.requested":
        detail = event.data.get("detail") or {}
        data = {name: event.data.get(name) for name in _APPROVAL}
        named = {name: detail[name] for name in ("server", "tool") if isinstance(detail.get(name), str)}
        text = f"Waits for you: {event.data.get('title')}"
        return Message(new_id("delivery"), event.type, event.at, text, data | named)
    if event.type == "run.finished" and event.data.get("status") in ENDED:
        took_s = _took_s(event.data)
        if took_s is None or took_s < long_run_s:
            return None
        data = {name: event.data.get(name) for name in _RUN} | {"took_s": took_s}
        text = f"A run ended after {took_s:.0f} s: {event.data['status']}"
        return Message(new_id("delivery"), event.type, event.at, text, data)
    return None


def _took_s(run: Mapping[str, Any]) -> float | None:
    if not run.get("started_at") or not run.get("ended_at"):
        return None
    begin, end = (datetime.fromisoformat(run[name]) for name in ("started_at", "ended_at"))
    return round((end - begin).total_seconds(), 3)


def _headers(message: Message, body: bytes, secret: str | None, now: datetime) -> dict[str, str]:
    """The time is signed too, so that a receiver can refuse what somebody recorded and sends again."""
    stamp = str(int(now.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "manyhands",
        "X-Manyhands-Event": message.type,
        "X-Manyhands-Delivery": message.id,
        "X-Manyhands-Timestamp": stamp,
    }
    if secret is None:
        return headers
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return headers | {"X-Manyhands-Signature": f"sha256={signed}"}


async def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """One attempt. The address may hold a secret, so no error names more of it than its host."""
    import httpx2

    try:
        async with (
            httpx2.AsyncClient(timeout=TIMEOUT_S, trust_env=False, follow_redirects=False) as client,
            client.stream("POST", url, content=body, headers=dict(headers)) as response,
        ):
            status = response.status_code
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise NotTaken("Its address is not one of http or https.", later=False) from error
    except (httpx2.HTTPError, OSError) as error:
        raise NotTaken(f"It does not answer ({type(error).__name__}).", later=True) from error
    if not 200 <= status < 300:
        raise NotTaken(f"It answered {status}.", later=status >= 500 or status in TRY_LATER)
