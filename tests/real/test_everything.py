"""`server-everything` over stdio, streamable HTTP and SSE: all that a server can do, on each transport.

One hub for all tests, with a server for each transport that is named after it.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from manyhands.approvals.types import ApprovalState
from manyhands.servers.endpoints import ClientFeatures
from manyhands.tools.types import CallRecord
from tests.real.servers import npm_command, watched_everything, web_everything
from tests.real.watching import Watched, text, watched_hub
from tests.servers.rig import BOUND, Caller, running, stdio_target, yes

pytestmark = pytest.mark.anyio

TRANSPORTS = ("stdio", "http", "sse")
on_each = pytest.mark.parametrize("server", TRANSPORTS)
CITY = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}


@pytest.fixture(scope="module")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a file per server: the reasons of the requests that it aborted."""
    return tmp_path_factory.mktemp("witness")


@pytest.fixture(scope="module")
async def hub(
    tmp_path_factory: pytest.TempPathFactory, witness: Path, anyio_backend: str
) -> AsyncIterator[Watched]:
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(web_everything("http", witness / "http"))
        sse = await stack.enter_async_context(web_everything("sse", witness / "sse"))
        hub = await stack.enter_async_context(watched_hub(tmp_path_factory.mktemp("hub") / "home"))
        await hub.add("stdio", **watched_everything(witness / "stdio"))
        await hub.add("http", **http.config)
        await hub.add("sse", **sse.config)
        # From its first question on the inbox has a timer; it is no leak of the test that asks first.
        await answered_call(hub, "stdio", "trigger-elicitation-request", None)
        yield hub


async def until(is_so: Any) -> None:
    """For what happens in another process, of which nobody tells us."""
    with anyio.fail_after(BOUND):
        while not await is_so():  # noqa: ASYNC110
            await anyio.sleep(0.02)


# --- what it offers


@on_each
async def test_everything_that_it_offers_is_listed(hub: Watched, server: str) -> None:
    view = await hub.hub.servers.by_name(server)
    assert view.status == "connected"
    assert (view.catalogue.protocol, view.catalogue.version) == ("2025-11-25", "2.0.0")
    assert "Everything" in (view.catalogue.instructions or "")
    assert not view.catalogue.repairs
    listed = {one.definition.name for one in await hub.hub.servers.tools(view.server.id)}
    assert {"echo", "get-tiny-image", "get-roots-list", "trigger-elicitation-request"} <= listed
    prompts = [one["command"] for one in await hub.hub.servers.prompts(view.server.id)]
    assert prompts[:2] == [f"/{server}:simple-prompt", f"/{server}:args-prompt"]
    uris = {one["uri"] for one in await hub.hub.servers.resources(view.server.id)}
    assert "demo://resource/static/document/features.md" in uris
    templates = await hub.hub.servers.resource_templates(view.server.id)
    assert templates[0]["uriTemplate"] == "demo://resource/dynamic/text/{resourceId}"


@on_each
async def test_prompts_resources_and_completions_are_answered(hub: Watched, server: str) -> None:
    servers, server_id = hub.hub.servers, await hub.id_of(server)
    prompt = await servers.get_prompt(server_id, "args-prompt", {"city": "Oslo"})
    assert prompt["messages"][0]["content"]["text"] == "What's weather in Oslo?"
    read = await servers.read_resource(server_id, "demo://resource/dynamic/blob/7")
    assert base64.b64decode(read["contents"][0]["blob"]).startswith(b"Resource 7:")
    team, asked = "completable-prompt", {"name": "department", "value": "E"}
    teams = await servers.complete(server_id, "prompt", team, asked)
    assert teams["completion"]["values"] == ["Engineering"]
    asked = {"name": "name", "value": "A"}
    people = await servers.complete(server_id, "prompt", team, asked, {"department": "Engineering"})
    assert people["completion"]["values"] == ["Alice"]
    template = "demo://resource/dynamic/text/{resourceId}"
    numbers = await servers.complete(server_id, "resource", template, {"name": "resourceId", "value": "3"})
    assert numbers["completion"]["values"] == ["3"]


# --- results


@on_each
@pytest.mark.requirement("L15")
async def test_an_image_is_kept_between_its_texts(hub: Watched, server: str) -> None:
    record = await hub.call(server, "get-tiny-image")
    assert "[image image/png]" in text(record)
    assert [block["type"] for block in record.content or ()] == ["text", "image", "text"]
    assert base64.b64decode((record.content or ())[1]["data"]).startswith(b"\x89PNG")


@on_each
@pytest.mark.requirement("L15")
async def test_structured_content_and_text_are_both_kept(hub: Watched, server: str) -> None:
    record = await hub.call(server, "get-structured-content", location="Chicago")
    assert record.structured_content == CITY
    assert "Light rain" in text(record)
    logged = await hub.hub.tools.get_call(record.id)
    assert (logged.structured_content, logged.result) == (CITY, record.result)


@on_each
async def test_links_to_resources_lead_to_them(hub: Watched, server: str) -> None:
    record = await hub.call(server, "get-resource-links", count=2)
    links = [block["uri"] for block in record.content or () if block["type"] == "resource_link"]
    assert links == ["demo://resource/dynamic/blob/1", "demo://resource/dynamic/text/2"]
    read = await hub.hub.servers.read_resource(await hub.id_of(server), links[1])
    assert read["contents"][0]["text"].startswith("Resource 2:")


async def test_arguments_that_do_not_fit_are_refused_before_the_server_sees_them(hub: Watched) -> None:
    record = await hub.call("stdio", "get-structured-content", location="Atlantis")
    assert record.status == "error"
    assert "location" in (record.error or "")


# --- while a call runs


@on_each
@pytest.mark.requirement("L11")
async def test_progress_is_told_while_a_call_runs(hub: Watched, server: str) -> None:
    record = await hub.call(server, "trigger-long-running-operation", duration=0.6, steps=2)
    assert "Steps: 2" in text(record)
    steps = hub.told("tool.progress", id=record.id)
    assert [(step["progress"], step["total"]) for step in steps] == [(1, 2), (2, 2)]
    await hub.event("tool.finished", id=record.id)
    kinds = [event.type for event in hub.events.all if event.data.get("id") == record.id]
    assert kinds == ["tool.started", "tool.progress", "tool.progress", "tool.finished"]


@on_each
@pytest.mark.requirement("L12")
async def test_stopping_a_call_reaches_the_server_which_goes_on(
    hub: Watched, server: str, witness: Path
) -> None:
    seen = len(hub.events.all)
    before = await hub.hub.servers.by_name(server)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: hub.call(server, "trigger-long-running-operation", duration=20, steps=40))
        started = await hub.event(
            "tool.started", after=seen, server=server, tool="trigger-long-running-operation"
        )
        await hub.event("tool.progress", after=seen, id=started["id"])
        tasks.cancel_scope.cancel()
    assert (await hub.hub.tools.get_call(started["id"])).status == "cancelled"
    with anyio.fail_after(BOUND):
        while not (witness / server).exists():  # noqa: ASYNC110 - it is written by another process
            await anyio.sleep(0.02)
    assert "Kyoto" in text(await hub.call(server, "echo", message="Kyoto"))
    after = await hub.hub.servers.by_name(server)
    assert (after.state.pid, after.state.restarts) == (before.state.pid, before.state.restarts)


# --- what it asks of us


async def answered_call(hub: Watched, server: str, tool: str, *answers: Any, **arguments: Any) -> CallRecord:
    """A call during which the person gives these answers in the inbox, one after the other."""
    records: list[CallRecord] = []

    async def call() -> None:
        records.append(await hub.call(server, tool, **arguments))

    async with anyio.create_task_group() as tasks:
        seen = len(hub.events.all)
        tasks.start_soon(call)
        for answer in answers:
            asked = await hub.event("approval.requested", after=seen, kind="elicitation")
            seen = len(hub.events.all)
            await hub.hub.approvals.answer(asked["id"], answer is not None, response=answer)
    return records[0]


@on_each
async def test_a_form_is_filled_in_from_the_inbox(hub: Watched, server: str) -> None:
    form = {"name": "Ada", "check": True, "integer": 7, "email": "ada@example.org"}
    record = await answered_call(hub, server, "trigger-elicitation-request", form)
    assert "- Name: Ada" in text(record)
    assert "- Favorite Integer: 7" in text(record)
    (asked,) = hub.told("approval.requested", call_id=record.id)
    assert server in asked["title"]
    assert asked["detail"]["schema"]["required"] == ["name"]
    inbox = await hub.hub.approvals.list(ApprovalState.PENDING)
    assert not inbox.items


@on_each
async def test_a_form_that_is_refused_is_declined(hub: Watched, server: str) -> None:
    record = await answered_call(hub, server, "trigger-elicitation-request", None)
    assert "User declined" in text(record)


@on_each
@pytest.mark.parametrize("error_path", [False, True], ids=["asked", "required"])
async def test_an_address_is_visited_and_the_call_goes_on(
    hub: Watched, server: str, error_path: bool
) -> None:
    url = f"https://example.org/{server}/{error_path}"
    visits: list[Any] = [{}] * (2 if error_path else 1)
    record = await answered_call(
        hub, server, "trigger-url-elicitation", *visits, url=url, errorPath=error_path
    )
    assert "User completed the URL elicitation flow." in text(record)
    shown = [one["detail"]["url"] for one in hub.told("approval.requested", call_id=record.id)]
    assert shown == [*(["https://modelcontextprotocol.io"] if error_path else []), url]


async def test_without_a_model_sampling_is_not_declared() -> None:
    async with running(stdio_target(*npm_command("everything"))) as rig:
        await rig.up()
        assert rig.connection.catalogue is not None
        assert "trigger-sampling-request" not in {tool.name for tool in rig.connection.catalogue.tools}


async def test_with_a_model_sampling_asks_the_person_first() -> None:
    wanted: list[Any] = []

    async def model(request: Any) -> dict[str, Any]:
        wanted.append(request)
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": "42"}}

    caller = Caller(answers=[yes()])
    async with running(
        stdio_target(*npm_command("everything")), features=ClientFeatures(sampler=model)
    ) as rig:
        result = await rig.call("trigger-sampling-request", caller, prompt="Why?", maxTokens=9)
    assert '"text": "42"' in result.text
    (question,) = caller.questions.all
    assert (question.kind, question.detail["maxTokens"]) == ("sampling", 9)
    assert "Why?" in wanted[0]["messages"][0]["content"]["text"]


# --- what it tells by itself


@on_each
async def test_a_watched_resource_and_the_servers_log_are_told_as_events(hub: Watched, server: str) -> None:
    servers, server_id = hub.hub.servers, await hub.id_of(server)
    uri, seen = "demo://resource/static/document/features.md", len(hub.events.all)
    await servers.subscribe_resource(server_id, uri)
    said = await hub.events.until(
        lambda event: event.type == "mcp.log" and uri in str(event.data["data"]), after=seen
    )
    assert (said.data["server_id"], said.data["level"]) == (server_id, "info")
    text(await hub.call(server, "toggle-subscriber-updates"))
    await hub.event("mcp.resource_updated", after=seen, server_id=server_id, uri=uri)
    text(await hub.call(server, "toggle-subscriber-updates"))
    await servers.unsubscribe_resource(server_id, uri)


@on_each
async def test_a_resource_that_arrives_is_listed_and_read(hub: Watched, server: str) -> None:
    servers, server_id = hub.hub.servers, await hub.id_of(server)
    text(await hub.call(server, "gzip-file-as-resource", name=f"{server}.gz", data="data:,hello"))
    uri = f"demo://resource/session/{server}.gz"

    async def is_listed() -> bool:
        return uri in {one["uri"] for one in await servers.resources(server_id)}

    await until(is_listed)
    assert (await servers.read_resource(server_id, uri))["contents"][0]["mimeType"] == "application/gzip"
