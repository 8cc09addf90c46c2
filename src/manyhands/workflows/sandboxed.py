"""The sandbox of templates: Jinja2, strict about what is missing. `templates.py` is the way to it.

Owns how values are put into texts, arguments and scripts, how conditions are worked out, and what a template
refers to. It knows nothing of runs: whoever renders brings the names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from manyhands.workflows import shell
from manyhands.workflows.names import COMMENT, LARGEST, MARKS, Names, Reference, TemplateFault, Text


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, with names before methods: an input may be called `items`."""

    intercepted_binops = frozenset({"*", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Mapping):
            if attribute in obj:
                return obj[attribute]
            if not attribute.startswith("_") and isinstance(obj, Names):
                return self.undefined(f"There is no {obj.what} {attribute!r}.{obj.known()}")
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, Names) and argument not in obj:
            return self.undefined(f"There is no {obj.what} {argument!r}.{obj.known()}")
        return super().getitem(obj, argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and (abs(right) > 64 or abs(left) > 10**9):
            raise SecurityError("that power is too large")
        if operator == "*":
            sizes = [len(one) for one in (left, right) if isinstance(one, str | list | tuple | bytes)]
            times = [one for one in (left, right) if isinstance(one, int)]
            if sizes and times and sizes[0] * times[0] > LARGEST:
                raise SecurityError(f"that would be longer than {LARGEST:,}")
        return super().call_binop(context, operator, left, right)


class _Strict(StrictUndefined):
    """Says what is missing in our words."""


def _finish(value: Any) -> Any:
    """Texts as they are, everything else as JSON; what is missing stays an error."""
    return value if isinstance(value, str | Undefined) else shell.as_text(value)


def _fuel_range() -> Callable[..., range]:
    left = [LARGEST]

    def bounded(*arguments: int) -> range:
        made = range(*arguments)
        left[0] -= len(made)
        if left[0] < 0:
            raise SecurityError(f"more than {LARGEST:,} steps in one template")
        return made

    return bounded


def _json_filter(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def _from_json(value: str) -> Any:
    return Text(value).json


def _environment(finalize: Callable[[Any], Any] | None) -> _Environment:
    made = _Environment(
        undefined=_Strict,
        finalize=finalize,
        comment_start_string=COMMENT[0],
        comment_end_string=COMMENT[1],
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.globals.pop("cycler", None)
    made.globals.pop("lipsum", None)
    made.globals.pop("joiner", None)
    made.filters |= {"json": _json_filter, "tojson": _json_filter, "from_json": _from_json}
    return made


@cache
def _texts() -> _Environment:
    return _environment(_finish)


@cache
def _plain() -> _Environment:
    return _environment(None)


# --- rendering


def is_template(value: str) -> bool:
    return any(mark in value for mark in MARKS)


def render(value: Any, values: Mapping[str, Any]) -> Any:
    """A value of a definition with everything in it rendered. One `{{ … }}` alone keeps its type."""
    if isinstance(value, Mapping):
        return {key: render(part, values) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [render(part, values) for part in value]
    if not isinstance(value, str) or not is_template(value):
        return value
    if (inner := one_expression(value)) is not None:
        return evaluate(inner, values)
    return render_text(value, values)


def render_text(source: str, values: Mapping[str, Any]) -> str:
    """A text with its values in it."""
    if not is_template(source):
        return source
    with _faults():
        text = _texts().from_string(source).render({**values, "range": _fuel_range()})
    if len(text) > LARGEST:
        raise TemplateFault(f"The text would have {len(text):,} characters; at most {LARGEST:,} are allowed.")
    return text


def render_script(source: str, values: Mapping[str, Any]) -> str:
    """A shell script; every value in it is one word, whatever it holds."""
    if not is_template(source):
        return source
    found: list[Any] = []

    def keep(value: Any) -> str:
        if isinstance(value, Undefined):
            str(value)  # raises
        found.append(plain(value))
        return shell.mark(len(found) - 1)

    with _faults():
        text = _environment(keep).from_string(source).render({**values, "range": _fuel_range()})
    try:
        return shell.fill(text, found)
    except ValueError as error:
        raise TemplateFault(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def evaluate(expression: str, values: Mapping[str, Any]) -> Any:
    """What an expression comes to, with its type."""
    with _faults():
        found = _compiled(expression)(**{**values, "range": _fuel_range()})
        if isinstance(found, Undefined):
            str(found)  # raises, with what is missing
        return plain(found)


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition is true. A text that only says true or false is a mistake, not an answer."""
    found = evaluate(bare(condition), values)
    if isinstance(found, str) and found.strip().lower() in ("true", "false"):
        raise TemplateFault(
            f"The condition {condition!r} gives the text {found.strip()!r}, which is not a truth value; "
            "compare it (… == 'true') or read it with .json."
        )
    return bool(found)


def plain(value: Any) -> Any:
    """The same without our own classes: as it is stored."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | range | set | frozenset | Iterator):
        return [plain(part) for part in value]
    if isinstance(value, bool | int | float) or value is None:
        return value
    raise TemplateFault(f"A {type(value).__name__} is no value that a workflow can hold.")


# --- reading templates


@lru_cache(2048)
def one_expression(source: str) -> str | None:
    """What stands between the braces when a value is one `{{ … }}` and nothing else."""
    stripped = source.strip()
    if not (stripped.startswith("{{") and stripped.endswith("}}")):
        return None
    try:
        body = _plain().parse(stripped).body
    except TemplateSyntaxError:
        return None
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        return None
    if isinstance(body[0].nodes[0], nodes.TemplateData):
        return None
    return stripped[2:-2].strip().removeprefix("-").removesuffix("-").strip()


def bare(condition: str) -> str:
    """An expression without the braces round it, which are tolerated."""
    inner = one_expression(condition)
    return condition.strip() if inner is None else inner


@lru_cache(2048)
def _compiled(expression: str) -> Callable[..., Any]:
    return _plain().compile_expression(expression, undefined_to_none=False)


@lru_cache(4096)
def references(source: str, *, expression: bool = False) -> Sequence[Reference]:
    """What a template refers to. Raises `TemplateFault` when it cannot be read."""
    if not expression and not is_template(source):
        return ()
    text = "{{ (" + bare(source) + "\n) }}" if expression else source
    try:
        if expression:
            _compiled(bare(source))
        tree = _plain().parse(text)
        _plain().compile(tree)
    except TemplateSyntaxError as error:
        raise TemplateFault(_unreadable(error), error.lineno) from None
    except TemplateError as error:
        raise TemplateFault(f"The template cannot be read: {error}.") from None
    _refuse_forbidden(tree)
    return tuple(_references(tree, _local_names(tree)))


def _refuse_forbidden(tree: nodes.Template) -> None:
    """What can be seen to leave the sandbox without rendering it."""
    for found in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise TemplateFault("A template cannot bring in another one.", found.lineno)
    for access in tree.find_all(nodes.Getattr):
        if access.attr.startswith("__"):
            raise TemplateFault(f"The sandbox of templates forbids {access.attr!r}.", access.lineno)


def _local_names(tree: nodes.Template) -> frozenset[str]:
    return frozenset(name.name for name in tree.find_all(nodes.Name) if name.ctx != "load") | frozenset(
        macro.name for macro in tree.find_all(nodes.Macro)
    )


def _references(tree: nodes.Node, local: frozenset[str]) -> Iterator[Reference]:
    inner: set[int] = set()
    for found in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Name)):
        if id(found) in inner:
            continue
        parts: list[str] = []
        at: nodes.Node = found
        while isinstance(at, nodes.Getattr | nodes.Getitem):
            name = _part(at)
            parts = [name, *parts] if name is not None else []
            inner.add(id(at.node))
            at = at.node
        if isinstance(at, nodes.Name) and at.ctx == "load" and at.name not in local:
            yield Reference((at.name, *parts), found.lineno)


def _part(node: nodes.Getattr | nodes.Getitem) -> str | None:
    if isinstance(node, nodes.Getattr):
        return node.attr
    if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        return node.arg.value
    return None


@cache
def builtins() -> frozenset[str]:
    """Names that every template has."""
    return frozenset(_plain().globals) | {
        "range",
        "loop",
        "caller",
        "varargs",
        "kwargs",
        "true",
        "false",
        "none",
    }


_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def script_places(source: str) -> Sequence[tuple[shell.Place, int]]:
    """Where the expressions of a script stand, with their lines, before anything is rendered."""
    numbers = iter(range(len(source)))
    marked = _EXPRESSION.sub(
        lambda found: shell.mark(next(numbers)) + "\n" * found[0].count("\n"), _without_statements(source)
    )
    return [(place, line) for _, place, line in shell.places(marked)]


def _without_statements(source: str) -> str:
    return re.sub(
        r"\{%.*?%\}|\{##.*?##\}", lambda found: "\n" * found[0].count("\n"), source, flags=re.DOTALL
    )


def _unreadable(error: TemplateSyntaxError) -> str:
    return f"The template cannot be read: {(error.message or 'unknown').rstrip('.')}."


class _faults:  # noqa: N801 - used as a statement
    """Whatever goes wrong in a template becomes one kind of error."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, TemplateFault):
            return
        if isinstance(error, SecurityError):
            said = str(error).rstrip(".")
            raise TemplateFault(f"The template tries what its sandbox forbids: {said}.") from None
        if isinstance(error, TemplateSyntaxError):
            raise TemplateFault(_unreadable(error), error.lineno) from None
        if isinstance(error, TemplateError):
            raise TemplateFault(f"The template cannot be rendered: {str(error).rstrip('.')}.") from None
        if isinstance(error, Exception):
            what = f"{type(error).__name__}: {error}".rstrip(".")
            raise TemplateFault(f"The template cannot be rendered: {what}.") from None
