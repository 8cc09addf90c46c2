"""What a server asks a person, and what becomes of the answer. Pure.

Form data is checked against the schema that the server sent. An address is only ever shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from manyhands.approvals.types import Answer, ApprovalState, Question
from manyhands.strange_schema import SchemaFault, StrangeSchema

if TYPE_CHECKING:
    from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult

_TITLE = 120
_LONGEST_ADDRESS = 8_000
"""What is longer would be shown without its middle."""
_MOST_FIELDS = 200
_NESTING = ("properties", "patternProperties", "prefixItems", "$ref", "$dynamicRef", "allOf")
_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")


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
    """An address to visit. The host stands in the title, whole: it is what a person should look at."""
    written = urlsplit(params.url).hostname or ""
    host = plain_host(written)
    detail = {
        "server": server,
        "tool": tool,
        "mode": "url",
        "message": params.message,
        "url": params.url,
        "host": host,
        "elicitation_id": params.elicitation_id,
    }
    spelled = "" if host == written else f" (written {written})"
    return Question("elicitation", f"{server} asks you to visit {host}{spelled}", detail)


def address_problem(url: str) -> str | None:
    """Why a person is not asked to visit it: anything but a plain web address could start a program, or be
    shown as another one than a browser goes to."""
    if len(url) > _LONGEST_ADDRESS:
        return f"An address may have {_LONGEST_ADDRESS} characters; this one has {len(url)}."
    if any(character == "\\" or _is_unseen(character) for character in url):
        return "An address must have no backslash, no space and no character that cannot be seen."
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.port != 0 and plain_host(parts.hostname or "")
    except ValueError:
        usable = False
    if not usable:
        return "Only http and https addresses with the plain name of a host can be visited."
    return "An address must not hold a user's name." if "@" in parts.netloc else None


def plain_host(host: str) -> str | None:
    """The host in ASCII, as it is looked up; nothing when browsers could take it for another one."""
    if host.isascii():
        return host if _HOST.fullmatch(host) else None
    try:
        plain = host.encode("idna").decode("ascii")
        same = plain.encode("ascii").decode("idna") == host
    except UnicodeError:
        return None
    return plain if same and _HOST.fullmatch(plain) else None


def _is_unseen(character: str) -> bool:
    return character.isspace() or unicodedata.category(character).startswith("C")


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
    from jsonschema.exceptions import best_match

    error = best_match(_form(schema).misfits(data))
    if error is None:
        return None
    field = ".".join(str(part) for part in error.absolute_path)
    return f"{field}: {error.message}" if field else error.message


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Why a requested schema cannot be used: it is no schema, or not the flat form of the protocol."""
    fields = schema.get("properties", {})
    if isinstance(fields, Mapping) and len(fields) > _MOST_FIELDS:
        return f"a form may have {_MOST_FIELDS} fields; this one has {len(fields)}"
    try:
        _form(schema)
    except SchemaFault as fault:
        return str(fault)
    nested = next((name for name, field in fields.items() if not _is_flat(field)), None)
    return None if nested is None else f"the field {nested!r} is not flat; a form has plain fields only"


def _form(schema: Mapping[str, Any]) -> StrangeSchema:
    """The protocol's forms are of the newest dialect, whatever they say of themselves."""
    return StrangeSchema({key: said for key, said in schema.items() if key != "$schema"}, formats=True)


def _is_flat(field: Any, *, within: bool = False) -> bool:
    """Whether it is one value, or a choice of several."""
    if not isinstance(field, Mapping) or any(word in field for word in _NESTING):
        return False
    kind = field.get("type")
    kinds = set(kind) if isinstance(kind, list) else {kind} - {None}
    if kinds & ({"object", "array"} if within else {"object"}):
        return False
    parts = [*field.get("anyOf", ()), *field.get("oneOf", ())]
    if "items" in field:
        parts.append(field["items"])
    return not (within and "items" in field) and all(_is_flat(part, within=True) for part in parts)


def refusal(answer: Answer) -> ElicitResult:
    """For an answer that is not a yes: no is `decline`, no answer at all is `cancel`."""
    from mcp.types import ElicitResult

    return ElicitResult(action="decline" if answer.state is ApprovalState.REJECTED else "cancel")
