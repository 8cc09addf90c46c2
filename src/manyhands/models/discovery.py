"""Models that are there without anyone having added them: keys in the environment, servers on this machine.

Nothing is asked but the usual ports of 127.0.0.1, all at once and briefly; the answer is kept for a while.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from manyhands.clock import Clock, SystemClock
from manyhands.models import local_servers
from manyhands.models.clients import KEY_VARIABLES
from manyhands.models.known import DEFAULT_CONTEXT, SUGGESTED, look_up
from manyhands.models.types import ModelInfo, Provider, ProviderInfo

KEPT_SECONDS = 30.0
OPENROUTER = "https://openrouter.ai/api/v1"
LocalServer = Callable[[int], Awaitable[Sequence[ModelInfo]]]


@dataclass(frozen=True, slots=True)
class Port:
    """Where a model server usually listens, and how its models are read."""

    id: str
    name: str
    number: int
    read: LocalServer
    provider: Provider = "openai-compatible"


USUAL_PORTS = (
    Port("ollama", "Ollama", 11434, local_servers.ollama, "ollama"),
    Port("lmstudio", "LM Studio", 1234, local_servers.lm_studio),
    Port("vllm", "vLLM", 8000, local_servers.vllm),
    Port("llamacpp", "llama.cpp", 8080, local_servers.llama_cpp),
)


class Discovery:
    """Looks for models, and remembers what it saw for half a minute."""

    def __init__(
        self,
        *,
        env: Mapping[str, str] = os.environ,
        ports: Sequence[Port] = USUAL_PORTS,
        clock: Clock | None = None,
    ) -> None:
        self._env = env
        self._ports = ports
        self._clock = clock or SystemClock()
        self._looking = anyio.Lock()
        self._seen: Sequence[ModelInfo] = ()
        self._seen_until = float("-inf")

    async def environment(self) -> list[ModelInfo]:
        """Models of the keys that are in the environment."""
        found = [key for key in environment_keys(self._env) if key.models]
        if not found:
            return []
        return await anyio.to_thread.run_sync(lambda: [info for key in found for info in key.infos()])

    async def by_key(self, reference: str) -> ModelInfo | None:
        """`provider:model` for a provider whose key is set, whatever the model."""
        service, _, model = reference.partition(":")
        key = next((key for key in environment_keys(self._env) if key.service == service and model), None)
        return None if key is None else await anyio.to_thread.run_sync(key.info, model)

    def providers(self, running: Sequence[ModelInfo]) -> list[ProviderInfo]:
        """Everyone whose models can be used; `running` are the models of local servers."""
        keys = {key.service: key for key in environment_keys(self._env)}
        found = [_keyed(service, keys.get(service)) for service in SERVICES]
        for port in self._ports:
            address = f"http://127.0.0.1:{port.number}"
            models = [info.model for info in running if (info.base_url or "").startswith(address)]
            found.append(ProviderInfo(port.id, port.name, port.provider, address, (), bool(models), models))
        return [*found, ProviderInfo("demo", "Demo", "demo", None, (), True, ("demo",))]

    async def local(self, *, again: bool = False) -> Sequence[ModelInfo]:
        """Models of the servers on this machine; `again` looks even if it looked just now."""
        async with self._looking:
            if again or self._clock.monotonic() >= self._seen_until:
                self._seen = await self._look()
                self._seen_until = self._clock.monotonic() + KEPT_SECONDS
            return self._seen

    async def _look(self) -> Sequence[ModelInfo]:
        found: list[Sequence[ModelInfo]] = [()] * len(self._ports)

        async def look(index: int, port: Port) -> None:
            found[index] = await port.read(port.number)

        async with anyio.create_task_group() as group:
            for index, port in enumerate(self._ports):
                group.start_soon(look, index, port)
        return [info for infos in found for info in infos]


@dataclass(frozen=True, slots=True)
class Service:
    """A provider on the network, as its key is called in the environment."""

    id: str
    name: str
    provider: Provider
    variables: Sequence[str]
    base_url: str | None = None


SERVICES = {
    service.id: service
    for service in (
        Service("openai", "OpenAI", "openai", KEY_VARIABLES["openai"]),
        Service("anthropic", "Anthropic", "anthropic", KEY_VARIABLES["anthropic"]),
        Service("google", "Google Gemini", "google", KEY_VARIABLES["google"]),
        Service("openrouter", "OpenRouter", "openai-compatible", ("OPENROUTER_API_KEY",), OPENROUTER),
    )
}
"""In the order in which they are preferred."""


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """A key that is there, and the models to offer for it."""

    service: str
    variable: str
    provider: Provider
    base_url: str | None
    models: Sequence[str]

    def infos(self) -> list[ModelInfo]:
        """Slow the first time: sizes and prices are looked up."""
        return [self.info(model) for model in self.models]

    def info(self, model: str) -> ModelInfo:
        known = look_up(self.provider, model, self.base_url)
        return ModelInfo(
            id=f"{self.service}:{model}",
            name=f"{self.service}:{model}",
            provider=self.provider,
            model=model,
            base_url=self.base_url,
            api_key=f"${{{self.variable}}}",
            context=known.context or DEFAULT_CONTEXT,
            modalities=known.modalities,
            price=known.price,
            source="environment",
        )


def environment_keys(env: Mapping[str, str]) -> list[EnvironmentKey]:
    """The keys that are set."""
    found = []
    for service in SERVICES.values():
        variable = next((name for name in service.variables if env.get(name, "").strip()), None)
        if variable is not None:
            models = SUGGESTED[service.id]
            found.append(EnvironmentKey(service.id, variable, service.provider, service.base_url, models))
    return [_redirected(key, env) for key in found]


def _keyed(service_id: str, key: EnvironmentKey | None) -> ProviderInfo:
    service = SERVICES[service_id]
    base_url = service.base_url if key is None else key.base_url
    models = SUGGESTED[service_id] if key is None else key.models
    variables = tuple(service.variables)
    return ProviderInfo(
        service_id, service.name, service.provider, base_url, variables, key is not None, models
    )


def _redirected(key: EnvironmentKey, env: Mapping[str, str]) -> EnvironmentKey:
    """OPENAI_BASE_URL names another service: its models are unknown, and it may speak only the older API."""
    elsewhere = env.get("OPENAI_BASE_URL", "").strip()
    if key.service != "openai" or not elsewhere or "api.openai.com" in elsewhere:
        return key
    named = env.get("OPENAI_MODEL", "").strip()
    return EnvironmentKey("openai", key.variable, "openai-compatible", elsewhere, [named] if named else [])
