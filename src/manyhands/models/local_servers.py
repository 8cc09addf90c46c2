"""Model servers on this machine: which models each kind has, and what it says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from manyhands.models.known import DEFAULT_CONTEXT
from manyhands.models.loopback import HOST, ask_json
from manyhands.models.types import ModelInfo, Provider

MOST_MODELS = 40


@dataclass(frozen=True, slots=True)
class _Service:
    """A server at a port, by the name that its models carry."""

    name: str
    port: int
    provider: Provider = "openai-compatible"

    def info(self, model: str, *, context: int = 0, tool_call: bool = True, sees: bool = False) -> ModelInfo:
        suffix = "" if self.provider == "ollama" else "/v1"
        return ModelInfo(
            id=f"{self.name}:{model}",
            name=f"{self.name}:{model}",
            provider=self.provider,
            model=model,
            base_url=f"http://{HOST}:{self.port}{suffix}",
            tool_call=tool_call,
            context=context or DEFAULT_CONTEXT,
            modalities=("text", "image") if sees else ("text",),
            source="local",
        )


async def ollama(port: int) -> Sequence[ModelInfo]:
    """Ollama says for each model what it can do and how much it takes."""
    service = _Service("ollama", port, "ollama")
    names = [item.get("name") for item in _items(await ask_json(port, "/api/tags"), "models")]
    models = [name for name in names if isinstance(name, str)][:MOST_MODELS]
    found: dict[str, ModelInfo] = {}

    async def look(model: str) -> None:
        said = _mapping(await ask_json(port, "/api/show", body={"model": model}))
        can = said.get("capabilities")
        if not isinstance(can, list):
            found[model] = service.info(model)
        elif "completion" in can:
            context = _ollama_context(said)
            found[model] = service.info(
                model, context=context, tool_call="tools" in can, sees="vision" in can
            )

    async with anyio.create_task_group() as group:
        for model in models:
            group.start_soon(look, model)
    return [found[model] for model in models if model in found]


async def lm_studio(port: int) -> Sequence[ModelInfo]:
    """LM Studio has a list of its own that says more than the usual one."""
    service = _Service("lmstudio", port)
    items = _items(await ask_json(port, "/api/v0/models"), "data")
    if not items:
        return await _usual(service)
    return [
        service.info(
            item["id"],
            context=_count(item.get("loaded_context_length") or item.get("max_context_length")),
            tool_call="tool_use" in can if isinstance(can := item.get("capabilities"), list) else True,
            sees=item.get("type") == "vlm",
        )
        for item in items
        if isinstance(item.get("id"), str) and item.get("type") != "embeddings"
    ]


async def vllm(port: int) -> Sequence[ModelInfo]:
    return await _usual(_Service("vllm", port))


async def llama_cpp(port: int) -> Sequence[ModelInfo]:
    """llama.cpp serves one model; its template says whether it knows tools."""
    service = _Service("llamacpp", port)
    usual = await _usual(service)
    if not usual:
        return ()
    said = _mapping(await ask_json(port, "/props"))
    template = said.get("chat_template")
    context = _count(_mapping(said.get("default_generation_settings")).get("n_ctx"))
    sees = bool(_mapping(said.get("modalities")).get("vision"))
    return [
        service.info(
            info.model,
            context=context or info.context,
            tool_call="tools" in template if isinstance(template, str) else True,
            sees=sees,
        )
        for info in usual
    ]


async def _usual(service: _Service) -> Sequence[ModelInfo]:
    """The list that every OpenAI-compatible server has."""
    items = _items(await ask_json(service.port, "/v1/models"), "data")
    names = [(item["id"], item) for item in items if isinstance(item.get("id"), str)]
    return [
        service.info(name, context=_count(item.get("max_model_len")))
        for name, item in names[:MOST_MODELS]
        if "embed" not in name.lower()
    ]


def _ollama_context(said: Mapping[str, Any]) -> int:
    """What it is set to, else what the model was made for."""
    for line in str(said.get("parameters") or "").splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value)
    sizes = _mapping(said.get("model_info")).items()
    return next((_count(size) for name, size in sizes if name.endswith(".context_length")), 0)


def _items(answer: Any, key: str) -> list[Mapping[str, Any]]:
    found = _mapping(answer).get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
