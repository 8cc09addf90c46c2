"""Language models: what is known of one, what it is asked, what it streams back.

The loop knows only these types. Providers, the demo model and the scripted model of the tests all speak them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from manyhands.errors import UnavailableError

Provider = Literal["openai", "anthropic", "google", "ollama", "openai-compatible", "demo"]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, usage: Usage) -> float:
        """US dollars for these tokens; cached ones are part of the input."""
        cached = self.input if self.cached_input is None else self.cached_input
        fresh = max(0, usage.input - usage.cached)
        return (fresh * self.input + usage.cached * cached + usage.output * self.output) / 1_000_000


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be used.

    `source`: `saved` by a person, `environment` (a key was found), `local` (a server was found), `built-in`.
    """

    id: str
    name: str
    provider: Provider
    model: str
    base_url: str | None = None
    api_key: str | None = None
    """A reference to the key, never the key."""
    tool_call: bool = True
    context: int = 32_000
    modalities: Sequence[str] = ("text",)
    price: Price | None = None
    default: bool = False
    source: Literal["saved", "environment", "local", "built-in"] = "saved"
    fallbacks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """Someone whose models can be used. `ready`: a key was found, or its server runs on this machine."""

    id: str
    name: str
    provider: Provider
    base_url: str | None
    key_variables: Sequence[str]
    ready: bool
    models: Sequence[str]


@dataclass(frozen=True, slots=True)
class Trial:
    """How a tiny request to a model went. Times in ms: to the first word, and to the end."""

    ok: bool
    model: str
    text: str = ""
    error: str | None = None
    first_ms: int | None = None
    latency_ms: int | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is sent to a model."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture or a file that the person gave along."""

    name: str
    mime: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that the model asks for. `arguments` is what it wrote, not yet parsed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as the model sees it.

    `calls` only for the assistant; `call_id`, `tool` and `is_error` only for tool results.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: Sequence[ToolRequest] = ()
    call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    attachments: Sequence[Attachment] = ()
    thinking: Sequence[Mapping[str, Any]] = ()
    """Thinking blocks that the provider wants back, as it wrote them."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that goes to a model in one request."""

    system: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec] = ()
    max_output: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request or of many."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """More of what the model thinks before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole answer; always the last thing in a stream that did not break."""

    text: str = ""
    calls: Sequence[ToolRequest] = ()
    thinking: Sequence[Mapping[str, Any]] = ()
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    model: str = ""
    by: ModelInfo | None = field(default=None, compare=False)
    """Which model of a chain has answered; nothing when it is the only one."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The answer begins anew: what was streamed so far no longer counts. It is asked again in `wait` s."""

    reason: str
    model: str = ""
    attempt: int = 2
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolRepair:
    """What was done to a tool so that this provider takes it; a dropped tool was not sent at all."""

    tool: str
    dropped: bool
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ToolsMended:
    """Some tools could not go out as they are; comes before the answer."""

    repairs: Sequence[ToolRepair]


Piece = TextDelta | ThinkingDelta | Restarted | ToolsMended | Reply


class Model(Protocol):
    """Something that answers."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Piece]]:
        """Ask; leaving the context before the end cancels the request at the provider."""
        ...


class ModelError(UnavailableError):
    """A request to a model failed; the message says what to do.

    `retry`: the same request may succeed later; `after`: seconds that the provider asked to wait;
    `provider_status`: the HTTP status that it answered with.
    """

    code = "model_error"

    def __init__(
        self,
        message: str,
        *,
        provider_status: int | None = None,
        retry: bool = False,
        after: float | None = None,
    ) -> None:
        super().__init__(message, retry_after=after or 1.0)
        self.provider_status = provider_status
        self.retry = retry
        self.after = after


class ContextTooLongError(ModelError):
    """The request is larger than the model's context: send less, or ask a model with a larger one."""

    code = "context_too_long"
