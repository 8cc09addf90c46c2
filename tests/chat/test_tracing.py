"""Runs leave spans by the conventions for generative AI, where somebody collects them."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from manyhands.chat import tracing
from manyhands.models.types import ModelError, Reply, Usage
from manyhands.testing.scripted import calls
from tests.chat.hubs import channel_of, events_of, hub_with
from tests.cli.conftest import CommandLine

pytestmark = pytest.mark.anyio


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What a provider that the program has configured would collect."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


async def test_a_run_its_requests_and_its_calls_are_spans_below_each_other(
    tmp_path: Path, project: Path, spans: InMemorySpanExporter
) -> None:
    asked = calls(("read_file", {"path": "notes.txt"}), ("read_file", {"path": "missing"}))
    async with hub_with(tmp_path, asked, Reply("done", usage=Usage(30, 5))) as (hub, _):
        channel_id = await channel_of(hub, project)
        run_id = (await events_of(hub, channel_id, "go"))[-1].data["id"]
    found = spans.get_finished_spans()
    assert sorted(span.name for span in found) == [
        "chat scripted",
        "chat scripted",
        "execute_tool read_file",
        "execute_tool read_file",
        "invoke_agent manyhands",
    ]
    [agent] = [span for span in found if span.name.startswith("invoke_agent")]
    assert agent.attributes is not None
    assert agent.attributes["gen_ai.conversation.id"] == channel_id
    assert agent.attributes["manyhands.run.id"] == run_id
    assert agent.context is not None
    others = [span for span in found if span is not agent]
    assert {span.parent.span_id for span in others if span.parent} == {agent.context.span_id}
    last = [span for span in found if span.name.startswith("chat")][-1].attributes
    assert last is not None
    assert (last["gen_ai.usage.input_tokens"], last["gen_ai.usage.output_tokens"]) == (30, 5)
    assert last["gen_ai.operation.name"] == "chat"
    failed = [span for span in found if not span.status.is_unset]
    assert [span.name for span in failed] == ["execute_tool read_file"]


async def test_what_was_said_is_in_no_span(
    tmp_path: Path, project: Path, spans: InMemorySpanExporter
) -> None:
    async with hub_with(tmp_path, calls(("read_file", {"path": "notes.txt"})), "a secret answer") as (hub, _):
        await events_of(hub, await channel_of(hub, project), "a secret question")
    written = "".join(span.to_json() for span in spans.get_finished_spans())
    assert written
    assert not [word for word in ("secret", "notes.txt", "milk") if word in written]


async def test_a_run_that_fails_is_a_failed_span(
    tmp_path: Path, project: Path, spans: InMemorySpanExporter
) -> None:
    async with hub_with(tmp_path, ModelError("down")) as (hub, _):
        await events_of(hub, await channel_of(hub, project), "go")
    failed = named(spans)["invoke_agent manyhands"]
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "failed"


def test_an_endpoint_without_an_exporter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setattr(tracing, "_collected", lambda: False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with caplog.at_level(logging.WARNING):
        tracing.export_if_configured()
    assert "install opentelemetry-sdk" in caplog.text


def test_without_anybody_who_collects_there_is_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_collected", lambda: False)
    with tracing.span("chat", "model", {}) as begun:
        assert begun is None


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A collector that speaks OTLP over HTTP: its address, and what was sent to it."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Not to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


def attributes(span: Span) -> dict[str, object]:
    found = {}
    for one in span.attributes:
        kind = one.value.WhichOneof("value")
        assert kind is not None
        found[one.key] = getattr(one.value, kind)
    return found


def test_spans_reach_a_collector_with_the_names_of_the_conventions(tmp_path: Path, project: Path) -> None:
    with collector() as (address, received):
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_SERVICE_NAME": "my-hub",
        }
        ran = CommandLine(tmp_path / "home")(
            "run", "which files are in this directory?", "--model", "demo", env=environment, cwd=project
        )
    assert ran.code == 0, ran.err
    resources = [resource for request in received for resource in request.resource_spans]
    named = {
        one.key: one.value.string_value for resource in resources for one in resource.resource.attributes
    }
    assert named["service.name"] == "my-hub"
    found = [span for resource in resources for scope in resource.scope_spans for span in scope.spans]
    names = [span.name for span in found]
    assert names.count("invoke_agent manyhands") == 1
    assert names.count("execute_tool list_directory") == 1
    assert names.count("chat demo") == 2
    [agent] = [span for span in found if span.name.startswith("invoke_agent")]
    assert {span.parent_span_id for span in found if span is not agent} == {agent.span_id}
    asked = attributes(next(span for span in found if span.name == "chat demo"))
    assert (asked["gen_ai.operation.name"], asked["gen_ai.request.model"]) == ("chat", "demo")
    assert {"gen_ai.provider.name", "gen_ai.response.finish_reasons", "gen_ai.usage.input_tokens"} <= set(
        asked
    )
    used = attributes(next(span for span in found if span.name.startswith("execute_tool")))
    assert (used["gen_ai.tool.name"], used["gen_ai.operation.name"]) == ("list_directory", "execute_tool")


def test_without_an_endpoint_nothing_of_it_is_imported(tmp_path: Path, project: Path) -> None:
    program = """
import anyio, sys
from manyhands import Hub
async def main():
    async with Hub(sys.argv[1]) as hub:
        async for event in hub.run("which files are here?", directory=sys.argv[2], model="demo"):
            pass
        print(event.data["status"], [name for name in sys.modules if name.startswith("opentelemetry")])
anyio.run(main)
"""
    environment = CommandLine(tmp_path / "home").environment
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "home"), str(project)],
        env={name: value for name, value in environment.items() if not name.startswith("OTEL_")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.stdout == "completed []\n", ran.stderr
