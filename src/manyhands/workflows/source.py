"""Definitions as text: YAML or JSON with the place of everything in it, and comments that outlive a change.

It knows no workflow: what the data mean is not its business.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manyhands.workflows.types import Problem

if TYPE_CHECKING:  # it takes a while to import
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.nodes import MappingNode, ScalarNode

LARGEST_TEXT = 4_000_000
DEEPEST = 60
MOST_VALUES = 300_000
"""A text of a few lines can stand for billions of values, by aliases of aliases."""
_TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class Located:
    """Plain data, and the line and column of each path in it."""

    data: Any = None
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    count: int = 0

    def problem(self, message: str, path: str = "", severity: str = "error", below: int = 0) -> Problem:
        """A problem at a path, or at the nearest thing above it. `below`: lines under that place."""
        near = path
        while near and near not in self.places:
            near = near[: max(near.rfind("."), near.rfind("["), 0)]
        line, column = self.places.get(near, (None, None))
        if line is not None and below:
            line, column = line + below, None
        return Problem(message, path, line, column, "warning" if severity == "warning" else "error")


def read_text(text: str) -> Located:
    """YAML, or JSON, which is YAML too."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    found = Located()
    if len(text) > LARGEST_TEXT:
        found.problems.append(
            Problem(f"The text has {len(text):,} characters; at most {LARGEST_TEXT:,} work.")
        )
        return found
    try:
        tree = YAML(typ="safe").compose(text)
    except MarkedYAMLError as error:
        found.problems.append(_unreadable(error))
        return found
    except (YAMLError, ValueError, RecursionError) as error:
        found.problems.append(Problem(f"This is neither YAML nor JSON: {error}"))
        return found
    if tree is None:
        found.problems.append(Problem("There is nothing in it."))
        return found
    found.data = _value(tree, "", found, 0)
    return found


def _unreadable(error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    said = " ".join(str(part) for part in (error.context, error.problem) if part)
    hint = ""
    if "flow" in said or "mapping" in said:
        hint = " A value that begins with {{ needs quotes round it."
    return Problem(
        f"This is neither YAML nor JSON: {said}.{hint}",
        line=mark.line + 1 if mark else None,
        column=mark.column + 1 if mark else None,
    )


def _value(node: Any, path: str, found: Located, depth: int) -> Any:
    found.places.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
    found.count += 1
    if depth > DEEPEST or found.count > MOST_VALUES:
        if depth > DEEPEST or found.count == MOST_VALUES + 1:
            said = (
                "It is nested too deeply." if depth > DEEPEST else f"It has more than {MOST_VALUES:,} values."
            )
            found.problems.append(found.problem(said, path[:200]))
        return None
    if node.id == "mapping":
        return _mapping(node, path, found, depth)
    if node.id == "sequence":
        return [_value(part, f"{path}[{n}]", found, depth + 1) for n, part in enumerate(node.value)]
    return _scalar(node, path, found)


def _mapping(node: MappingNode, path: str, found: Located, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = key_node.value if key_node.id == "scalar" else None
        if key is None:
            at = found.problem(
                "A key must be a text. A value that begins with {{ needs quotes round it.", path
            )
            found.problems.append(at)
            continue
        below = f"{path}.{key}" if path else str(key)
        found.places[below] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if key in made:
            found.problems.append(found.problem(f"{key!r} is there twice.", below))
        made[str(key)] = _value(value_node, below, found, depth + 1)
    return made


def _scalar(node: ScalarNode, path: str, found: Located) -> Any:
    text, tag = node.value, str(node.tag).removeprefix(_TAG)
    try:
        match tag:
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text.replace("_", ""), 0) if not text.lstrip("+-").isdigit() else int(text)
            case "float":
                return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
            case "str" | "timestamp" | "value":
                return str(text)
    except ValueError:
        return str(text)
    found.problems.append(found.problem(f"The tag {node.tag} is not known here.", path))
    return None


# --- writing


def write_yaml(data: Mapping[str, Any]) -> str:
    """Data as YAML that people like to read: scripts and prompts as blocks."""
    out = io.StringIO()
    _writer().dump(_pretty(data), out)
    return out.getvalue()


def merge_yaml(before: str, data: Mapping[str, Any]) -> str:
    """The text changed so that it says `data`; comments and order of what stays are kept."""
    if before.lstrip().startswith("{"):
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import YAMLError

    yaml = _writer()
    try:
        old = yaml.load(before)
    except YAMLError:
        return write_yaml(data)
    if not isinstance(old, CommentedMap):
        return write_yaml(data)
    _merge_map(old, data)
    out = io.StringIO()
    yaml.dump(old, out)
    return out.getvalue()


def _writer() -> YAML:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _pretty(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _pretty(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_pretty(part) for part in value]
    if isinstance(value, str) and "\n" in value:
        from ruamel.yaml.scalarstring import LiteralScalarString

        return LiteralScalarString(value)
    return value


def _merge_map(old: CommentedMap, new: Mapping[str, Any]) -> None:
    for key in [key for key in old if key not in new]:
        del old[key]
    for key, value in new.items():
        old[key] = _merged(old[key], value) if key in old else _pretty(value)


def _merged(old: Any, new: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(old, CommentedMap) and isinstance(new, Mapping):
        _merge_map(old, new)
        return old
    if isinstance(old, CommentedSeq) and isinstance(new, list | tuple):
        return _merge_list(old, new)
    return old if old == new and type(old) is not bool else _pretty(new)


def _merge_list(old: CommentedSeq, new: list[Any] | tuple[Any, ...]) -> Any:
    """Things with an id stay with their comments wherever they move; the rest goes by its place."""
    by_id = {part["id"]: part for part in old if isinstance(part, Mapping) and "id" in part}
    made = []
    for number, value in enumerate(new):
        before = by_id.get(value.get("id")) if isinstance(value, Mapping) and by_id else None
        if before is None and not by_id and number < len(old):
            before = old[number]
        made.append(_pretty(value) if before is None else _merged(before, value))
    if len(made) == len(old) and all(one is two for one, two in zip(made, old, strict=True)):
        return old
    comments = (
        dict(old.ca.items) if [_id(one) for one in old[: len(made)]] == [_id(one) for one in made] else {}
    )
    old[:] = made
    old.ca.items.update({key: value for key, value in comments.items() if key < len(made)})
    return old


def _id(value: Any) -> Any:
    return value.get("id") if isinstance(value, Mapping) else value
