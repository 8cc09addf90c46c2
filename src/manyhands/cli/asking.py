"""Puts an approval to the person at the terminal and sends the answer; for `approvals` and `tools call`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from manyhands.cli.client import Api, Json, segment
from manyhands.cli.terminal import many_lines, one_line, paint_error
from manyhands.errors import ConflictError, InvalidError

SCOPES = {"y": "once", "s": "session", "t": "tool", "v": "server"}
SHOWN_APART = {
    *("arguments", "arguments_text", "arguments_size", "arguments_cut", "schema", "message", "problem"),
    *("url", "mode", "elicitation_id", "diff", "servers"),
}
IN_ITS_LINE = {"name", "transport", "command", "args", "url", "change"}
FOR_MACHINES = {"scopes", "rule_id", "annotations", "full_name", "says_destructive"}
KNOWN_ANYWAY: tuple[Any, ...] = (None, "", [], {}, "owner", "native")
CALLED = {"reason": "asks because", "author_id": "for", "directory": "works in", "project": "server of"}


def answer_here(api: Api, approval: Json) -> Json | None:
    """Show it, ask until the answer can be used, send it; nothing when somebody else was faster."""
    show_card(approval)
    while True:
        try:
            return send_answer(api, approval["id"], _ask(approval))
        except ConflictError as error:
            _tell(paint_error(str(error), "dim"))
            return None
        except InvalidError as error:
            _tell(paint_error(_indented(error.message), "red"))


def send_answer(api: Api, approval_id: str, answer: Json) -> Json:
    """Say yes or no."""
    sent: Json = api.request("POST", f"/approvals/{segment(approval_id)}", answer)
    return sent


def show_card(approval: Json) -> None:
    """Everything a person needs to decide, exact arguments included."""
    _tell("\n" + "\n".join(card_lines(approval)))


def card_lines(approval: Json) -> list[str]:
    """The card, line by line."""
    detail = approval.get("detail") or {}
    lines = [f"{paint_error('?', 'yellow')} {paint_error(one_line(approval['title']), 'bold')}"]
    if problem := detail.get("problem"):
        lines.append(paint_error(_indented(str(problem)), "red"))
    message = str(detail.get("message") or "")
    if message and one_line(message) not in approval["title"]:
        lines.append(_indented(message))
    if "arguments_text" in detail:
        lines.append(_indented(str(detail["arguments_text"])))
    if detail.get("says_destructive"):
        lines.append(paint_error("  it says of itself that it is destructive", "yellow"))
    lines += [f"  {paint_error(key, 'dim')}  {text}" for key, text in _facts(approval["title"], detail)]
    lines += [f"  {line}" for server in detail.get("servers") or () for line in _server(server)]
    return lines + [_painted(line) for line in many_lines(str(detail.get("diff") or "")).splitlines()]


def _server(server: Mapping[str, Any]) -> Iterator[str]:
    """What would be started or called, and all that it would be told."""
    what = server.get("url") or shlex.join([server.get("command") or "", *(server.get("args") or ())])
    change = f" ({server['change']})" if server.get("change") else ""
    name = paint_error(one_line(str(server.get("name"))), "bold")
    yield f"{name}  {one_line(what)}{paint_error(change, 'dim')}"
    for key, value in server.items():
        if key not in IN_ITS_LINE and value:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"  {paint_error(key, 'dim')}  {one_line(text)}"


def _painted(line: str) -> str:
    """A line of a difference, by the sign that it begins with."""
    styles = {"+": ("green",), "-": ("red",), "@": ("dim",)}.get(line[:1], ())
    return "  " + (paint_error(line, *styles) if styles else line)


def _facts(title: str, detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What else there is to know, each with what it is called."""
    for key, value in detail.items():
        in_title = key in ("tool", "server") and str(value) in title
        if key in SHOWN_APART | FOR_MACHINES or value in KNOWN_ANYWAY or in_title:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield CALLED.get(key, key), one_line(text)


def _ask(approval: Json) -> Json:
    detail = approval.get("detail") or {}
    if approval["kind"] == "elicitation" and detail.get("url"):
        return _ask_url(str(detail["url"]))
    if approval["kind"] == "elicitation":
        return _ask_form(detail.get("schema") or {})
    if approval["kind"] == "tool" and "arguments" in detail:
        return _ask_permission()
    return _decision(click.confirm("  Allow it?", err=True))


def _decision(approve: bool, **more: Any) -> Json:
    return {"decision": "approve" if approve else "reject", **more}


def _ask_permission() -> Json:
    question = "  Allow? [y]es, this [s]ession, always the [t]ool, always the ser[v]er, [n]o"
    choice = click.prompt(question, type=click.Choice([*SCOPES, "n"]), show_choices=False, err=True)
    if choice != "n":
        return _decision(True, scope=SCOPES[choice])
    reason = click.prompt("  Why not? (the model reads it)", default="", show_default=False, err=True)
    return _decision(False, scope="once", **({"reason": reason.strip()} if reason.strip() else {}))


def _ask_url(url: str) -> Json:
    _tell(f"  {paint_error(one_line(url), 'cyan')}")
    question = "  [o]pen it here, [e] it is open elsewhere, [n]o"
    choice = click.prompt(question, type=click.Choice(["o", "e", "n"]), show_choices=False, err=True)
    if choice == "o":
        click.launch(url)
    return _decision(choice != "n")


def _ask_form(schema: Mapping[str, Any]) -> Json:
    """Field by field; an empty answer leaves an optional field out."""
    properties = schema.get("properties") or {}
    if not click.confirm("  Answer it?" if properties else "  Accept?", default=True, err=True):
        return _decision(False)
    required = set(schema.get("required") or ())
    response = {}
    for name, field in properties.items():
        value = _ask_field(name, field, required=name in required)
        if value is not None:
            response[name] = value
    return _decision(True, response=response)


def _ask_field(name: str, field: Mapping[str, Any], *, required: bool) -> Any:
    label = one_line(str(field.get("title") or name)) + (
        "" if required else paint_error(" (optional)", "dim")
    )
    if field.get("description"):
        _tell(paint_error(f"  {one_line(str(field['description']))}", "dim"))
    if options := field_options(field):
        _tell(
            "  "
            + "\n  ".join(
                f"{value}  {paint_error(title, 'dim')}" if title != value else value
                for value, title in options.items()
            )
        )
    while True:
        shown = field.get("default")
        default = json.dumps(shown) if isinstance(shown, bool | list) else shown
        text = click.prompt(
            f"  {label}",
            default="" if default is None else default,
            show_default=default is not None,
            err=True,
        )
        try:
            return parse_field(str(text), field, required=required)
        except ValueError as error:
            _tell(paint_error(f"  {error}", "red"))


def field_options(field: Mapping[str, Any]) -> dict[str, str]:
    """The values of a choice with their titles."""
    source = field.get("items") if field.get("type") == "array" else field
    if not isinstance(source, Mapping):
        return {}
    named = source.get("oneOf") or source.get("anyOf")
    if named:
        return {
            str(option["const"]): str(option.get("title") or option["const"])
            for option in named
            if "const" in option
        }
    values = [str(value) for value in source.get("enum") or ()]
    titles = [str(title) for title in source.get("enumNames") or values]
    return dict(zip(values, titles, strict=False))


def parse_field(text: str, field: Mapping[str, Any], *, required: bool) -> Any:
    """The value that the text stands for; ValueError says what is wrong with it."""
    text, options = text.strip(), field_options(field)
    if not text:
        if required:
            raise ValueError("This one is needed.")
        return None
    if field.get("type") == "array":
        return [
            _one_of(part.strip(), options)
            for part in text.strip("[]").replace('"', "").split(",")
            if part.strip()
        ]
    if options:
        return _one_of(text, options)
    match field.get("type"):
        case "boolean":
            return _boolean(text)
        case "integer":
            return _number(text, int, "a whole number")
        case "number":
            return _number(text, float, "a number")
        case _:
            return text


def _one_of(text: str, options: Mapping[str, str]) -> str:
    if options and text not in options:
        raise ValueError(f"One of: {', '.join(options)}.")
    return text


def _boolean(text: str) -> bool:
    if text.lower() in ("y", "yes", "true", "1", "on"):
        return True
    if text.lower() in ("n", "no", "false", "0", "off"):
        return False
    raise ValueError("yes or no.")


def _number(text: str, kind: type[int | float], name: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"This must be {name}.") from None


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in many_lines(text).splitlines())


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
