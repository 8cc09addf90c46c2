"""Connections to providers: one HTTP client for all of them, and pydantic-ai's model for each of ours.

Everything heavy is imported here, in a worker thread, when the first model is asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from manyhands.models.types import ModelError, ModelInfo, Provider

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as TheirModel

OLLAMA = "http://127.0.0.1:11434"
NEEDS_KEY = frozenset[Provider]({"openai", "anthropic", "google"})
CONNECT_SECONDS = 10
SILENCE_SECONDS = 600
"""How long a provider may say nothing; some think for minutes before the first word."""
CLOSE_SECONDS = 5

_answers: ContextVar[list[httpx2.Response] | None] = ContextVar("answers", default=None)


class Clients:
    """The HTTP client of a hub. Whoever made it closes it."""

    def __init__(self) -> None:
        self._http: httpx2.AsyncClient | None = None
        self._opening = anyio.Lock()

    async def connect(self, info: ModelInfo, key: str | None) -> TheirModel:
        """pydantic-ai's model for this one; nothing is sent yet."""
        if info.provider in NEEDS_KEY and not key:
            raise ModelError(
                f"{info.name} has no key. Set {KEY_VARIABLES[info.provider][0]}, or save the model with one: "
                f"`manyhands models add {quote(info.name)} --provider {info.provider} --model {info.model} "
                "--api-key -`."
            )
        async with self._opening:
            if self._http is None:
                self._http = await anyio.to_thread.run_sync(_open_http)
        return await anyio.to_thread.run_sync(_build, info, key, self._http)

    async def close(self) -> None:
        """Close every connection; open answers break."""
        http, self._http = self._http, None
        if http is not None:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await http.aclose()


KEY_VARIABLES: dict[Provider, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}


@contextmanager
def answers_noted() -> Iterator[list[httpx2.Response]]:
    """The HTTP answers that begin in this context."""
    noted: list[httpx2.Response] = []
    token = _answers.set(noted)
    try:
        yield noted
    finally:
        _answers.reset(token)


async def hang_up(answers: Sequence[httpx2.Response]) -> None:
    """End these answers at the provider. Not every SDK does when its stream is left before the end."""
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        for answer in answers:
            await answer.aclose()


async def _note_answer(response: httpx2.Response) -> None:
    noted = _answers.get()
    if noted is not None:
        noted.append(response)


def _open_http() -> httpx2.AsyncClient:
    import httpx2

    from manyhands import __version__

    # A model server on this machine is never behind the proxy of the network.
    direct = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        headers={"User-Agent": f"manyhands/{__version__}"},
        mounts=direct,
        event_hooks={"response": [_note_answer]},
    )


def _build(info: ModelInfo, key: str | None, http: httpx2.AsyncClient) -> TheirModel:
    match info.provider:
        case "openai":
            from pydantic_ai.models.openai import OpenAIResponsesModel
            from pydantic_ai.providers.openai import OpenAIProvider

            openai = OpenAIProvider(base_url=info.base_url, api_key=key, http_client=http)
            return OpenAIResponsesModel(info.model, provider=openai)
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AnthropicProvider(base_url=info.base_url, api_key=key, http_client=http)
            return AnthropicModel(info.model, provider=anthropic)
        case "google":
            return _build_google(info, key, http)
        case "ollama":
            from pydantic_ai.models.ollama import OllamaModel
            from pydantic_ai.providers.ollama import OllamaProvider

            address = with_version(info.base_url or OLLAMA)
            return OllamaModel(info.model, provider=OllamaProvider(address, key, http_client=http))
        case "openai-compatible":
            return _build_compatible(info, key, http)
    raise ModelError(
        f"{info.name} has the provider {info.provider!r}, which cannot be asked over the network."
    )


def _build_google(info: ModelInfo, key: str | None, http: httpx2.AsyncClient) -> TheirModel:
    with warnings.catch_warnings():
        # Python's compiler complains about a docstring of this package the first time it is imported.
        warnings.filterwarnings("ignore", message="invalid escape sequence")
        from google.genai.client import Client
        from google.genai.types import HttpOptions
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

    address, version = (info.base_url or "").rstrip("/"), None
    for known in ("v1beta", "v1alpha", "v1"):
        if address.endswith(f"/{known}"):
            address, version = address.removesuffix(f"/{known}"), known
    options = HttpOptions(
        base_url=address or None,
        api_version=version,
        httpx_async_client=http,
        timeout=SILENCE_SECONDS * 1000,
    )
    client = Client(vertexai=False, api_key=key, http_options=options)
    return GoogleModel(info.model, provider=GoogleProvider(client=client))


def _build_compatible(info: ModelInfo, key: str | None, http: httpx2.AsyncClient) -> TheirModel:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if info.base_url is None:
        raise ModelError(
            f"{info.name} has no address. Save it with its base_url, such as http://127.0.0.1:8000/v1."
        )
    service = urlsplit(info.base_url).netloc
    provider = OpenAICompatibleProvider(service, base_url=info.base_url, api_key=key, http_client=http)
    return OpenAIChatModel(info.model, provider=provider)


def with_version(address: str) -> str:
    """Ollama's address as its OpenAI-compatible API has it."""
    plain = address.rstrip("/")
    return plain if plain.endswith("/v1") else f"{plain}/v1"
