"""What went wrong at a provider, as one kind of error whose message says what to do.

It decides what may be tried again; trying again is not its business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

from manyhands.models.types import ContextTooLongError, ModelError, ModelInfo

RETRIED = frozenset({408, 409, 425, 429})
_LONGEST = 400
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|exceed_context_size|maximum (?:prompt|context)|prompt is too long"
    r"|input (?:token count|is too long)|too many (?:input )?tokens|reduce the length",
    re.IGNORECASE,
)
Redact = Callable[[str], str]


def may_retry(status: int) -> bool:
    """Whether a request that was answered like this may succeed when it is sent again."""
    return status in RETRIED or status >= 500


def broken_stream(info: ModelInfo, detail: str = "") -> ModelError:
    """The answer stopped before its end."""
    because = f" ({detail})" if detail else ""
    return ModelError(f"{info.name} stopped in the middle of its answer{because}. Ask again.", retry=True)


def to_model_error(error: Exception, info: ModelInfo, redact: Redact) -> ModelError:
    """Our error for whatever pydantic-ai, a provider's SDK or the network raised."""
    from pydantic_ai import exceptions as theirs

    detail = redact(_detail(error))[:_LONGEST]
    if isinstance(error, theirs.ModelAPIError):
        return _api_error(error, info, detail)
    if isinstance(error, theirs.ContentFilterError):
        return ModelError(f"{info.name} refused to answer this: {detail}. Word it differently.")
    if isinstance(error, theirs.UserError):
        return ModelError(f"{info.name} cannot be asked like this: {detail}. {_check(info)}")
    return ModelError(f"{info.name} sent something that is not understood: {detail}. Ask again.", retry=True)


def _api_error(error: Any, info: ModelInfo, detail: str) -> ModelError:
    from pydantic_ai import exceptions as theirs

    status: int | None = getattr(error, "status_code", None)
    if isinstance(error, theirs.ModelContextWindowExceededError) or (
        status in (400, 413, 422) and _TOO_LONG.search(detail)
    ):
        return _too_long(info, detail, status)
    if isinstance(error, theirs.ModelConnectionError):
        return ModelError(f"{info.name} could not be reached: {detail}. {_reach(info)}", retry=True)
    if isinstance(error, theirs.ModelRequestTimeout):
        return ModelError(f"{info.name} did not answer in time. Ask again.", retry=True)
    if isinstance(error, theirs.ModelAuthenticationError):
        return ModelError(f"{info.name} refused the key: {detail}. {_key(info)}", provider_status=status)
    if isinstance(error, theirs.ModelQuotaExceededError):
        return ModelError(
            f"The account behind {info.name} has no credit left: {detail}. "
            "Top it up, or choose another model.",
            provider_status=status,
        )
    if isinstance(error, theirs.ModelNotFoundError):
        return ModelError(f"{info.name} is not there: {detail}. {_check(info)}", provider_status=status)
    return _by_status(error, info, detail, status)


def _by_status(error: Any, info: ModelInfo, detail: str, status: int | None) -> ModelError:
    after: float | None = error.retry_after
    if status is None:  # an answer that could not be read, or an error inside a stream
        return ModelError(f"{info.name} failed: {detail}. Ask again.", retry=True, after=after)
    retry = may_retry(status) and getattr(error, "provider_retry_hint", None) is not False
    advice = "Wait a little and ask again." if retry else _check(info)
    message = f"{info.name} answered with status {status}: {detail}. {advice}"
    return ModelError(message, provider_status=status, retry=retry, after=after)


def _too_long(info: ModelInfo, detail: str, status: int | None) -> ModelError:
    return ContextTooLongError(
        f"This is more than {info.name} takes at once: {detail}. "
        "Shorten it, or choose a model with a larger context.",
        provider_status=status,
    )


def _key(info: ModelInfo) -> str:
    if info.source == "environment" and info.api_key:
        return f"Check the environment variable {info.api_key.strip('${}')} and start again."
    command = (
        f"manyhands models add {quote(info.name)} --provider {info.provider} --model {info.model} --api-key -"
    )
    return f"Save a valid one: `{command}`."


def _check(info: ModelInfo) -> str:
    where = f" at {info.base_url}" if info.base_url else ""
    return (
        f"Check that {info.provider} has {info.model!r}{where}; `manyhands models list` shows what is set up."
    )


def _reach(info: ModelInfo) -> str:
    if info.source == "local" or info.provider == "ollama":
        return f"Start the model server at {info.base_url or 'its usual port'}, or choose another model."
    return "Check the network (HTTPS_PROXY, SSL_CERT_FILE) and the address."


def _detail(error: Exception) -> str:
    """The provider's own words, without the wrapping."""
    body = getattr(error, "body", None)
    found = _message_in(body) or getattr(error, "message", None) or str(error) or type(error).__name__
    return " ".join(str(found).split()).rstrip(". ")


def _message_in(body: object) -> str | None:
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return str(body)
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    inner = body.get("error", body)
    found = inner.get("message") if isinstance(inner, Mapping) else inner
    return found if isinstance(found, str) and found.strip() else None
