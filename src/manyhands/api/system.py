"""The hub itself over HTTP: health, status, metrics, settings, backup, its end."""

from __future__ import annotations

import os
import platform
import shutil
from collections import Counter
from collections.abc import Callable
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Body, Request
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from manyhands import __version__
from manyhands.api import schemas
from manyhands.api.access import HubOf, crowds_of
from manyhands.api.metrics import MEDIA_TYPE, CallMetrics, gauge, gauges
from manyhands.approvals.types import ApprovalState
from manyhands.backup import make_backup
from manyhands.clock import rfc3339
from manyhands.errors import InvalidError, ManyhandsError, NotConfiguredError, NotFoundError
from manyhands.hub import Hub
from manyhands.paging import MAX_LIMIT
from manyhands.servers.types import ServerStatus
from manyhands.settings import Settings, describe_settings
from manyhands.system import child_environment, memory_of

router = APIRouter(tags=["system"])


class SettingInfo(schemas.Answer):
    """What a setting means and what it may be."""

    name: str
    description: str
    kind: Literal["integer", "number", "boolean", "text", "choice", "list"]
    default: Any = None
    value: Any = None
    optional: bool = Field(False, description="It may be nothing at all.")
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = Field(None, description="It must be more than this.")
    choices: list[str] = Field(default_factory=list)


@router.get("/health")
async def health() -> schemas.Health:
    """Whether it is alive. The only route that needs no token."""
    return schemas.Health(version=__version__)


@router.get("/status")
async def status(hub: HubOf, request: Request) -> schemas.Status:
    """What runs, where, and how much is kept."""
    kept = await hub.upkeep.measure()
    crowds = crowds_of(request)
    return schemas.Status(
        version=__version__,
        pid=os.getpid(),
        url=hub.url,
        home=str(hub.home.path),
        directory=_started_in(),
        started_at=rfc3339(hub.started_at),
        uptime_s=hub.uptime_s,
        database=hub.store.dialect,
        servers=await _server_counts(hub),
        approvals=await _waiting(hub),
        calls=len(crowds.calls),
        listeners=len(crowds.live),
        seq=hub.bus.seq,
        rss=await anyio.to_thread.run_sync(memory_of, os.getpid()),
        storage={"database": kept.database, "results": kept.results, "logs": kept.logs},
        counts={"calls": kept.calls_count, "events": kept.events_count, "results": kept.results_count},
        disk_free=kept.disk_free,
        disk_total=kept.disk_total,
        oldest_call=rfc3339(kept.oldest_call) if kept.oldest_call else None,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()}",
        programs=await anyio.to_thread.run_sync(_programs),
    )


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(hub: HubOf, request: Request) -> Response:
    """The same and more for Prometheus."""
    kept = await hub.upkeep.measure()
    calls: CallMetrics = request.app.state.metrics
    crowds = crowds_of(request)
    storage = {"database": kept.database, "results": kept.results, "logs": kept.logs}
    resident = await anyio.to_thread.run_sync(memory_of, os.getpid())
    lines = [
        *gauge("manyhands_info", "The version that runs.", 1, {"version": __version__}),
        *gauge("manyhands_uptime_seconds", "How long it has been up.", hub.uptime_s),
        *gauge("manyhands_resident_bytes", "Memory of the hub without its servers.", resident),
        *gauges("manyhands_servers", "Servers by status.", "status", await _server_counts(hub)),
        *gauge("manyhands_approvals_pending", "What waits for a person.", await _waiting(hub)),
        *gauge("manyhands_calls_running", "Calls over the API under way.", len(crowds.calls)),
        *gauge("manyhands_listeners", "Clients that follow events.", len(crowds.live)),
        *gauge("manyhands_event_seq", "Number of the last event.", hub.bus.seq),
        *gauges("manyhands_storage_bytes", "What is kept.", "kind", storage),
        *gauge("manyhands_disk_free_bytes", "Space left on the home's disk.", kept.disk_free),
        *calls.lines(),
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=MEDIA_TYPE)


@router.get("/readme", response_class=PlainTextResponse)
async def readme() -> Response:
    """Set-up, configuration, commands and architecture, in Markdown."""
    text = await anyio.to_thread.run_sync(read_readme)
    return PlainTextResponse(text, media_type="text/markdown; charset=utf-8")


@router.get("/settings")
async def get_settings(hub: HubOf) -> Settings:
    """Every setting."""
    return hub.settings.current


@router.get("/settings/schema")
async def get_settings_schema(hub: HubOf) -> schemas.Items[SettingInfo]:
    """Every setting with its meaning, its bounds, its default and its value."""
    found = describe_settings(hub.settings.current)
    return schemas.Items(items=[SettingInfo(**one) for one in found])


@router.patch("/settings")
async def change_settings(hub: HubOf, values: Annotated[dict[str, Any], Body()]) -> Settings:
    """Change some; a null goes back to the default."""
    return await hub.settings.patch(values)


class WebhookTrial(schemas.Answer):
    """Whether the receiver took a message, and why not."""

    ok: bool
    error: str | None = None


@router.post("/webhook/test")
async def try_webhook(hub: HubOf) -> WebhookTrial:
    """Send a test message to `webhook_url`, once."""
    try:
        await hub.webhook.try_out()
    except ManyhandsError as error:
        return WebhookTrial(ok=False, error=str(error))
    return WebhookTrial(ok=True)


@router.post("/backup", status_code=201)
async def backup(hub: HubOf, body: schemas.BackupRequest) -> schemas.BackupMade:
    """Save everything to one file on this machine, while it works."""
    path = Path(body.path)
    if not path.is_absolute():
        raise InvalidError(f"The path {body.path!r} is relative.", hint="Give an absolute path.")
    made = await anyio.to_thread.run_sync(
        lambda: make_backup(hub.home, hub.database_url, path, keys=body.keys)
    )
    return schemas.BackupMade(
        path=str(made.path), bytes=made.bytes, entries=made.entries, database=made.database, keys=made.keys
    )


@router.post("/shutdown", status_code=202)
async def shut_down(request: Request) -> schemas.Health:
    """End the daemon, as Ctrl-C does."""
    end: Callable[[], None] | None = request.app.state.on_shutdown
    if end is None:
        raise NotConfiguredError("This hub is part of another program.", hint="End that program.")
    end()
    return schemas.Health(version=__version__)


def _started_in() -> str:
    """A service is started at the root, where nobody works."""
    try:
        place = Path.cwd()
    except FileNotFoundError:  # it has been removed since
        place = Path.home()
    return str(Path.home() if place == Path(place.anchor) else place)


def _programs() -> dict[str, str | None]:
    """Where the programs are that most servers are started with, as a server would find them."""
    path = child_environment()["PATH"]
    return {name: shutil.which(name, path=path) for name in ("uvx", "npx", "node")}


async def _server_counts(hub: Hub) -> dict[str, int]:
    counts = Counter(view.status for view in await hub.servers.list())
    return {state.value: counts[state] for state in ServerStatus}


async def _waiting(hub: Hub) -> int:
    return len((await hub.approvals.list(ApprovalState.PENDING, MAX_LIMIT)).items)


def read_readme() -> str:
    """From the package, from the checkout it runs in, or from what the installer kept."""
    package = resources.files("manyhands")
    for place in (package / "README.md", Path(str(package)).parents[1] / "README.md"):
        if place.is_file():
            return place.read_text(encoding="utf-8")
    try:
        text = metadata.metadata("manyhands")["Description"]
    except (metadata.PackageNotFoundError, KeyError):
        text = ""
    if not text:
        raise NotFoundError("The README is not part of this installation.", hint="Install the package again.")
    return text
