"""The use cases of models, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from manyhands.errors import ConflictError, InvalidError, NotFoundError
from manyhands.events import Event, EventBus
from manyhands.home import Home
from manyhands.models import local_servers
from manyhands.models.demo import DEMO, DemoModel
from manyhands.models.discovery import Discovery, Port
from manyhands.models.service import ModelService
from manyhands.models.types import ModelError, Restarted, ToolSpec
from manyhands.models.views import model_json, provider_json, trial_json
from manyhands.secrets import MASK, SecretStore
from manyhands.settings import Settings
from manyhands.store.engine import Store
from manyhands.testing.clock import FakeClock
from tests.models.aimock import Aimock
from tests.models.asked import ask, reply_of, says
from tests.models.raw_server import Answer, answering, events, raw_server
from tests.models.test_provider_streams import chunk

pytestmark = pytest.mark.anyio

SECRET = "sk-very-secret-0123456789"
Make = Callable[..., AbstractAsyncContextManager[ModelService]]


class CurrentSettings:
    """Settings that a test chooses."""

    def __init__(self, **values: Any) -> None:
        self.current = Settings(**values)


class InstantClock(FakeClock):
    """Nobody waits."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0)


@pytest.fixture
def happened(bus: EventBus) -> list[Event]:
    seen: list[Event] = []
    bus.observe(seen.append)
    return seen


@pytest.fixture
def make(store: Store, bus: EventBus, tmp_path: Path) -> Make:
    """A service with the keys and servers of a test."""
    home = Home(tmp_path)

    @asynccontextmanager
    async def build(
        *ports: Port, env: dict[str, str] | None = None, **settings: Any
    ) -> AsyncIterator[ModelService]:
        secrets = SecretStore(home, env=env or {})
        discovery = Discovery(env=env or {}, ports=ports)
        service = ModelService(
            store, bus, secrets, CurrentSettings(**settings), InstantClock(), discovery=discovery
        )
        yield service
        await service.close()

    return build


@pytest.fixture
async def models(make: Make) -> AsyncIterator[ModelService]:
    """A service without a key and without a server."""
    async with make() as service:
        yield service


def compatible(url: str, **fields: Any) -> dict[str, Any]:
    return {"provider": "openai-compatible", "model": "some-model", "base_url": f"{url}/v1", **fields}


# --- which models there are, and which one is used


async def test_with_nothing_set_up_there_is_the_demo(models: ModelService) -> None:
    [info] = await models.list()
    assert (info.id, info.default) == ("demo", True)
    assert isinstance(await models.resolve(), DemoModel)
    assert await models.resolve("demo") is await models.resolve()


async def test_a_server_on_this_machine_comes_before_the_demo(make: Make, aimock: Aimock) -> None:
    aimock.answer({"content": "Hi."}, match={"model": "llama3.2"})
    port = Port("vllm", "vLLM", int(aimock.url.rpartition(":")[2]), local_servers.vllm)
    async with make(port) as service:
        model = await service.resolve()
        assert (model.info.source, model.info.provider) == ("local", "openai-compatible")
        assert [info.default for info in await service.list()].count(True) == 1
        aimock.answer({"content": "Hello from next door."})
        assert (await reply_of(await service.resolve("vllm:llama3.2"), says("hello"))).text == "Hi."


async def test_a_person_may_forbid_to_look_for_servers(make: Make, aimock: Aimock) -> None:
    port = Port("vllm", "vLLM", int(aimock.url.rpartition(":")[2]), local_servers.vllm)
    async with make(port, model_discovery=False) as service:
        assert [info.id for info in await service.list()] == ["demo"]
        assert aimock.requests() == []


async def test_a_key_in_the_environment_comes_before_a_server(make: Make, aimock: Aimock) -> None:
    port = Port("vllm", "vLLM", int(aimock.url.rpartition(":")[2]), local_servers.vllm)
    async with make(port, env={"ANTHROPIC_API_KEY": SECRET}) as service:
        assert (await service.resolve()).info.id == "anthropic:claude-sonnet-5-5"


async def test_a_saved_model_comes_before_all_others(make: Make) -> None:
    async with make(env={"ANTHROPIC_API_KEY": SECRET}) as service:
        saved = await service.add({"name": "mine", "provider": "openai", "model": "gpt-6.1-sol"})
        assert (await service.resolve()).info == saved
        defaults = [info.name for info in await service.list() if info.default]
        assert defaults == ["mine"]


async def test_a_model_is_found_by_id_name_and_provider(make: Make) -> None:
    async with make(env={"OPENROUTER_API_KEY": SECRET}) as service:
        saved = await service.add({"name": "mine", "provider": "openai", "model": "gpt-6.1-sol"})
        assert await service.get(saved.id) == await service.get("mine") == saved
        assert (await service.get("openrouter:any/model")).model == "any/model"
        assert await service.get("demo") == DEMO
        with pytest.raises(NotFoundError, match="'nobody'"):
            await service.get("nobody")


async def test_what_is_known_of_a_model_is_filled_in(models: ModelService) -> None:
    info = await models.add({"provider": "anthropic", "model": "claude-sonnet-5-5", "tool_call": 0})
    assert (info.name, info.context, info.tool_call) == ("anthropic:claude-sonnet-5-5", 1_000_000, False)
    assert info.price is not None
    assert "image" in info.modalities


async def test_what_a_person_says_of_a_model_counts(models: ModelService) -> None:
    price = {"input": 9, "output": 9}
    info = await models.add(
        {"provider": "anthropic", "model": "claude-sonnet-5-5", "context": 5000, "price": price}
    )
    assert (info.context, info.price.output if info.price else None) == (5000, 9)


# --- keys


async def test_a_key_is_kept_apart_and_never_shown(
    models: ModelService, store: Store, happened: list[Event], aimock: Aimock
) -> None:
    info = await models.add(compatible(aimock.url, name="mine", api_key=SECRET))
    assert info.api_key == f"${{keyring:model/{info.id}}}"
    assert SECRET not in f"{[model_json(info) for info in await models.list()]} {happened}"
    assert model_json(info)["has_key"] is True
    assert "api_key" not in model_json(info)


async def test_the_key_reaches_the_provider(models: ModelService) -> None:
    parts = events(chunk({"content": "Hi"}), chunk(finish="stop"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        info = await models.add(compatible(server.url, api_key=SECRET))
        await reply_of(await models.resolve(info.id), says("hello"))
        assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_a_reference_stays_a_reference(make: Make) -> None:
    async with make(env={"MY_KEY": SECRET}) as service:
        info = await service.add({"provider": "openai", "model": "x", "api_key": "${MY_KEY}"})
        assert info.api_key == "${MY_KEY}"


async def test_a_mask_that_is_sent_back_keeps_the_key(models: ModelService) -> None:
    info = await models.add({"provider": "openai", "model": "x", "api_key": SECRET})
    assert (await models.patch(info.id, {"api_key": MASK, "context": 5000})).api_key == info.api_key
    assert (await models.patch(info.id, {"context": 6000})).api_key == info.api_key


async def test_a_key_can_be_taken_away(models: ModelService) -> None:
    info = await models.add({"provider": "openai", "model": "x", "api_key": SECRET})
    assert (await models.patch(info.id, {"api_key": None})).api_key is None
    with pytest.raises(ModelError, match=r"has no key.*OPENAI_API_KEY"):
        await ask(await models.resolve(info.id), says("hello"))


async def test_a_key_that_is_not_set_says_which(models: ModelService) -> None:
    info = await models.add({"provider": "openai", "model": "x", "api_key": "${NOT_THERE}"})
    with pytest.raises(ModelError, match="NOT_THERE"):
        await ask(await models.resolve(info.id), says("hello"))


async def test_a_new_key_is_used_at_once(models: ModelService) -> None:
    parts = events(chunk({"content": "Hi"}), chunk(finish="stop"), "[DONE]")
    async with raw_server(answering(Answer(parts=parts))) as server:
        info = await models.add(compatible(server.url, api_key=SECRET))
        await reply_of(await models.resolve(info.id), says("hello"))
        await models.patch(info.id, {"api_key": "sk-new-key-123456"})
        await reply_of(await models.resolve(info.id), says("hello"))
        assert server.requests[1].headers["authorization"] == "Bearer sk-new-key-123456"


# --- changing


async def test_the_first_saved_model_is_the_default_until_another_is(
    models: ModelService, happened: list[Event]
) -> None:
    first = await models.add({"provider": "openai", "model": "a"})
    second = await models.add({"provider": "openai", "model": "b"})
    assert (first.default, second.default) == (True, False)
    await models.set_default(second.id)
    assert {info.model: info.default for info in await models.list()} == {
        "a": False,
        "b": True,
        "demo": False,
    }
    with pytest.raises(ConflictError, match="is the default"):
        await models.patch(second.id, {"default": False})
    assert [event.type for event in happened] == ["model.updated"] * 3


async def test_a_model_that_was_found_can_be_made_the_default(make: Make) -> None:
    async with make(env={"OPENAI_API_KEY": SECRET}) as service:
        await service.set_default("openai:gpt-6-luna")
        assert (await service.default()).model == "gpt-6-luna"
        infos = [info for info in await service.list() if info.id == "openai:gpt-6-luna"]
        assert [(info.source, info.default) for info in infos] == [("saved", True)]
        await service.delete("openai:gpt-6-luna")
        assert (await service.default()).model == "gpt-6.1-sol"


async def test_even_the_demo_can_be_the_default(make: Make) -> None:
    async with make(env={"OPENAI_API_KEY": SECRET}) as service:
        await service.set_default("demo")
        assert isinstance(await service.resolve(), DemoModel)


async def test_adding_a_name_that_is_there_replaces_it(models: ModelService) -> None:
    first = await models.add({"name": "mine", "provider": "openai", "model": "a"})
    again = await models.add({"name": "mine", "provider": "anthropic", "model": "b"})
    assert (again.id, again.provider, again.default) == (first.id, "anthropic", True)
    assert len(await models.list()) == 2


async def test_a_name_that_another_model_has_is_refused(models: ModelService) -> None:
    await models.add({"name": "mine", "provider": "openai", "model": "a"})
    other = await models.add({"name": "other", "provider": "openai", "model": "b"})
    with pytest.raises(ConflictError, match="'mine'"):
        await models.patch(other.id, {"name": "mine"})


async def test_a_deleted_model_is_gone_with_its_key(models: ModelService, tmp_path: Path) -> None:
    info = await models.add({"provider": "openai", "model": "a", "api_key": SECRET})
    await models.delete(info.id)
    assert [info.id for info in await models.list()] == ["demo"]
    assert await SecretStore(Home(tmp_path), env={}).get(f"model/{info.id}") is None


async def test_what_was_not_saved_cannot_be_deleted(models: ModelService) -> None:
    with pytest.raises(ConflictError, match="not saved but found"):
        await models.delete("demo")
    with pytest.raises(NotFoundError):
        await models.delete("nobody")


# --- asking


async def test_a_failure_that_passes_is_not_seen(models: ModelService, aimock: Aimock) -> None:
    aimock.answer({"content": "Here."})
    aimock.fail_once(503, "not now")
    info = await models.add(compatible(aimock.url))
    *before, reply = await ask(await models.resolve(info.id), says("hello"))
    assert any(isinstance(piece, Restarted) for piece in before)
    assert reply.text == "Here."  # type: ignore[union-attr]


async def test_a_model_can_be_made_ready_ahead_of_need(models: ModelService, aimock: Aimock) -> None:
    await models.warm()
    info = await models.add(compatible(aimock.url))
    await models.warm(info.id)
    await models.warm("nobody")
    await models.add({"name": "keyless", "provider": "openai", "model": "x"})
    await models.warm("keyless")
    assert aimock.requests() == []


async def test_a_fallback_answers_when_a_model_fails(
    models: ModelService, aimock: Aimock, unused_port: int
) -> None:
    aimock.answer({"content": "From the second."})
    await models.add(compatible(aimock.url, name="second"))
    await models.add(compatible(f"http://127.0.0.1:{unused_port}", name="first", fallbacks=["second"]))
    model = await models.resolve("first")
    assert model.info.name == "first"
    assert (await reply_of(model, says("hello"))).text == "From the second."


async def test_a_fallback_that_is_gone_is_passed_over(models: ModelService, aimock: Aimock) -> None:
    aimock.answer({"content": "Here."})
    await models.add(compatible(aimock.url, name="second"))
    await models.add(compatible(aimock.url, name="first", fallbacks=["second"]))
    await models.delete("second")
    assert (await reply_of(await models.resolve("first"), says("hello"))).text == "Here."


@pytest.mark.parametrize("fallback", ["nobody", "mine"])
async def test_a_fallback_must_be_another_model(models: ModelService, fallback: str) -> None:
    await models.add({"name": "mine", "provider": "openai", "model": "a"})
    with pytest.raises((InvalidError, NotFoundError)):
        await models.patch("mine", {"fallbacks": [fallback]})


async def test_a_model_can_be_tried_out(models: ModelService, aimock: Aimock) -> None:
    aimock.answer({"content": "ready"})
    info = await models.add(compatible(aimock.url))
    trial = await models.test(info.id)
    assert (trial.ok, trial.text, trial.error) == (True, "ready", None)
    assert trial.latency_ms is not None
    assert trial_json(trial)["usage"]["input"] >= 0


async def test_a_model_that_does_not_work_says_why(models: ModelService, aimock: Aimock) -> None:
    aimock.answer({"error": {"message": f"bad key {SECRET}"}, "status": 401})
    info = await models.add(compatible(aimock.url, api_key=SECRET))
    trial = await models.test(info.id)
    assert not trial.ok
    assert trial.error is not None
    assert "refused the key" in trial.error
    assert SECRET not in trial.error
    assert len(aimock.requests()) == 1


async def test_the_demo_can_be_tried_out_too(models: ModelService) -> None:
    assert (await models.test("demo")).ok


async def test_providers_are_listed_with_what_they_need(make: Make) -> None:
    async with make(env={"OPENAI_API_KEY": SECRET}) as service:
        listed = [provider_json(provider) for provider in await service.providers()]
        assert listed[0]["key_variables"] == ["OPENAI_API_KEY"]
        assert [entry["id"] for entry in listed if entry["ready"]] == ["openai", "demo"]
        assert SECRET not in str(listed)


@pytest.mark.requirement("L18")
async def test_how_a_model_takes_a_tool_is_known_before_it_is_asked(make: Make) -> None:
    odd = {"type": "object", "properties": {"when": {"type": "string", "pattern": "^a", "examples": ["a"]}}}
    async with make(env={"GEMINI_API_KEY": SECRET}) as service:
        info, repair = await service.takes(ToolSpec("look", "Looks.", odd))
        assert info.provider == "google"
        assert repair is not None
        assert not repair.dropped
        assert "examples" in repair.notes[0]
        _, refused = await service.takes(ToolSpec("1look", "Looks.", odd))
        assert refused is not None
        assert refused.dropped
        assert await service.takes(ToolSpec("look", "Looks.", {"type": "object"})) == (info, None)
