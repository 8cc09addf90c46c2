"""Runs leave spans by the conventions for generative AI, where somebody collects them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from manyhands.chat import tracing
from manyhands.models.types import ModelError, Reply, Usage
from manyhands.testing.scripted import calls
from tests.chat.hubs import channel_of, events_of, hub_with

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
    with caplog.at_level(logging.WARNING):
        tracing.export_if_configured()
    assert "install opentelemetry-sdk" in caplog.text


def test_without_anybody_who_collects_there_is_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_collected", lambda: False)
    with tracing.span("chat", "model", {}) as begun:
        assert begun is None
