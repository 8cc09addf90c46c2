"""Models that are there by themselves: keys in the environment, servers on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from manyhands.models import local_servers
from manyhands.models.discovery import KEPT_SECONDS, OPENROUTER, USUAL_PORTS, Discovery, LocalServer, Port
from manyhands.models.known import SUGGESTED
from manyhands.models.types import ModelInfo
from manyhands.testing.clock import FakeClock
from tests.models.aimock import Aimock
from tests.models.raw_server import Answer, Handler, Request, answering, json_answer, raw_server

pytestmark = pytest.mark.anyio


def at(port: int, read: LocalServer) -> list[Port]:
    return [Port("some", "Some server", port, read)]


def serving(pages: Mapping[str, Any]) -> Handler:
    """A server with these pages."""

    def answer(request: Request) -> Answer:
        page = pages.get(request.path)
        found = page(request) if callable(page) else page
        return json_answer({"error": "no"}, 404) if found is None else json_answer(found)

    return answer


async def found_at(read: LocalServer, pages: Mapping[str, Any]) -> list[ModelInfo]:
    async with raw_server(serving(pages)) as server:
        return list(await Discovery(env={}, ports=at(server.port, read)).local())


# --- keys


async def test_without_keys_and_servers_there_is_nothing(unused_port: int) -> None:
    discovery = Discovery(env={"OPENAI_API_KEY": "  "}, ports=at(unused_port, local_servers.ollama))
    assert await discovery.environment() == []
    assert await discovery.local() == []


@pytest.mark.parametrize(
    ("variable", "service", "provider"),
    [
        ("OPENAI_API_KEY", "openai", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic", "anthropic"),
        ("GEMINI_API_KEY", "google", "google"),
        ("GOOGLE_API_KEY", "google", "google"),
        ("OPENROUTER_API_KEY", "openrouter", "openai-compatible"),
    ],
)
async def test_a_key_in_the_environment_brings_its_models(variable: str, service: str, provider: str) -> None:
    infos = await Discovery(env={variable: "sk-secret"}, ports=()).environment()
    assert [info.model for info in infos] == list(SUGGESTED[service])
    first = infos[0]
    assert (first.id, first.provider, first.source) == (f"{service}:{first.model}", provider, "environment")
    assert first.api_key == f"${{{variable}}}"
    assert first.context > 100_000
    assert first.price is not None
    assert "sk-secret" not in repr(infos)


async def test_several_keys_come_in_a_fixed_order() -> None:
    env = dict.fromkeys(("OPENROUTER_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"), "x")
    infos = await Discovery(env=env, ports=()).environment()
    services = list(dict.fromkeys(info.id.partition(":")[0] for info in infos))
    assert services == ["openai", "anthropic", "google", "openrouter"]


async def test_any_model_of_a_provider_with_a_key_can_be_named() -> None:
    discovery = Discovery(env={"OPENROUTER_API_KEY": "x"}, ports=())
    info = await discovery.by_key("openrouter:qwen/qwen3-max")
    assert info is not None
    assert (info.model, info.base_url, info.context) == ("qwen/qwen3-max", OPENROUTER, 262_144)
    assert await discovery.by_key("openai:gpt-6.1-sol") is None
    assert await discovery.by_key("openrouter:") is None
    assert await discovery.by_key("openrouter") is None


async def test_another_address_for_openai_is_another_service() -> None:
    env = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "https://proxy.example/v1"}
    assert await Discovery(env=env, ports=()).environment() == []
    [info] = await Discovery(env=env | {"OPENAI_MODEL": "mine"}, ports=()).environment()
    assert (info.provider, info.base_url, info.model) == (
        "openai-compatible",
        "https://proxy.example/v1",
        "mine",
    )


# --- servers


async def test_ollama_says_what_its_models_can_do() -> None:
    shown: dict[str, Any] = {
        "llama3.2:3b": {
            "capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "llama", "llama.context_length": 131072},
        },
        "llava:7b": {
            "capabilities": ["completion", "vision"],
            "parameters": 'num_ctx                        8192\nstop "x"',
            "model_info": {"llama.context_length": 32768},
        },
        "nomic-embed-text": {"capabilities": ["embedding"]},
        "odd:1b": {"details": None},
    }
    pages = {
        "/api/tags": {"models": [{"name": name} for name in shown] + [{"nameless": 1}, "what"]},
        "/api/show": lambda request: shown[request.body["model"]],
    }
    infos = await found_at(local_servers.ollama, pages)
    assert [(info.id, info.tool_call, info.context, info.modalities) for info in infos] == [
        ("ollama:llama3.2:3b", True, 131072, ("text",)),
        ("ollama:llava:7b", False, 8192, ("text", "image")),
        ("ollama:odd:1b", True, 32000, ("text",)),
    ]
    assert {info.provider for info in infos} == {"ollama"}
    assert {info.source for info in infos} == {"local"}


async def test_lm_studio_says_what_its_models_can_do() -> None:
    items = [
        {
            "id": "qwen",
            "type": "llm",
            "max_context_length": 40960,
            "loaded_context_length": 4096,
            "capabilities": [],
        },
        {"id": "see", "type": "vlm", "max_context_length": 8192, "capabilities": ["tool_use"]},
        {"id": "words", "type": "embeddings"},
    ]
    infos = await found_at(local_servers.lm_studio, {"/api/v0/models": {"data": items}})
    assert [(info.id, info.tool_call, info.context, info.modalities) for info in infos] == [
        ("lmstudio:qwen", False, 4096, ("text",)),
        ("lmstudio:see", True, 8192, ("text", "image")),
    ]


async def test_vllm_says_how_much_its_models_take() -> None:
    items = [{"id": "org/model", "object": "model", "max_model_len": 16384}, {"id": "my-embedder"}]
    [info] = await found_at(local_servers.vllm, {"/v1/models": {"object": "list", "data": items}})
    assert (info.id, info.provider, info.context) == ("vllm:org/model", "openai-compatible", 16384)
    assert info.base_url is not None
    assert info.base_url.startswith("http://127.0.0.1:")
    assert info.base_url.endswith("/v1")


@pytest.mark.parametrize(
    ("template", "tools"), [("{% if tools %}", True), ("{{ messages }}", False), (None, True)]
)
async def test_llama_cpp_shows_in_its_template_whether_it_knows_tools(
    template: str | None, tools: bool
) -> None:
    pages = {
        "/v1/models": {"data": [{"id": "model.gguf"}]},
        "/props": {"default_generation_settings": {"n_ctx": 2048}, "chat_template": template},
    }
    [info] = await found_at(local_servers.llama_cpp, pages)
    assert (info.id, info.context, info.tool_call) == ("llamacpp:model.gguf", 2048, tools)


async def test_a_model_server_that_nobody_here_wrote_is_found(aimock: Aimock) -> None:
    aimock.answer({"content": "Hi."}, match={"model": "llama3.2"})
    port = int(aimock.url.rpartition(":")[2])
    infos = await Discovery(env={}, ports=at(port, local_servers.ollama)).local()
    assert "ollama:llama3.2" in [info.id for info in infos]
    infos = await Discovery(env={}, ports=at(port, local_servers.vllm)).local()
    assert "vllm:llama3.2" in [info.id for info in infos]


READERS: list[Callable[..., Any]] = [port.read for port in USUAL_PORTS]
ODD = [
    Answer(parts=[b"<html>a web site</html>"]),
    json_answer([]),
    json_answer({"models": "x", "data": "y"}),
    json_answer({"models": [1, None], "data": [None, {"id": 7}]}),
    json_answer(None),
    json_answer({"data": []}, 500),
    Answer(parts=[b'{"data": [']),
    Answer(cut=True),
    Answer(headers={"Content-Length": "5", "Transfer-Encoding": "identity"}),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("odd", ODD)
async def test_what_is_no_model_server_is_passed_over(read: LocalServer, odd: Answer) -> None:
    async with raw_server(answering(odd)) as server:
        assert list(await Discovery(env={}, ports=at(server.port, read)).local()) == []


async def test_a_server_that_says_nothing_does_not_hold_up_the_others() -> None:
    models = {"/v1/models": {"data": [{"id": "quick"}]}}
    async with raw_server(answering(Answer(hang=True))) as mute, raw_server(serving(models)) as quick:
        ports = [*at(mute.port, local_servers.vllm), *at(quick.port, local_servers.vllm)]
        with anyio.fail_after(10):
            infos = await Discovery(env={}, ports=ports).local()
    assert [info.model for info in infos] == ["quick"]


async def test_what_was_seen_is_kept_for_a_while() -> None:
    clock = FakeClock()
    async with raw_server(serving({"/v1/models": {"data": [{"id": "one"}]}})) as server:
        discovery = Discovery(env={}, ports=at(server.port, local_servers.vllm), clock=clock)
        first = await discovery.local()
        await discovery.local()
        assert len(server.requests) == 1
        clock.advance(KEPT_SECONDS)
        assert await discovery.local() == first
        assert len(server.requests) == 2
        await discovery.local(again=True)
        assert len(server.requests) == 3


async def test_two_who_look_at_once_look_once() -> None:
    async with raw_server(serving({"/v1/models": {"data": [{"id": "one"}]}})) as server:
        discovery = Discovery(env={}, ports=at(server.port, local_servers.vllm))
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(discovery.local)
        assert len(server.requests) == 1


async def test_everyone_whose_models_can_be_used_is_listed(unused_port: int) -> None:
    discovery = Discovery(env={"ANTHROPIC_API_KEY": "x"}, ports=at(unused_port, local_servers.vllm))
    providers = {provider.id: provider for provider in discovery.providers(await discovery.local())}
    assert list(providers) == ["openai", "anthropic", "google", "openrouter", "some", "demo"]
    assert [name for name, provider in providers.items() if provider.ready] == ["anthropic", "demo"]
    assert providers["google"].key_variables == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
