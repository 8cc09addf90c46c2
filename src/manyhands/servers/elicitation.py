"""What a server asks a person, and what becomes of the answer. Pure.

Form data is checked against the schema that the server sent. An address is only ever shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from manyhands.approvals.types import Answer, ApprovalState, Question

if TYPE_CHECKING:
    from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult

_TITLE = 120


def form_question(
    server: str, tool: str | None, params: ElicitRequestFormParams, problem: str | None
) -> Question:
    """A form to fill in. `problem`: what was wrong with the data given before."""
    detail = {
        "server": server,
        "tool": tool,
        "mode": "form",
        "message": params.message,
        "schema": params.requested_schema,
    }
    return Question(
        "elicitation",
        f"{server} asks: {params.message}"[:_TITLE],
        {**detail, "problem": problem} if problem else detail,
        check=lambda response: response_problem(params.requested_schema, response),
    )


def url_question(server: str, tool: str | None, params: ElicitRequestURLParams) -> Question:
    """An address to visit. The host stands in the title: it is what a person should look at."""
    detail = {
        "server": server,
        "tool": tool,
        "mode": "url",
        "message": params.message,
        "url": params.url,
        "host": urlsplit(params.url).hostname,
        "elicitation_id": params.elicitation_id,
    }
    return Question("elicitation", f"{server} asks you to visit {detail['host']}"[:_TITLE], detail)


def is_web_address(url: str) -> bool:
    """Whether it is an address that a browser visits; anything else could start a program."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def response_problem(schema: Mapping[str, Any], response: Any) -> str | None:
    """What is wrong with what a person wants to send."""
    return form_problem(schema, form_data(schema, response))


def form_data(schema: Mapping[str, Any], response: Any) -> dict[str, Any]:
    """What the person entered, with the defaults of the fields that were left out."""
    properties = schema.get("properties")
    fields = properties if isinstance(properties, Mapping) else {}
    defaults = {
        name: field["default"]
        for name, field in fields.items()
        if isinstance(field, Mapping) and "default" in field
    }
    return {**defaults, **(response if isinstance(response, Mapping) else {})}


def form_problem(schema: Mapping[str, Any], data: Mapping[str, Any]) -> str | None:
    """What is wrong with the data, in one sentence."""
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(data))
    if error is None:
        return None
    field = ".".join(str(part) for part in error.absolute_path)
    return f"{field}: {error.message}" if field else error.message


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Why a requested schema cannot be used."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.message
    return None


def refusal(answer: Answer) -> ElicitResult:
    """For an answer that is not a yes: no is `decline`, no answer at all is `cancel`."""
    from mcp.types import ElicitResult

    return ElicitResult(action="decline" if answer.state is ApprovalState.REJECTED else "cancel")
