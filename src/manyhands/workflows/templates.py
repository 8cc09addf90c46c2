"""Templates: texts, arguments, scripts and conditions with values put in. Pure.

The engine behind it takes a while to import, so it is imported with the first template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from manyhands.workflows.names import LARGEST, MARKS, NAMES, Names, Reference, TemplateFault, Text
from manyhands.workflows.shell import Place

__all__ = ["LARGEST", "NAMES", "Names", "Reference", "TemplateFault", "Text"]


@cache
def _engine() -> ModuleType:
    from manyhands.workflows import sandboxed

    return sandboxed


def is_template(value: str) -> bool:
    """Whether there is anything to render in it."""
    return any(mark in value for mark in MARKS)


def render(value: Any, values: Mapping[str, Any]) -> Any:
    """A value of a definition with everything in it rendered. One `{{ … }}` alone keeps its type."""
    return _engine().render(value, values)


def render_text(source: str, values: Mapping[str, Any]) -> str:
    """A text with its values in it."""
    return str(_engine().render_text(source, values)) if is_template(source) else source


def render_script(source: str, values: Mapping[str, Any]) -> str:
    """A shell script; every value in it is one word, whatever it holds."""
    return str(_engine().render_script(source, values)) if is_template(source) else source


def evaluate(expression: str, values: Mapping[str, Any]) -> Any:
    """What an expression comes to, with its type."""
    return _engine().evaluate(expression, values)


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition is true. A text that only says true or false is a mistake, not an answer."""
    return bool(_engine().holds(condition, values))


def plain(value: Any) -> Any:
    """The same without our own classes: as it is stored."""
    return _engine().plain(value)


def references(source: str, *, expression: bool = False) -> Sequence[Reference]:
    """What a template refers to. Raises `TemplateFault` when it cannot be read."""
    if not expression and not is_template(source):
        return ()
    found: Sequence[Reference] = _engine().references(source, expression=expression)
    return found


def builtins() -> frozenset[str]:
    """Names that every template has."""
    found: frozenset[str] = _engine().builtins()
    return found


def script_places(source: str) -> Sequence[tuple[Place, int]]:
    """Where the expressions of a script stand, with their lines, before anything is rendered."""
    found: Sequence[tuple[Place, int]] = _engine().script_places(source)
    return found
