"""OpenTelemetry spans of runs, by the conventions for generative AI; nothing when nobody collects them.

Spans go to whatever provider the program has configured. When `OTEL_EXPORTER_OTLP_ENDPOINT` is set and there
is none, one is made, if OpenTelemetry's SDK and its exporter are installed. What was said is not in them.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manyhands.models.types import ModelInfo, Reply

if TYPE_CHECKING:
    from opentelemetry.trace import Span

log = logging.getLogger(__name__)

ENDPOINT = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROVIDERS = {"google": "gcp.gemini", "openai-compatible": "openai"}


def export_if_configured() -> None:
    """Once, at the start; takes a while, so call it in a thread."""
    if not any(os.environ.get(name) for name in ENDPOINT) or _collected():
        return
    try:
        exporters = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warning(
            "%s is set, but spans cannot be sent: install opentelemetry-sdk and "
            "opentelemetry-exporter-otlp-proto-http",
            ENDPOINT[0],
        )
        return
    from opentelemetry import trace

    name = os.environ.get("OTEL_SERVICE_NAME", "manyhands")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(exporters.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _collected() -> bool:
    """Whoever has configured a provider has imported the SDK; else there is nothing to import for."""
    return "opentelemetry.sdk.trace" in sys.modules


@contextmanager
def span(operation: str, of: str, attributes: Mapping[str, Any]) -> Iterator[Span | None]:
    """A span named by the conventions: the operation and what it is done with."""
    if not _collected():
        yield None
        return
    from opentelemetry import trace

    known = {name: value for name, value in attributes.items() if value is not None}
    tracer = trace.get_tracer("manyhands")
    kind = trace.SpanKind.CLIENT if operation == "chat" else trace.SpanKind.INTERNAL
    with tracer.start_as_current_span(
        f"{operation} {of}", kind=kind, attributes={"gen_ai.operation.name": operation, **known}
    ) as begun:
        yield begun


def model_attributes(info: ModelInfo) -> dict[str, Any]:
    return {
        "gen_ai.provider.name": PROVIDERS.get(info.provider, info.provider),
        "gen_ai.request.model": info.model,
    }


def tell_reply(begun: Span | None, reply: Reply) -> None:
    """What came back."""
    if begun is not None:
        begun.set_attributes(
            {
                "gen_ai.response.model": reply.model,
                "gen_ai.response.finish_reasons": [reply.finish_reason],
                "gen_ai.usage.input_tokens": reply.usage.input,
                "gen_ai.usage.output_tokens": reply.usage.output,
            }
        )


def tell_failure(begun: Span | None, kind: str) -> None:
    """It failed in a way that is a result, not an exception."""
    if begun is not None:
        from opentelemetry.trace import StatusCode

        begun.set_attribute("error.type", kind)
        begun.set_status(StatusCode.ERROR)
