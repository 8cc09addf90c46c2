"""Who turns texts into vectors: the static model that is always there, or an endpoint of the person's choice.

Owns the wire to such an endpoint and what is wrong with its answers. What to do about that is for whoever
asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from manyhands.errors import InvalidError, NotConfiguredError, UnavailableError
from manyhands.memory.types import Chunk
from manyhands.memory.words import meaning
from manyhands.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from manyhands.secrets import SecretStore

    Matrix = NDArray[np.float32]

STATIC = "static"
_WHO = re.compile(r"(?<=://)[^/@]*@")
"""The name and password in an address."""
OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
BATCH = 64
ASK_S = 10.0
EMBED_S = 120.0
LONGEST = 8000
"""Characters of a text that are sent: no endpoint takes a text of any length."""


class Embedder(Protocol):
    """Makes vectors. Two with the same name make vectors that can be compared."""

    name: str
    batch: int

    def passage(self, chunk: Chunk) -> str:
        """What of a chunk it is to be given."""
        ...

    async def embed(self, passages: Sequence[str]) -> Matrix:
        """Vectors of length 1."""
        ...

    async def ask(self, question: str) -> NDArray[np.float32]:
        """The vector of a question."""
        ...


class StaticEmbedder:
    """The word vectors that are installed with the hub. Its work is done in a thread."""

    name = "static:wordllama-256:1"
    batch = 2000

    def passage(self, chunk: Chunk) -> str:
        return chunk.text  # words of its headings are found as words, and would make all chunks alike

    async def embed(self, passages: Sequence[str]) -> Matrix:
        return await anyio.to_thread.run_sync(_static, passages)

    async def ask(self, question: str) -> NDArray[np.float32]:
        return await anyio.to_thread.run_sync(self.ask_here, question)

    def ask_here(self, question: str) -> NDArray[np.float32]:
        """The same for whoever is in a thread already."""
        found: NDArray[np.float32] = _static([question])[0]
        return found


def _static(texts: Sequence[str]) -> Matrix:
    from manyhands.embedding import embed

    return embed([meaning(text) for text in texts])


class EndpointEmbedder:
    """Ollama, or whatever speaks OpenAI's embeddings."""

    batch = BATCH

    def __init__(
        self, kind: str, model: str, url: str, key: str | None, redact: Callable[[str], str] = str
    ) -> None:
        """`redact` takes secrets out of what is told of it."""
        self.name = f"{kind}:{model}@{_WHO.sub('', url)}"
        self._redact = redact
        self._kind = kind
        self._model = model
        self._url = url.rstrip("/") + ("/api/embed" if kind == "ollama" else "/embeddings")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def passage(self, chunk: Chunk) -> str:
        return "\n".join([" > ".join(chunk.headings), chunk.text]) if chunk.headings else chunk.text

    async def embed(self, passages: Sequence[str]) -> Matrix:
        return await self._vectors(passages, EMBED_S)

    async def ask(self, question: str) -> NDArray[np.float32]:
        found: NDArray[np.float32] = (await self._vectors([question], ASK_S))[0]
        return found

    async def _vectors(self, texts: Sequence[str], timeout: float) -> Matrix:
        body = {"model": self._model, "input": [text[:LONGEST] or " " for text in texts]}
        answer = await self._post(body, timeout)
        try:
            if self._kind == "ollama":
                rows = answer["embeddings"]
            else:
                ordered = sorted(answer["data"], key=lambda item: int(item.get("index", 0)))
                rows = [item["embedding"] for item in ordered]
            return _checked(rows, len(texts))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._bad(f"it answers with something else than {len(texts)} vectors") from error

    async def _post(self, body: dict[str, Any], timeout: float) -> Any:
        import httpx2

        try:
            with anyio.fail_after(timeout):
                async with httpx2.AsyncClient(
                    timeout=timeout, trust_env=False, headers=self._headers
                ) as client:
                    answer = await client.post(self._url, json=body)
            if answer.status_code != 200:
                told = self._redact(answer.text).strip()
                said = f": {told[:200]}" if told else ""
                raise self._bad(f"it answers with status {answer.status_code}{said}")
            return answer.json()
        except TimeoutError as error:
            raise self._bad(f"no answer within {timeout:.0f} s") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise self._bad(f"its address is not one: {error}") from error
        except (httpx2.HTTPError, OSError) as error:
            raise self._bad(str(error) or type(error).__name__) from error
        except ValueError as error:
            raise self._bad("it does not answer with JSON") from error

    def _bad(self, reason: str) -> UnavailableError:
        return UnavailableError(
            self._redact(f"The embeddings endpoint {self._url} cannot be used: {reason}."),
            hint="Check memory_embedder and memory_embedder_url; it is tried again later.",
        )


def _checked(rows: Any, count: int) -> Matrix:
    """As many vectors as were asked for, all of one length, made of length 1."""
    import numpy as np

    found = np.array(rows, dtype=np.float32)
    if found.ndim != 2 or len(found) != count or not found.shape[1] or not np.isfinite(found).all():
        raise ValueError("not a matrix")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1), dtype=np.float32)


async def make_embedder(settings: Settings, secrets: SecretStore) -> Embedder | None:
    """The one that the settings name; nothing means search by words alone."""
    kind, _, model = settings.memory_embedder.partition(":")
    if kind == "none":
        return None
    if kind == STATIC:
        return StaticEmbedder()
    if not model:
        raise InvalidError(
            f"memory_embedder is {settings.memory_embedder!r}.", hint="Name a model, such as ollama:bge-m3."
        )
    url = settings.memory_embedder_url or (OLLAMA_URL if kind == "ollama" else OPENAI_URL)
    try:
        found = await secrets.expand({"url": url})
        if settings.memory_embedder_key:
            found |= await secrets.reveal({"key": settings.memory_embedder_key})
    except NotConfiguredError as error:
        raise UnavailableError(error.message, hint=error.hint) from error
    return EndpointEmbedder(kind, model, found["url"], found.get("key"), secrets.redactor.redact)
