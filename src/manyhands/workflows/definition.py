"""From data to a definition: every field read and checked for its kind. Mistakes are a list of problems."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from manyhands.workflows import durations
from manyhands.workflows.fields import NODE, TYPES, WORKFLOW, Field
from manyhands.workflows.source import Located
from manyhands.workflows.types import Definition, Json, Node, NodeType, Retry

MOST_NODES = 2000
DEEPEST_BODY = 5
RESERVED = frozenset({"runs", "validate", "examples"})
ERROR_CLASSES = (
    "error",
    "timeout",
    "interrupted",
    "unavailable",
    "denied",
    "output",
    "template",
    "cancelled",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")
_INPUT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_RETRY = {"attempts", "max_attempts", "delay", "backoff", "max_delay", "on"}


class Reader:
    """Reads one definition; `found.problems` fills on the way."""

    def __init__(self, found: Located) -> None:
        self.found = found
        self.count = 0

    def wrong(self, message: str, path: str, severity: str = "error") -> None:
        self.found.problems.append(self.found.problem(message, path, severity))

    def read(self) -> Definition | None:
        """The definition as far as it can be understood; only without errors is it one to run."""
        data = self.found.data
        if not isinstance(data, Mapping):
            if not self.found.problems:
                self.wrong("A workflow is a mapping with name and nodes.", "")
            return None
        self._fields(data, WORKFLOW, "", "a workflow")
        name = data.get("name")
        if isinstance(name, str) and (not _NAME.fullmatch(name) or name in RESERVED):
            self.wrong(f"{name!r} cannot be a name: use letters, digits, - and _, at most 64.", "name")
        nodes = self._nodes(data.get("nodes"), "nodes", 0)
        version = data.get("version")
        return Definition(
            name=str(name),
            description=str(data.get("description") or ""),
            version=None if version is None else str(version),
            inputs=self._inputs(data.get("inputs")),
            nodes=nodes,
            timeout_s=self._span(data.get("timeout"), "timeout"),
            parallel=data.get("parallel") if isinstance(data.get("parallel"), int) else None,
            data=data,
        )

    # --- parts

    def _fields(self, data: Mapping[str, Any], known: Mapping[str, Field], path: str, what: str) -> None:
        """That all fields are known, those that must be are there, and each is of its kind."""
        for name in data:
            if name not in known:
                near = difflib.get_close_matches(str(name), list(known), 1)
                hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(known)}."
                self.wrong(
                    f"{what[0].upper()}{what[1:]} has no field {name!r}.{hint}", _below(path, str(name))
                )
        for name, field in known.items():
            value = data.get(name)
            if value is None:
                if field.required:
                    self.wrong(f"{what[0].upper()}{what[1:]} needs {name!r}: {field.about}", path)
            elif said := _misfit(field, value):
                self.wrong(f"{name} {said}", _below(path, name))

    def _inputs(self, data: Any) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for name, given in data.items() if isinstance(data, Mapping) else ():
            path = f"inputs.{name}"
            if not _INPUT.fullmatch(str(name)):
                self.wrong(f"{name!r} cannot be an input: use letters, digits and _.", path)
            schema = {"type": given} if isinstance(given, str) else given or {}
            if not isinstance(schema, Mapping):
                self.wrong("An input is a JSON Schema, such as {type: string}.", path)
                continue
            made[str(name)] = dict(schema)
            if said := schema_problem(value_schema(schema)):
                self.wrong(said, path)
        return made

    def _nodes(self, data: Any, path: str, depth: int) -> list[Node]:
        if isinstance(data, Mapping) and depth and "type" in data:
            data = [data]
        if not isinstance(data, list):
            if isinstance(data, Mapping):
                self.wrong("The nodes must be a list.", path)
            return []
        if not data:
            self.wrong("There are no nodes in it.", path)
        before, self.count = self.count, self.count + len(data)
        if self.count > MOST_NODES:
            if before <= MOST_NODES:
                said = f"It has {self.count:,} nodes; at most {MOST_NODES:,} work. Use foreach, or split it."
                self.wrong(said, path)
            return []
        if depth > DEEPEST_BODY:
            self.wrong(f"Bodies are nested more than {DEEPEST_BODY} deep.", path)
            return []
        made = (self._node(one, f"{path}[{number}]", depth) for number, one in enumerate(data))
        return [one for one in made if one is not None]

    def _node(self, data: Any, path: str, depth: int) -> Node | None:
        if not isinstance(data, Mapping):
            self.wrong("A node is a mapping with id and type.", path)
            return None
        kind = data.get("type")
        if not isinstance(kind, str) or kind not in TYPES:
            known = ", ".join(TYPES)
            said = "A node needs a type" if kind is None else f"There is no node type {kind!r}"
            self.wrong(f"{said}; the types are {known}.", _below(path, "type") if kind else path)
            return None
        self._fields(data, {**NODE, **TYPES[kind]}, path, f"a {kind} node")
        node_id = data.get("id")
        if not isinstance(node_id, str) or not _ID.fullmatch(node_id):
            if node_id is not None:
                self.wrong(f"{node_id!r} cannot be an id: use a-z, 0-9 and _, a letter first.", f"{path}.id")
            return None
        return self._made(cast("NodeType", kind), node_id, data, path, depth)

    def _made(self, kind: NodeType, node_id: str, data: Mapping[str, Any], path: str, depth: int) -> Node:
        needs = data.get("depends_on") or []
        return Node(
            id=node_id,
            type=kind,
            values={
                name: data[name] for name in TYPES[kind] if name != "body" and data.get(name) is not None
            },
            depends_on=[needs] if isinstance(needs, str) else [str(one) for one in _listed(needs)],
            when=_condition(data.get("when")),
            trigger_rule=_chosen(data.get("trigger_rule"), NODE["trigger_rule"].choices, "all_success"),
            retry=self._retry(data.get("retry"), f"{path}.retry"),
            timeout_s=self._span(data.get("timeout"), f"{path}.timeout"),
            output=self._schema(data.get("output"), f"{path}.output"),
            always_run=data.get("always_run") is True,
            on_interrupt=_chosen(data.get("on_interrupt"), NODE["on_interrupt"].choices, None),
            body=self._nodes(data.get("body"), f"{path}.body", depth + 1),
            place=path,
        )

    def _schema(self, data: Any, path: str) -> Json | None:
        if not isinstance(data, Mapping):
            return None
        if said := schema_problem(data):
            self.wrong(said, path)
        return dict(data)

    def _span(self, value: Any, path: str) -> float | None:
        if value is None:
            return None
        try:
            return durations.seconds(value)
        except ValueError:
            return None  # told with the fields

    def _retry(self, data: Any, path: str) -> Retry:
        if isinstance(data, int) and not isinstance(data, bool):
            return Retry(attempts=max(1, data + 1))
        if not isinstance(data, Mapping):
            return Retry()
        for name in data:
            if name not in _RETRY:
                self.wrong(
                    f"retry has no field {name!r}; known: attempts, delay, backoff, max_delay, on.", path
                )
        attempts = data.get("attempts", data.get("max_attempts", 3))
        backoff = data.get("backoff", 2)
        if not isinstance(attempts, int) or isinstance(attempts, bool) or not 1 <= attempts <= 100:
            self.wrong("attempts must be a whole number from 1 to 100.", path)
            attempts = 1
        if not isinstance(backoff, int | float) or isinstance(backoff, bool) or not 1 <= backoff <= 10:
            self.wrong("backoff must be a number from 1 to 10.", path)
            backoff = 2
        on = [data["on"]] if isinstance(data.get("on"), str) else _listed(data.get("on") or [])
        for one in on:
            if one not in ERROR_CLASSES:
                self.wrong(f"There is no class of error {one!r}; known: {', '.join(ERROR_CLASSES)}.", path)
        return Retry(
            attempts,
            self._wait(data, "delay", 1.0, path),
            float(backoff),
            self._wait(data, "max_delay", 300.0, path),
            [str(one) for one in on],
        )

    def _wait(self, data: Mapping[str, Any], name: str, default: float, path: str) -> float:
        value = data.get(name, default)
        if value == 0:
            return 0.0
        try:
            return durations.seconds(value)
        except ValueError as error:
            self.wrong(f"{name}: {error}.", path)
            return default


def value_schema(schema: Mapping[str, Any]) -> Json:
    """An input's schema without the word that says whether it must be given."""
    return {
        key: value for key, value in schema.items() if not (key == "required" and isinstance(value, bool))
    }


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a JSON Schema."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"This is no JSON Schema: {error.message[:200]}."
    return None


def _misfit(field: Field, value: Any) -> str | None:
    """Why a value is not of a field's kind."""
    match field.kind:
        case "text" | "node":
            good, wanted = isinstance(value, str), "must be a text"
        case "template" | "script":
            good, wanted = (
                isinstance(value, str) and bool(value.strip()),
                "must be a text with something in it",
            )
        case "expression":
            good, wanted = isinstance(value, str | bool | int), "must be an expression"
        case "number":
            good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10_000
            wanted = "must be a whole number from 1 to 10,000"
        case "switch":
            good, wanted = isinstance(value, bool), "must be true or false"
        case "schema" | "mapping":
            good, wanted = isinstance(value, Mapping), "must be a mapping"
        case "names":
            listed = isinstance(value, list) and all(isinstance(one, str) for one in value)
            good, wanted = isinstance(value, str) or listed, "must be a list of ids"
        case "body":
            good, wanted = isinstance(value, list | Mapping), "must be a list of nodes"
        case "retry":
            whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100
            good, wanted = whole or isinstance(value, Mapping), "must be a number or a mapping with attempts"
        case "reject":
            good, wanted = isinstance(value, str | Mapping), "must be the id of an earlier node"
        case "span":
            return _bad_span(value)
        case _:
            return None
    if good and field.choices and value not in field.choices:
        return f"must be one of {', '.join(field.choices)}, not {value!r}."
    return None if good else f"{wanted}."


def _bad_span(value: Any) -> str | None:
    try:
        durations.seconds(value)
    except ValueError as error:
        return f"is not understood: {error}."
    return None


def _condition(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _chosen(value: Any, choices: tuple[str, ...], default: Any) -> Any:
    return value if value in choices else default


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


assert set(TYPES) == set(get_args(NodeType))
