"""Messages and runs over HTTP."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from pydantic import AwareDatetime, Field

from manyhands.api import schemas
from manyhands.api.access import PAGE, Cursor, HubOf, Limit, items, slice_page
from manyhands.api.live import EventStream, resume_at
from manyhands.chat.conversation_store import runs_named
from manyhands.chat.types import Message, Run, RunOptions
from manyhands.chat.usage import By, Split
from manyhands.chat.views import message_json, run_json
from manyhands.errors import InvalidError
from manyhands.hub import Hub
from manyhands.models.types import Attachment

router = APIRouter(tags=["runs"])


class AttachmentIn(schemas.Body):
    """A picture or file, in base64."""

    name: str = Field(min_length=1, max_length=255)
    mime: str = Field(min_length=3, max_length=127)
    data: str

    def decoded(self) -> Attachment:
        try:
            return Attachment(self.name, self.mime, base64.b64decode(self.data, validate=True))
        except binascii.Error:
            raise InvalidError(
                f"The attachment {self.name!r} is not base64.", hint="Encode its bytes."
            ) from None


class NewMessage(schemas.Body):
    """A message into a channel."""

    channel_id: str
    content: str
    author_id: str = "owner"
    attachments: list[AttachmentIn] = Field(default_factory=list)


class MessageChange(schemas.Body):
    """A new text for a message that no run has read yet."""

    content: str


class NewRun(schemas.Body):
    """A prompt to be worked on."""

    prompt: str
    model: str | None = None
    max_iterations: int | None = Field(None, ge=1, le=50)
    allow: list[str] = Field(default_factory=list)
    attended: bool = True
    cost_cap: float | None = Field(None, gt=0, description="US dollars after which a person is asked.")
    author_id: str = "owner"
    attachments: list[AttachmentIn] = Field(default_factory=list)

    def options(self) -> RunOptions:
        return RunOptions(self.model, self.max_iterations, tuple(self.allow), self.attended, self.cost_cap)


class ReplayWith(schemas.Body):
    """Which model replays it; the run's own when none is named."""

    model: str | None = None


class RunStarted(schemas.Answer):
    """Where to follow it."""

    run_id: str


class UsageRow(schemas.Answer):
    """What was used by one run, channel, model, server or day; only the fields that apply are there."""

    day: str | None = None
    run_id: str | None = None
    channel_id: str | None = None
    name: str | None = None
    model: str | None = None
    server: str | None = None
    status: str | None = None
    runs: int | None = None
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cost: float | None = None
    calls: int | None = None
    errors: int | None = None
    result_tokens: int | None = None
    duration_ms: int | None = None


def show_message(message: Message) -> schemas.Message:
    return schemas.Message(**message_json(message))


def show_run(run: Run, live: dict[str, Any] | None = None) -> schemas.Run:
    return schemas.Run(**run_json(run) | ({"live": live} if live else {}))


@router.post("/messages", status_code=201)
async def post_message(hub: HubOf, body: NewMessage) -> schemas.Message:
    """It joins the run that the channel is working on, or starts one."""
    files = [attachment.decoded() for attachment in body.attachments]
    message, _ = await hub.runs.post(body.channel_id, body.content, files, body.author_id)
    return show_message(message)


@router.patch("/messages/{message_id}")
async def edit_message(hub: HubOf, message_id: str, body: MessageChange) -> schemas.Message:
    """Change a message that waits for a run's next iteration."""
    return show_message(await hub.runs.edit(message_id, body.content))


@router.delete("/messages/{message_id}", status_code=204)
async def withdraw_message(hub: HubOf, message_id: str) -> None:
    """Take back a message that waits for a run's next iteration."""
    await hub.runs.withdraw(message_id)


@router.get("/channels/{channel_id}/messages")
async def list_messages(
    hub: HubOf,
    channel_id: str,
    limit: Limit = PAGE,
    cursor: Cursor = None,
    detail: Annotated[bool, Query(description="With runs and calls.")] = False,
) -> schemas.Conversation:
    """A channel's conversation, newest first."""
    page = await hub.runs.messages(channel_id, limit, cursor)
    shown = schemas.Conversation(
        items=[show_message(one) for one in page.items], next_cursor=page.next_cursor
    )
    if detail:
        call_ids = [call.call_id for message in page.items for call in message.tool_calls]
        lines = [record.wire() for record in await hub.tools.lines(call_ids)]
        shown.calls = [
            schemas.CallLine(**{name: line[name] for name in schemas.CallLine.model_fields}) for line in lines
        ]
        shown.runs = await _runs_of(hub, page.items)
    return shown


async def _runs_of(hub: Hub, messages: Sequence[Message]) -> list[schemas.Run]:
    runs = await hub.runs.named(runs_named(messages))
    return [show_run(run, hub.words.of(run.id)) for run in runs]


@router.post("/channels/{channel_id}/runs", status_code=202)
async def start_run(hub: HubOf, channel_id: str, body: NewRun) -> RunStarted:
    """Work on a prompt, behind whatever the channel is working on."""
    files = [attachment.decoded() for attachment in body.attachments]
    run = await hub.runs.start(channel_id, body.prompt, body.options(), files, body.author_id)
    return RunStarted(run_id=run.id)


@router.get("/runs")
async def list_runs(
    hub: HubOf,
    channel_id: Annotated[str | None, Query()] = None,
    status: Annotated[str | None, Query()] = None,
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[schemas.Run]:
    """Runs, newest first."""
    page = await hub.runs.list(channel_id, status, limit, cursor)
    return items(page.items, page.next_cursor, show_run)


@router.get("/runs/{run_id}")
async def get_run(hub: HubOf, run_id: str) -> schemas.Run:
    """One run with its tool calls."""
    run = await hub.runs.get(run_id)
    calls = await hub.tools.calls_of_run(run_id)
    shown: dict[str, Any] = run_json(run) | {"tool_calls": [call.wire() for call in calls]}
    return schemas.Run(**shown | {"live": hub.words.of(run_id)})


@router.get("/runs/{run_id}/messages")
async def list_run_messages(hub: HubOf, run_id: str) -> schemas.Items[schemas.Message]:
    """Everything that was said in a run, oldest first."""
    return schemas.Items(items=[show_message(message) for message in await hub.runs.messages_of(run_id)])


@router.post("/runs/{run_id}/cancel")
async def cancel_run(hub: HubOf, run_id: str) -> schemas.Run:
    """Stop it: its model and every pending call."""
    return show_run(await hub.runs.cancel(run_id))


@router.post("/runs/{run_id}/replay")
async def replay_run(hub: HubOf, run_id: str, body: ReplayWith) -> dict[str, Any]:
    """Ask a model anew with the recorded tool results; nothing is executed."""
    return await hub.runs.replay(run_id, body.model)


@router.get("/runs/{run_id}/diff/{other_id}")
async def diff_runs(hub: HubOf, run_id: str, other_id: str) -> dict[str, Any]:
    """Two runs compared as transcripts."""
    return await hub.runs.diff(run_id, other_id)


@router.get("/usage")
async def get_usage(
    hub: HubOf,
    by: Annotated[By, Query()] = "run",
    since: Annotated[AwareDatetime | None, Query(description="Only what began then or later.")] = None,
    split: Annotated[Split, Query(description="What each day is split up by.")] = "model",
    zone: Annotated[str, Query(description="Whose days they are, such as Europe/Berlin.")] = "UTC",
    limit: Limit = PAGE,
    cursor: Cursor = None,
) -> schemas.Items[UsageRow]:
    """Tokens and US dollars by run, channel, model or day; calls and the size of their results by server."""
    found = await hub.runs.usage(by, since, split=split, zone=zone)
    page, following = slice_page(found, limit, cursor)
    return items(page, following, dict)


@router.get(
    "/runs/{run_id}/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}}
)
async def follow_run(
    hub: HubOf,
    run_id: str,
    since: Annotated[int | None, Query(ge=0)] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """The run's events as they happen, until it has finished; resumable with `Last-Event-ID`."""
    run = await hub.runs.get(run_id)
    start = resume_at(last_event_id, since)
    return EventStream(
        hub.bus,
        run.first_seq if start is None else start,
        wanted=lambda event: (
            event.type == "gap" or run_id in (event.data.get("run_id"), event.data.get("id"))
        ),
        last=lambda event: event.type == "run.finished" and event.data.get("id") == run_id,
    )
