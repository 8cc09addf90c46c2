"""Arguments against a tool's schema: read, checked, and refused in words that let a model mend them.

Most calls fit and most schemas are simple: a checker of our own says yes to those, and jsonschema is imported
when it cannot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from manyhands.errors import ToolFault
from manyhands.secrets import HIDDEN
from manyhands.strange_schema import SchemaFault, StrangeSchema
from manyhands.tools.quick_schema import Check, quick_check
from manyhands.tools.types import ToolDefinition

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

CACHE = 4096
SHOWN_PROBLEMS = 5
SHOWN_PARAMETERS = 30
MESSAGE_LIMIT = 300

Problems = Callable[[Any], "list[str]"]


def read_arguments(raw: object) -> dict[str, Any]:
    """Arguments as a model or a client sent them; text is read as JSON, nothing means none."""
    if isinstance(raw, str):
        try:
            raw = json.loads(raw) if raw.strip() else {}
        except ValueError as error:
            raise ToolFault(
                f"The arguments are not valid JSON: {error}.", hint="Send one JSON object."
            ) from error
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        kind = {list: "a list", str: "a text", bool: "true or false"}.get(type(raw), "a number")
        raise ToolFault(f"The arguments are {kind}.", hint="Send one JSON object with the tool's parameters.")
    return {str(key): value for key, value in raw.items()}


class ArgumentChecker:
    """Checks arguments; what it has learnt of a schema it keeps."""

    def __init__(self) -> None:
        self._known: dict[str | int, tuple[Mapping[str, Any], Check | None, Problems | None]] = {}

    def check(self, definition: ToolDefinition, arguments: Mapping[str, Any]) -> None:
        """Raise `ToolFault` when the arguments do not fit."""
        schema, quick, full = self._lookup(definition)
        if quick is not None and quick(arguments):
            return
        if full is None:
            full = _full_check(schema)
            self._known[_key(definition)] = (schema, quick, full)
        if problems := full(arguments):
            raise ToolFault(_explain(definition, problems), hint="Correct the arguments and call it again.")

    def _lookup(self, definition: ToolDefinition) -> tuple[Mapping[str, Any], Check | None, Problems | None]:
        key = _key(definition)
        known = self._known.get(key)
        if known is not None:
            return known
        if len(self._known) >= CACHE:
            self._known.clear()
        known = self._known[key] = (definition.input_schema, quick_check(definition.input_schema), None)
        return known


def _key(definition: ToolDefinition) -> str | int:
    # The schema is kept beside its id in the cache, so the id cannot be given to another one meanwhile.
    return definition.definition_hash or id(definition.input_schema)


def _full_check(schema: Mapping[str, Any]) -> Problems:
    """Everything JSON Schema knows. A schema that is broken accepts all: its server is the judge then."""
    try:
        strange = StrangeSchema(schema)
    except SchemaFault:
        return lambda _: []
    return lambda arguments: [_problem(error) for error in islice(strange.misfits(arguments), SHOWN_PROBLEMS)]


def _problem(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    message = error.message
    if len(message) > MESSAGE_LIMIT:
        message = f"{message[: MESSAGE_LIMIT // 2]} … {message[-MESSAGE_LIMIT // 2 :]}"
    return f"{where}: {message}" if where else message


def _explain(definition: ToolDefinition, problems: list[str]) -> str:
    lines = [f"The arguments do not fit the tool {definition.full_name}:", *(f"- {one}" for one in problems)]
    return "\n".join([*lines, f"Its parameters: {_parameters(definition.input_schema)}."])


def _parameters(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return "none"
    required = schema.get("required") or ()
    shown = [_parameter(name, spec, name in required) for name, spec in properties.items()]
    more = [f"and {len(shown) - SHOWN_PARAMETERS} more"] if len(shown) > SHOWN_PARAMETERS else []
    return ", ".join(shown[:SHOWN_PARAMETERS] + more)


def _parameter(name: str, spec: object, required: bool) -> str:
    kind = spec.get("type") if isinstance(spec, Mapping) else None
    words = [" or ".join(kind) if isinstance(kind, list) else str(kind or "any")]
    return f"{name} ({', '.join(words + ['required'] * required)})"


def refuse_hidden(definition: ToolDefinition, arguments: Mapping[str, Any]) -> None:
    """What stands in place of a secret would be written over the secret itself."""
    if definition.annotations.read_only:
        return
    if name := next((name for name, value in arguments.items() if _holds(value, HIDDEN)), None):
        raise ToolFault(
            f"The argument {name!r} of {definition.full_name} holds {HIDDEN}, which stands in place of"
            " a secret that is not told. Written back it would destroy the secret.",
            hint="Leave that part as it is and change only what is around it, or ask a person to do it.",
        )


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, str):
        return text in value
    if isinstance(value, Mapping):
        return any(_holds(item, text) for item in value.values())
    return isinstance(value, list) and any(_holds(item, text) for item in value)
