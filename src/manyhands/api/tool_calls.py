"""The call log as a whole over HTTP: how calls went, and all of them as a file."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from manyhands.api.access import HubOf
from manyhands.api.schemas import Answer
from manyhands.clock import rfc3339
from manyhands.tools.call_export import Format, export_calls
from manyhands.tools.call_log import CallFilter
from manyhands.tools.call_stats import Measured
from manyhands.tools.types import CallStatus

router = APIRouter(prefix="/tool-calls", tags=["tools"])

MEDIA_TYPES: dict[Format, str] = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}


class CallTimes(Answer):
    """How calls went: those that ended, those of them that failed, and how long they took."""

    calls: int
    errors: int
    p50_ms: int | None
    p95_ms: int | None


class CallTimesAt(CallTimes):
    """How the calls went that began within one step."""

    at: str


class CallTimesOf(CallTimes):
    """How the calls of one server went."""

    server: str


class CallStatistics(Answer):
    """How calls went, over time and by server; steps without calls are left out."""

    since: str
    until: str
    bucket_s: int
    points: list[CallTimesAt]
    servers: list[CallTimesOf]


def _times(measured: Measured) -> dict[str, int | None]:
    return {
        "calls": measured.calls,
        "errors": measured.errors,
        "p50_ms": measured.p50_ms,
        "p95_ms": measured.p95_ms,
    }


@router.get("/stats")
async def measure_calls(
    hub: HubOf,
    since: Annotated[datetime | None, Query(description="From when on; without it, the last day.")] = None,
    bucket: Annotated[int | None, Query(ge=60, description="Seconds of one step.")] = None,
    server: Annotated[str | None, Query(description="`points` of this server alone.")] = None,
) -> CallStatistics:
    """How many calls there were, how many failed (error or timeout), and their median and 95th percentile."""
    stats = await hub.tools.stats(since, bucket, server)
    return CallStatistics(
        since=rfc3339(stats.span.since),
        until=rfc3339(stats.span.until),
        bucket_s=stats.span.bucket_s,
        points=[CallTimesAt(at=rfc3339(at), **_times(found)) for at, found in stats.points],  # type: ignore[arg-type]
        servers=[CallTimesOf(server=name, **_times(found)) for name, found in stats.servers],  # type: ignore[arg-type]
    )


@router.get("/export", response_class=StreamingResponse)
async def export_log(
    hub: HubOf,
    format: Format = "jsonl",
    server: str | None = None,
    tool: str | None = None,
    status: CallStatus | None = None,
    run: str | None = None,
    channel_id: str | None = None,
    q: Annotated[str | None, Query(description="A text in the call: names, arguments, result.")] = None,
) -> StreamingResponse:
    """The filtered call log as a file, newest first: `jsonl` with everything, `csv` for a spreadsheet."""
    wanted = CallFilter(server, tool, status, run, channel_id, q)
    pieces = export_calls(lambda limit, cursor: hub.tools.calls(wanted, limit, cursor), format)
    headers = {"Content-Disposition": f'attachment; filename="tool-calls.{format}"'}
    return StreamingResponse(pieces, media_type=MEDIA_TYPES[format], headers=headers)
