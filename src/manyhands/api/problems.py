"""From an error to `application/problem+json`, in one place."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from manyhands.errors import ManyhandsError, UnavailableError
from manyhands.ids import new_id

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# Codes for what the framework refuses before our own code sees it.
_CODES = {
    400: "invalid",
    401: "unauthorized",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
}
_CODES |= {413: "too_large", 422: "invalid", 429: "too_many", 503: "unavailable"}
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_KEPT = ("retry-after", "www-authenticate")
_RESERVED = frozenset({"type", "title", "status", "code", "detail", "hint"})


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str | None = None,
    data: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem as a response. `code` is stable: clients decide by it."""
    body: dict[str, Any] = {
        "type": f"urn:manyhands:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if hint:
        body["hint"] = hint
    body |= {name: value for name, value in (data or {}).items() if name not in _RESERVED}
    content = json.dumps(body, ensure_ascii=False, default=str).encode()
    return Response(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def problem_of(error: ManyhandsError) -> Response:
    """One of our errors."""
    headers = {}
    if isinstance(error, UnavailableError):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return problem(error.status, error.code, error.message, hint=error.hint, data=error.data, headers=headers)


def for_path(path: str, answer: Response) -> Response:
    """The answer as clients of that path expect it: under `/v1` in the form of OpenAI's API."""
    if not path.startswith("/v1/"):
        return answer
    told = json.loads(bytes(answer.body))
    status = 400 if answer.status_code == 422 else answer.status_code
    headers = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
    message = " ".join(text for text in (told["detail"], told.get("hint")) if text)
    content = json.dumps(openai_error(message, told["code"], status), ensure_ascii=False).encode()
    return Response(content, status, headers=headers, media_type="application/json")


def openai_error(message: str, code: str, status: int) -> dict[str, Any]:
    """An error in the form of OpenAI's API."""
    kind = _OPENAI_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}


def unexpected(error: BaseException) -> Response:
    """A mistake of ours: the log has it all, the caller a word to find it there."""
    reference = new_id("error")
    log.error("a request failed unexpectedly", exc_info=error, extra={"reference": reference})
    return problem(
        500,
        "error",
        "Something went wrong that was not foreseen.",
        hint=f"The log has the details under {reference}.",
        data={"reference": reference},
    )


def register(app: FastAPI) -> None:
    """Answer every error of the app as a problem."""
    app.add_exception_handler(ManyhandsError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)


async def _on_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, ManyhandsError)
    return for_path(request.url.path, problem_of(error))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    detail = error.detail
    if detail == HTTPStatus(status).phrase:
        detail = f"{request.method} {request.url.path}: {detail.lower()}."
    hint = "GET /api/openapi.json lists all routes." if status in (404, 405) else None
    answer = problem(status, _CODES.get(status, "error"), detail, hint=hint, headers=error.headers)
    return for_path(request.url.path, answer)


async def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = [{"path": _path(one["loc"]), "message": _message(one)} for one in error.errors()]
    malformed = any(one["type"] == "json_invalid" for one in error.errors())
    first = found[0]
    answer = problem(
        400 if malformed else 422,
        "invalid",
        f"{first['path']}: {first['message']}." if first["path"] else f"{first['message']}.",
        hint="Correct it and send it again.",
        data={"errors": found},
    )
    return for_path(request.url.path, answer)


def _path(location: tuple[int | str, ...]) -> str:
    """Where it is, without the word for the body: `env.KEY`, `args[0]`."""
    text = ""
    for part in location[1:] if location and location[0] == "body" else location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _message(error: Mapping[str, Any]) -> str:
    if error["type"] == "json_invalid":
        return f"the body is not valid JSON ({error.get('ctx', {}).get('error', 'malformed')})"
    return str(error["msg"]).removeprefix("Value error, ").rstrip(".")
